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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../node/address.h"
#include "../node/client.h"
#include "cleanup.h"
#include "config.h"
#include "error.h"
#include "filter.h"
#include "limits.h"
#include "namespace.h"
#include "policy.h"
#include "privilege.h"
#include "state.h"
#include "wish.h"

#define ID_PREFIX	"oci:"
#define IFNAME		"all"	/* the hook knows of no interfaces */
#define ADDRESSES_MAX	64

static const char usage[] =
	"usage: vqp-hook createRuntime|prestart|poststop <STATE\n"
	"\n"
	"An OCI hook. createRuntime makes the VQP namespace of the container's network\n"
	"namespace if it has none, and so does prestart, for runtimes that know no other;\n"
	"poststop deletes it. STATE is the container's state in JSON, as OCI runtimes write\n"
	"it. " VQP_CONFIG_FILE " says what it gets, and which of these annotations count:\n"
	"  " VQP_WISH_TENANT "     the tenant, 1 to 4294967295\n"
	"  " VQP_WISH_ADDRESS "    the address; otherwise one of the container's own\n"
	"  " VQP_WISH_PREFIX "max_vqps, " VQP_WISH_PREFIX "max_mrs, " VQP_WISH_PREFIX "max_bytes   lower limits\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

/* 1 or 0, or a negative errno value. */
static int shares_host_network(const char *netns, char **error)
{
	struct stat own, other;

	if (stat("/proc/self/ns/net", &own) || stat(netns, &other))
		return vqp_error_fail(error, errno, "cannot look at the container's network namespace %s: %s",
				      netns, strerror(errno));
	return own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

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

static int request_add(const char *id, const char *netns, const struct vqp_terms *terms, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s, s:s, s:I, s:s, s:o}", "op", "add", "id", ID_PREFIX, id,
			  "ifname", IFNAME, "netns", netns, "tenant", (json_int_t)terms->tenant,
			  "address", terms->address, "limits", vqp_limits_json(&terms->limits));

	return vqpd_call(NULL, request, &reply, error);
}

/* What the operator lets this container have, which is where this thread is. */
static int decide(const struct vqp_wish *wish, struct vqp_terms *terms, char **error)
{
	uint8_t gids[ADDRESSES_MAX][VQP_GID_BYTES];
	struct vqp_policy policy = { 0 };
	cleanup_free char *text = NULL;
	size_t bytes, count;
	int ret = vqp_config_read(VQP_CONFIG_FILE, &text, &bytes, error);

	if (ret)
		return ret;
	ret = vqp_policy_parse(&policy, text, bytes, error);
	if (ret) {
		cleanup_free char *reason = *error;

		vqp_policy_clear(&policy);
		return vqp_error_fail(error, -ret, VQP_CONFIG_FILE ": %s", reason ? reason : strerror(-ret));
	}
	ret = vqp_namespace_gids(gids, ADDRESSES_MAX, &count, error);
	if (!ret)
		ret = vqp_policy_decide(&policy, wish, gids, count, terms, error);
	vqp_policy_clear(&policy);
	return ret;
}

/* A container without an address gets no VQP namespace, unless its annotations ask for one. */
static int add(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, char **error)
{
	struct vqp_terms terms = { 0 };
	int ret = decide(wish, &terms, error);

	if (ret == -EADDRNOTAVAIL && !wish->tenant) {
		fprintf(stderr, "vqp-hook: %s, so container %s gets no VQP namespace\n",
			*error ? *error : "no address", state->id);
		return 0;
	}
	return ret ? ret : request_add(state->id, netns, &terms, error);
}

/* See to it that the network namespace has the VQP namespace that is wished for. */
static int ensure(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, char **error)
{
	struct vqp_namespace found;
	int ret = vqp_namespace_enter(netns, error);

	if (!ret)
		ret = vqp_privilege_keep(VQP_PHASE_ASK, error);
	if (ret)
		return ret;
	ret = vqp_namespace_query(&found, error);
	if (!ret)
		return compare(wish, &found, error);
	if (ret != -ENONET)
		return ret;
	free(*error);
	*error = NULL;
	return add(state, wish, netns, error);
}

static int create(const struct vqp_state *state, char **error)
{
	struct vqp_wish wish;
	char netns[32];
	int ret = vqp_wish_parse(&wish, state->annotations, error);

	if (ret)
		return ret;
	if (!state->pid)
		return vqp_error_fail(error, EINVAL, "the container's state has no \"pid\"");
	snprintf(netns, sizeof(netns), "/proc/%d/ns/net", state->pid);
	ret = shares_host_network(netns, error);
	if (ret < 0)
		return ret;
	if (!ret)
		return ensure(state, &wish, netns, error);
	if (wish.tenant || *wish.address)
		return vqp_error_fail(error, EINVAL,
				      "the container uses the host's network, so it can have no VQP namespace");
	return 0;
}

static int delete(const struct vqp_state *state, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s}", "op", "del", "id", ID_PREFIX, state->id,
			  "ifname", IFNAME);

	return vqpd_call(NULL, request, &reply, error);
}

int main(int argc, char **argv)
{
	int (*stage)(const struct vqp_state *state, char **error);
	enum vqp_phase phase = VQP_PHASE_ENTER;
	cleanup_free char *error = NULL;
	struct vqp_state state = { 0 };
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 2 && (!strcmp(argv[1], "createRuntime") || !strcmp(argv[1], "prestart"))) {
		stage = create;
	} else if (argc == 2 && !strcmp(argv[1], "poststop")) {
		stage = delete;
		phase = VQP_PHASE_ASK;
	} else {
		fputs(usage, stderr);
		return 2;
	}

	ret = vqp_privilege_check(&error);
	if (!ret)
		ret = vqp_privilege_keep(phase, &error);
	if (!ret)
		ret = vqp_filter_install(&error);
	if (!ret)
		ret = vqp_state_read(&state, stdin, &error);
	if (!ret)
		ret = stage(&state, &error);
	if (ret)
		fprintf(stderr, "vqp-hook: %s: %s\n", argv[1], error ? error : strerror(-ret));
	vqp_state_clear(&state);
	return ret != 0;
}
