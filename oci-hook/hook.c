// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp-hook, an OCI hook: before the container's process starts it sees to it
 * that the container's network namespace has a VQP namespace, and after the
 * container's end that nothing of it is left.
 *
 * A network namespace that has a VQP namespace already (made by the CNI
 * plugin, or shared with another container of a pod) is left as it is, and
 * what another made is never deleted: vqpd knows the hook's by ids that start
 * with ID_PREFIX, which no id of a CNI attachment or of a container can.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../node/address.h"
#include "../node/client.h"
#include "../node/filter.h"
#include "../node/privilege.h"
#include "cleanup.h"
#include "config.h"
#include "error.h"
#include "limits.h"
#include "name.h"
#include "namespace.h"
#include "pin.h"
#include "policy.h"
#include "rootless.h"
#include "state.h"
#include "wish.h"

#define ID_PREFIX	"oci:"
#define IFNAME		"all"	/* the hook knows of no interfaces */
#define ADDRESSES_MAX	64

static const char usage[] =
	"usage: vqp-hook createRuntime|prestart [late] <STATE\n"
	"       vqp-hook poststop <STATE\n"
	"\n"
	"An OCI hook. createRuntime makes the VQP namespace of the container's network\n"
	"namespace if it has none, and so does prestart, for runtimes that know no other:\n"
	"with \"late\" not while it has no address, for vqp-runtime will ask again when the\n"
	"container is started; poststop deletes it. STATE is the container's state in JSON, as OCI runtimes write\n"
	"it. " VQP_CONFIG_FILE " says what it gets, and which of these annotations count:\n"
	"  " VQP_WISH_TENANT "     the tenant, 1 to 4294967295\n"
	"  " VQP_WISH_ADDRESS "    the address; otherwise one of the container's own\n"
	"  " VQP_WISH_NETWORK "    a CNI network list, to which vqp-network has attached it\n"
	"  " VQP_WISH_PREFIX "max_vqps, " VQP_WISH_PREFIX "max_mrs, " VQP_WISH_PREFIX "max_bytes,\n"
	"  " VQP_WISH_PREFIX "max_rate, " VQP_WISH_PREFIX "priority   lower limits\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

/* What is there must be what the annotations ask for, if they ask. */
static int compare(const struct vqp_wish *wish, const struct vqp_namespace *found, char **error)
{
	char address[VQP_ADDRESS_TEXT];

	vqp_address_format(found->gid, address);
	if ((wish->tenant && wish->tenant != found->tenant) ||
	    (*wish->address && strcmp(wish->address, address)))
		return vqp_error_fail(error, EEXIST,
				      "the container's network namespace already has the VQP namespace %s of tenant %u, not what its annotations ask for",
				      address, found->tenant);
	return 0;
}

/* Whether vqpd has refused or has not answered makes no difference here. */
static int failure(int ret)
{
	return ret > 0 ? -ret : ret;
}

static int request_add(const char *id, const char *netns, const struct vqp_terms *terms, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s, s:s, s:I, s:s, s:o}", "op", "add", "id", ID_PREFIX, id,
			  "ifname", IFNAME, "netns", netns, "tenant", (json_int_t)terms->tenant,
			  "address", terms->address, "limits", vqp_limits_json(&terms->limits));

	return failure(vqpd_call(NULL, request, &reply, error));
}

/*
 * What the operator lets this container have, which is where this thread is. 1: that is not known
 * yet, for its network, which may decide it, is late.
 */
static int decide(const struct vqp_wish *wish, bool late, struct vqp_terms *terms, char **error)
{
	uint8_t gids[ADDRESSES_MAX][VQP_GID_BYTES];
	struct vqp_policy policy = { 0 };
	size_t count;
	int ret = vqp_policy_read(&policy, error);

	if (!ret)
		ret = vqp_namespace_gids(gids, ADDRESSES_MAX, &count, error);
	if (!ret)
		ret = late && !count ? 1 : vqp_policy_decide(&policy, wish, gids, count, terms, error);
	vqp_policy_clear(&policy);
	return ret;
}

/* A container without an address gets no VQP namespace, unless its annotations ask for one. */
static int add(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, bool late, char **error)
{
	struct vqp_terms terms = { 0 };
	int ret = decide(wish, late, &terms, error);

	if (ret == -EADDRNOTAVAIL && !wish->tenant) {
		fprintf(stderr, "vqp-hook: %s, so container %s gets no VQP namespace\n",
			*error ? *error : "no address", state->id);
		return 0;
	}
	if (ret)
		return ret < 0 ? ret : 0;
	return request_add(state->id, netns, &terms, error);
}

static int give_up(int ret, char **error)
{
	return ret ? vqp_error_fail(error, -ret, "cannot give up privileges: %s", strerror(-ret)) : 0;
}

/* -ENONET: there is none. */
static int use_found(const struct vqp_wish *wish, char **error)
{
	struct vqp_namespace found;
	int ret = vqp_namespace_query(&found, wish->address, error);

	return ret ? ret : compare(wish, &found, error);
}

static void forget(char **error)
{
	free(*error);
	*error = NULL;
}

/* See to it that the network namespace has the VQP namespace that is wished for. */
static int ensure(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, bool late,
		  char **error)
{
	int ret = vqp_namespace_enter(netns, error);

	if (!ret)
		ret = give_up(vqp_privilege_keep(VQP_PHASE_HOOK_ASK), error);
	if (ret)
		return ret;
	ret = use_found(wish, error);
	if (ret != -ENONET)
		return ret;
	forget(error);
	ret = add(state, wish, netns, late, error);
	if (ret != -EEXIST)
		return ret;
	/* Another container of this network namespace, which started at the same time, was quicker. */
	forget(error);
	return use_found(wish, error);
}

/* vqp-network comes before this hook, where vqp-runtime has put both. */
static int check_attached(const struct vqp_state *state, const char *netns, char **error)
{
	struct vqp_pin pin;

	if (vqp_name_is_valid(state->id)) {
		vqp_pin_name(&pin, state->id);
		if (vqp_pin_holds(&pin, netns))
			return 0;
	}
	return vqp_error_fail(error, ENONET, "annotation " VQP_WISH_NETWORK ": nobody has attached the container: "
			      "start it by vqp-runtime, or have the hook vqp-network before this one");
}

static int create(const struct vqp_state *state, bool late, char **error)
{
	struct vqp_wish wish;
	char netns[32];
	int ret = vqp_wish_parse(&wish, state->annotations, error);

	if (ret)
		return ret;
	if (!state->pid)
		return vqp_error_fail(error, EINVAL, "the container's state has no \"pid\"");
	snprintf(netns, sizeof(netns), "/proc/%d/ns/net", state->pid);
	ret = vqp_namespace_is_host(netns, error);
	if (!ret && wish.network)
		ret = check_attached(state, netns, error);
	if (ret < 0)
		return ret;
	if (!ret)
		return ensure(state, &wish, netns, late, error);
	if (wish.tenant || *wish.address || wish.network)
		return vqp_error_fail(error, EINVAL,
				      "the container uses the host's network, so it can have no VQP namespace");
	return 0;
}

static int delete(const struct vqp_state *state, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s}", "op", "del", "id", ID_PREFIX, state->id,
			  "ifname", IFNAME);

	return failure(vqpd_call(NULL, request, &reply, error));
}

int main(int argc, char **argv)
{
	const bool late = argc == 3 && !strcmp(argv[2], "late");
	const bool deleting = argc == 2 && !strcmp(argv[1], "poststop");
	cleanup_free char *error = NULL;
	struct vqp_state state = { 0 };
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (!deleting && (argc != 2 + late || (strcmp(argv[1], "createRuntime") && strcmp(argv[1], "prestart")))) {
		fputs(usage, stderr);
		return 2;
	}

	ret = vqp_rootless_refuse(&error);
	if (!ret)
		ret = give_up(vqp_privilege_keep(deleting ? VQP_PHASE_HOOK_ASK : VQP_PHASE_HOOK_ENTER), &error);
	if (!ret)
		ret = give_up(vqp_filter_install(VQP_PROGRAM_HOOK), &error);
	if (!ret)
		ret = vqp_state_read(&state, stdin, &error);
	if (!ret)
		ret = deleting ? delete(&state, &error) : create(&state, late, &error);
	if (ret)
		fprintf(stderr, "vqp-hook: %s: %s\n", argv[1], error ? error : strerror(abs(ret)));
	vqp_state_clear(&state);
	return ret != 0;
}
