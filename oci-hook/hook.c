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
#include "error.h"
#include "namespace.h"
#include "state.h"

#define ID_PREFIX	"oci:"
#define IFNAME		"all"	/* the hook knows of no interfaces */
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

static int request_add(const char *id, const char *netns, uint32_t tenant, const char *address, char **error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s, s:s, s:I, s:s}", "op", "add", "id", ID_PREFIX, id,
			  "ifname", IFNAME, "netns", netns,
			  "tenant", (json_int_t)tenant, "address", address);

	return vqpd_call(NULL, request, &reply, error);
}

/*
 * The address to make the VQP namespace with: the annotated one, or the
 * container's first. A container without any gets no VQP namespace, unless
 * its annotations ask for one.
 */
static int choose_address(const struct vqp_wish *wish, char *address, char **error)
{
	uint8_t gid[VQP_GID_BYTES];
	int ret;

	if (*wish->address) {
		strcpy(address, wish->address);
		return 0;
	}
	ret = vqp_namespace_first_gid(gid, error);
	if (!ret)
		vqp_address_format(gid, address);
	return ret;
}

static int add(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, char **error)
{
	char address[VQP_ADDRESS_TEXT];
	int ret = choose_address(wish, address, error);

	if (ret == -EADDRNOTAVAIL && !wish->tenant) {
		fprintf(stderr, "vqp-hook: %s, so container %s gets no VQP namespace\n",
			*error ? *error : "no address", state->id);
		return 0;
	}
	if (ret)
		return ret;
	return request_add(state->id, netns, wish->tenant ? wish->tenant : DEFAULT_TENANT, address, error);
}

/* See to it that the network namespace has the VQP namespace that is wished for. */
static int ensure(const struct vqp_state *state, const struct vqp_wish *wish, const char *netns, char **error)
{
	struct vqp_namespace found;
	int ret = vqp_namespace_enter(netns, error);

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
	int ret = vqp_state_wish(state, &wish, error);

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
