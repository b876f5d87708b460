// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp-hook, an OCI hook: before the container's process starts it sees to it
 * that the container's network namespace has a VQP namespace, and after the
 * container's end that nothing of it is left.
 *
 * A network namespace that has a VQP namespace already (made by the CNI
 * plugin, or shared with another container of a pod) is left as it is, and
 * what another made is never deleted: vqpd knows the hook's by HOOK_IFNAME,
 * which cannot be the name of a CNI attachment's interface.
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
#include "error.h"
#include "namespace.h"
#include "state.h"

#define HOOK_IFNAME	":oci"
#define DEFAULT_TENANT	1

static const char usage[] =
	"usage: vqp-hook createRuntime|poststop <STATE\n"
	"\n"
	"An OCI hook. createRuntime makes the VQP namespace of the container's network\n"
	"namespace if it has none; poststop deletes it. STATE is the container's state in\n"
	"JSON, as OCI runtimes write it. Annotations that count:\n"
	"  " VQP_STATE_TENANT "   the tenant, 1 to 4294967295 (1 if not given)\n"
	"  " VQP_STATE_ADDRESS "  the address (the first address of the container if not given)\n"
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
static int compare(const struct vqp_state *state, const struct vqp_namespace *found, char **error)
{
	char address[VQP_ADDRESS_TEXT];

	vqp_address_format(found->gid, address);
	if ((state->tenant && state->tenant != found->tenant) ||
	    (*state->address && strcmp(state->address, address)))
		return vqp_error_fail(error, EEXIST,
				      "the container's network namespace already has the VQP namespace %s of tenant %u, not what its annotations ask for",
				      address, found->tenant);
	return 0;
}

static int request_add(const struct vqp_state *state, const char *netns, const char *address, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s, s:s, s:s, s:I, s:s}", "op", "add", "id", state->id,
			  "ifname", HOOK_IFNAME, "netns", netns,
			  "tenant", (json_int_t)(state->tenant ? state->tenant : DEFAULT_TENANT),
			  "address", address);

	return vqpd_call(NULL, request, &reply, error);
}

/*
 * The address to make the VQP namespace with: the annotated one, or the
 * container's first. A container without any gets no VQP namespace, unless
 * its annotations ask for one.
 */
static int choose_address(const struct vqp_state *state, char *address, char **error)
{
	uint8_t gid[VQP_GID_BYTES];
	int ret;

	if (*state->address) {
		strcpy(address, state->address);
		return 0;
	}
	ret = vqp_namespace_first_gid(gid, error);
	if (!ret)
		vqp_address_format(gid, address);
	return ret;
}

static int add(const struct vqp_state *state, const char *netns, char **error)
{
	char address[VQP_ADDRESS_TEXT];
	int ret = choose_address(state, address, error);

	if (ret == -EADDRNOTAVAIL && !state->tenant) {
		fprintf(stderr, "vqp-hook: %s, so container %s gets no VQP namespace\n",
			*error ? *error : "no address", state->id);
		return 0;
	}
	return ret ? ret : request_add(state, netns, address, error);
}

static int create(const struct vqp_state *state, char **error)
{
	cleanup_free char *none = NULL;
	struct vqp_namespace found;
	char netns[32];
	int ret;

	if (!state->pid)
		return vqp_error_fail(error, EINVAL, "the container's state has no \"pid\"");
	snprintf(netns, sizeof(netns), "/proc/%d/ns/net", state->pid);
	ret = shares_host_network(netns, error);
	if (ret > 0 && !state->tenant && !*state->address)
		return 0;
	if (ret > 0)
		return vqp_error_fail(error, EINVAL,
				      "the container uses the host's network, so it can have no VQP namespace");
	if (!ret)
		ret = vqp_namespace_enter(netns, error);
	if (ret)
		return ret;

	ret = vqp_namespace_query(&found, &none);
	if (ret == -ENONET)
		return add(state, netns, error);
	if (ret) {
		*error = none;
		none = NULL;
		return ret;
	}
	return compare(state, &found, error);
}

static int delete(const struct vqp_state *state, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s, s:s}", "op", "del", "id", state->id, "ifname", HOOK_IFNAME);

	return vqpd_call(NULL, request, &reply, error);
}

int main(int argc, char **argv)
{
	int (*stage)(const struct vqp_state *state, char **error);
	cleanup_free char *error = NULL;
	struct vqp_state state;
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "createRuntime")) {
		stage = create;
	} else if (argc == 2 && !strcmp(argv[1], "poststop")) {
		stage = delete;
	} else {
		fputs(usage, stderr);
		return 2;
	}

	ret = vqp_state_read(&state, stdin, &error);
	if (!ret)
		ret = stage(&state, &error);
	if (ret)
		fprintf(stderr, "vqp-hook: %s: %s\n", argv[1], error ? error : strerror(-ret));
	vqp_state_clear(&state);
	return ret != 0;
}
