// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp-network, an OCI hook. It attaches a container without a network to the CNI network list that
 * an annotation names and the node's policy permits, and detaches the container after its end.
 *
 * vqp-runtime adds this hook, before vqp-hook, only to containers with that annotation. It is a
 * program of its own because it runs plugins with privileges, and by a library, that other
 * containers should neither have nor wait for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cleanup.h"
#include "../common/client.h"
#include "../common/cni_name.h"
#include "../common/error.h"
#include "../common/privilege.h"
#include "../common/version.h"
#include "library.h"
#include "namespace.h"
#include "pin.h"
#include "rootless.h"
#include "state.h"
#include "wish.h"

#define IFNAME		"eth0"
#define LISTS_DIR	"/etc/cni/net.d"
#define PLUGIN_DIRS	"/opt/cni/bin:/usr/local/lib/cni:/usr/lib/cni:/usr/libexec/cni"
#define PLUGINS_S	60

static const char usage[] =
	"usage: vqp-network createRuntime|prestart|poststop <STATE\n"
	"       vqp-network --help|--version\n"
	"\n"
	"An OCI hook. createRuntime, or prestart for runtimes that know no other, attaches a\n"
	"container without a network to the CNI network list, in " LISTS_DIR ", that its\n"
	"annotation " VQP_WISH_NETWORK " names, if the node's policy, vqp-policy.json(5), permits\n"
	"it; poststop detaches it. STATE is the container's state in JSON, as OCI runtimes write it.\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

/* The arguments for the plugins. */
static struct vqpcni_attachment attachment(const struct vqp_wish *wish, const struct vqp_pin *pin)
{
	return (struct vqpcni_attachment){
		.list = wish->network,
		.container = pin->name,
		.netns = vqp_pin_is_namespace(pin) ? pin->path : NULL,
		.ifname = IFNAME,
		.conf_dir = LISTS_DIR,
		.bin_dirs = PLUGIN_DIRS,
		.timeout_s = PLUGINS_S,
	};
}

static int keep(enum vqp_phase phase, struct vqp_error *error)
{
	int ret = vqp_privilege_keep(phase);

	return ret ? vqp_error_set(error, ret, "cannot give up privileges: %s", strerror(-ret)) : 0;
}

static int call(const char *function, const struct vqp_wish *wish, const struct vqp_pin *pin, struct vqp_error *error)
{
	struct vqpcni_attachment given = attachment(wish, pin);
	int ret = keep(VQP_PHASE_NETWORK_PLUGINS, error);

	return ret ? ret : vqp_library_call(function, &given, error);
}

/* Asks vqpd whether the policy lets containers attach themselves to the list. */
static int check_permitted(const struct vqp_wish *wish, struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s, s:s}", "op", "policy", "network", wish->network), *reply = NULL;
	int ret = vqpd_call(NULL, request, -1, &reply, error);

	if (!ret && !json_is_true(json_object_get(reply, "by_annotation")))
		ret = vqp_error_set(error, -EPERM, "no rule of the policy for network %s has "
				    "\"by_annotation\": true, see vqp-policy.json(5)", wish->network);
	return ret ? vqp_error_add_context(error, "annotation " VQP_WISH_NETWORK) : 0;
}

/* Refuses the host's network namespace, and one that has a network already. */
static int check_unattached(int netns_fd, struct vqp_error *error)
{
	int ret = vqp_namespace_is_host(netns_fd, error);

	if (ret > 0)
		return vqp_error_set(error, -EINVAL, "the container uses the host's network, so annotation "
				     VQP_WISH_NETWORK " cannot give it another");
	if (!ret)
		ret = vqp_namespace_has_interface(netns_fd, IFNAME, error);
	if (ret > 0)
		return vqp_error_set(error, -EEXIST, "the container has a network, its " IFNAME ": annotation "
				     VQP_WISH_NETWORK " is for those that have none, as on Docker's network none");
	return ret;
}

static int attach(const struct vqp_state *state, const struct vqp_wish *wish, struct vqp_pin *pin, struct vqp_error *error)
{
	cleanup_close int netns_fd = vqp_namespace_open(state->pid, error);
	int ret;

	if (netns_fd < 0)
		return netns_fd;
	ret = check_permitted(wish, error);
	if (!ret)
		ret = check_unattached(netns_fd, error);
	if (ret)
		return ret;
	/*
	 * An old pin is of a container of this bundle whose end was not reported. The library has
	 * recorded the network that it was attached to.
	 */
	vqp_pin_remove(pin);
	ret = vqp_pin_make(pin, netns_fd, error);
	if (ret)
		return ret;
	ret = call("vqpcni_add", wish, pin, error);
	if (ret)
		vqp_pin_remove(pin);
	return ret;
}

/* Detaches a container, which an earlier version may have attached. Without a pin it is not attached. */
static int detach(const struct vqp_state *state, const struct vqp_wish *wish, struct vqp_pin *pin, struct vqp_error *error)
{
	int ret;

	if (!vqp_pin_exists(pin))
		vqp_pin_name(pin, state->id, "");
	if (!vqp_pin_exists(pin))
		return 0;
	ret = call("vqpcni_del", wish, pin, error);
	vqp_pin_remove(pin);
	return ret;
}

static int run(int (*stage)(const struct vqp_state *state, const struct vqp_wish *wish, struct vqp_pin *pin,
			    struct vqp_error *error), const struct vqp_state *state, struct vqp_error *error)
{
	cleanup_wish struct vqp_wish wish = { 0 };
	struct vqp_pin pin;
	int ret = vqp_wish_parse(&wish, state->annotations, error);

	if (ret || !wish.network)
		return ret;
	if (!vqp_cni_name_is_valid(state->id))
		return vqp_error_set(error, -EINVAL, "a container named \"%s\" can have no CNI network: "
				     "only letters, digits, \"_\", \".\" and \"-\" are for names there", state->id);
	vqp_pin_name(&pin, state->id, state->bundle);
	return stage(state, &wish, &pin, error);
}

int main(int argc, char **argv)
{
	int (*stage)(const struct vqp_state *state, const struct vqp_wish *wish, struct vqp_pin *pin, struct vqp_error *error);
	cleanup_error struct vqp_error error = { 0 };
	struct vqp_state state = { 0 };
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("vqp-network %s\n", vqp_version);
		return 0;
	}
	if (argc == 2 && (!strcmp(argv[1], "createRuntime") || !strcmp(argv[1], "prestart"))) {
		stage = attach;
	} else if (argc == 2 && !strcmp(argv[1], "poststop")) {
		stage = detach;
	} else {
		fputs(usage, stderr);
		return 2;
	}

	ret = vqp_rootless_refuse(&error);
	if (!ret)
		ret = keep(VQP_PHASE_NETWORK_PIN, &error);
	if (!ret)
		ret = vqp_state_read(&state, stdin, &error);
	if (!ret)
		ret = run(stage, &state, &error);
	if (ret)
		fprintf(stderr, "vqp-network: %s: %s\n", argv[1], vqp_error_text(&error));
	vqp_state_clear(&state);
	return ret != 0;
}
