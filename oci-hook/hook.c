// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp-hook, an OCI hook. Before the container's process starts, the hook makes the VQP namespace of
 * the container's network namespace, and after the container's end deletes it.
 *
 * If the network namespace has a VQP namespace already, because the CNI plugin made it or because
 * containers of a pod share it, the hook leaves that as it is. The hook never deletes a VQP
 * namespace that it has not made: vqpd has the hook's under ids that begin with ID_PREFIX, which no
 * id of a CNI attachment or of a container does, and of a network that is the container's bundle.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "../common/client.h"
#include "../common/cni_name.h"
#include "../common/direct.h"
#include "../common/error.h"
#include "../common/filter.h"
#include "../common/privilege.h"
#include "../common/version.h"
#include "attendant.h"
#include "namespace.h"
#include "pin.h"
#include "rootless.h"
#include "state.h"
#include "wish.h"

#define ID_PREFIX	"oci:"
#define IFNAME		"all"	/* The hook's VQP namespaces belong to no interface. */
#define NETWORK_PREFIX	"bundle:"	/* No CNI network's name has a colon. */
#define ADDRESSES_MAX	64

static const char usage[] =
	"usage: vqp-hook createRuntime|prestart [late|await] <STATE\n"
	"       vqp-hook startContainer <STATE\n"
	"       vqp-hook poststop <STATE\n"
	"       vqp-hook --help|--version\n"
	"\n"
	"An OCI hook. createRuntime makes the VQP namespace of the container's network\n"
	"namespace if it has none, and so does prestart, for runtimes that know no other:\n"
	"with \"late\" not while it has no address, for vqp-runtime will ask again when the\n"
	"container is started; with \"await\" startContainer will, which runs in the container and\n"
	"lets none start that has no VQP namespace; poststop deletes it.\n"
	"STATE is the container's state in JSON, as OCI runtimes write it. vqpd decides by the node's\n"
	"policy, vqp-policy.json(5), what it gets, and which of these annotations count:\n"
	"  " VQP_WISH_TENANT "     the tenant, 1 to 4294967295\n"
	"  " VQP_WISH_ADDRESS "    the address; otherwise one of the container's own\n"
	"  " VQP_WISH_NETWORK "    a CNI network list, to which vqp-network has attached it\n"
	"  " VQP_WISH_PREFIX "max_vqps, " VQP_WISH_PREFIX "max_mrs, " VQP_WISH_PREFIX "max_bytes,\n"
	"  " VQP_WISH_PREFIX "max_rate, " VQP_WISH_PREFIX "priority   lower limits\n"
	"  " VQP_WISH_PREFIX "sockets    may stream sockets go by vqp: on, off, or as only:80,except:10.1.0.0/16\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

/* What the hook does with a container that has no address yet. */
enum addressless {
	/*
	 * The container starts without a VQP namespace, unless annotations give it an address: the
	 * CNI plugin may make the VQP namespace with the network.
	 */
	STARTS,
	IS_LATE,	/* vqp-runtime runs the hook again when it starts the container. */
	AWAITS,		/* An attendant makes the VQP namespace that annotations ask for. */
	FAILS,		/* The container has asked for a VQP namespace, and starts now. */
};

#define NOT_YET		1	/* the result if the work is to be done at the container's start */

/* Checks that the VQP namespace that exists is what the annotations ask for. */
static int compare(const struct vqp_wish *wish, const struct vqp_namespace *found, struct vqp_error *error)
{
	char address[VQP_ADDRESS_TEXT];

	vqp_address_format(found->gid, address);
	if ((wish->terms.tenant && wish->terms.tenant != found->tenant) ||
	    (*wish->terms.address && strcmp(wish->terms.address, address)))
		return vqp_error_set(error, -EEXIST,
				     "the container's network namespace already has the VQP namespace %s of tenant %u, not what its annotations ask for",
				     address, found->tenant);
	return 0;
}

/* The errno value of a vqpd_call() that failed, whether vqpd has refused or not answered. */
static int failure(int ret)
{
	return ret > 0 ? -ret : ret;
}

/* The network in the name of a container's VQP namespace; NULL if the state names no bundle. */
struct network {
	char text[sizeof(NETWORK_PREFIX) + VQP_STATE_BUNDLE_BYTES];
};

static const char *name_network(const struct vqp_state *state, struct network *network)
{
	snprintf(network->text, sizeof(network->text), NETWORK_PREFIX "%s", state->bundle);
	return *state->bundle ? network->text : NULL;
}

/*
 * Asks vqpd, which decides by the node's policy. The network that the container has is named only if
 * vqp-network has attached it: no other can be told from here.
 */
static int request_add(const struct vqp_state *state, int netns_fd, const struct vqp_wish *wish,
		       const uint8_t (*gids)[VQP_GID_BYTES], size_t count, struct vqp_error *error)
{
	struct network network;
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s, s:s*, s:{s:s*, s:o}, s:o}", "op", "add", "id", ID_PREFIX, state->id, "ifname", IFNAME,
			  "network", name_network(state, &network),
			  "has", "network", wish->network, "addresses", vqp_namespace_say_gids(gids, count),
			  "wish", vqp_terms_say(&wish->terms));

	return failure(vqpd_call(NULL, request, netns_fd, &reply, error));
}

/*
 * Makes a VQP namespace for the container whose network namespace this thread is in. A container
 * without an address gets none, unless it asks for one; NOT_YET if it may still get an address.
 */
static int add(const struct vqp_state *state, const struct vqp_wish *wish, int netns_fd,
	       enum addressless addressless, struct vqp_error *error)
{
	const bool may_wait = addressless == IS_LATE || addressless == AWAITS;
	uint8_t gids[ADDRESSES_MAX][VQP_GID_BYTES];
	size_t count;
	int ret = vqp_namespace_gids(gids, ADDRESSES_MAX, &count, error);

	if (ret)
		return ret;
	if (!count && may_wait)
		return NOT_YET;
	if (count || *wish->terms.address)
		return request_add(state, netns_fd, wish, gids, count, error);
	if (wish->terms.tenant || addressless == FAILS)
		return vqp_error_set(error, -EADDRNOTAVAIL, "the container's network namespace has no address");
	fprintf(stderr, "vqp-hook: the container's network namespace has no address, so container %s gets no VQP namespace\n",
		state->id);
	return 0;
}

static int give_up(int ret, struct vqp_error *error)
{
	return ret ? vqp_error_set(error, ret, "cannot give up privileges: %s", strerror(-ret)) : 0;
}

/* Checks the VQP namespace that the network namespace has. -ENONET if it has none. */
static int use_found(const struct vqp_wish *wish, struct vqp_error *error)
{
	struct vqp_namespace found;
	int ret = vqp_namespace_query(&found, wish->terms.address, error);

	return ret ? ret : compare(wish, &found, error);
}

/* Makes the VQP namespace of this thread's network namespace, `netns_fd`, unless it has one. */
static int ensure(const struct vqp_state *state, const struct vqp_wish *wish, int netns_fd,
		  enum addressless addressless, struct vqp_error *error)
{
	int ret = use_found(wish, error);

	if (ret != -ENONET)
		return ret;
	vqp_error_clear(error);
	ret = add(state, wish, netns_fd, addressless, error);
	if (ret != -EEXIST)
		return ret;
	/* Another container of this network namespace has made it at the same time. */
	vqp_error_clear(error);
	return use_found(wish, error);
}

static int enter(int netns_fd, struct vqp_error *error)
{
	int ret = vqp_namespace_enter(netns_fd, error);

	return ret ? ret : give_up(vqp_privilege_keep(VQP_PHASE_HOOK_ASK), error);
}

/* Checks that vqp-network, which vqp-runtime puts before this hook, has attached the container. */
static int check_attached(const struct vqp_state *state, int netns_fd, struct vqp_error *error)
{
	struct vqp_pin pin;

	if (vqp_cni_name_is_valid(state->id)) {
		vqp_pin_name(&pin, state->id, state->bundle);
		if (vqp_pin_holds(&pin, netns_fd))
			return 0;
	}
	return vqp_error_set(error, -ENONET, "annotation " VQP_WISH_NETWORK ": nobody has attached the container: "
			     "start it by vqp-runtime, or have the hook vqp-network before this one");
}

/* A container that gets its VQP namespace when it starts. */
struct starting {
	const struct vqp_state *state;
	int netns_fd;
};

/* vqp_attendant.make: the container has its network by now, if it gets one. */
static int make_at_start(void *context, struct vqp_error *error)
{
	const struct starting *starting = context;
	cleanup_wish struct vqp_wish wish = { 0 };
	int ret = vqp_wish_parse(&wish, starting->state->annotations, error);

	return ret ? ret : ensure(starting->state, &wish, starting->netns_fd, FAILS, error);
}

static int attend(const struct vqp_state *state, int netns_fd, struct vqp_error *error)
{
	struct starting starting = { state, netns_fd };

	return vqp_attendant_stay(&(struct vqp_attendant){ .id = state->id, .pid = state->pid,
							   .make = make_at_start, .context = &starting }, error);
}

static int create(const struct vqp_state *state, enum addressless addressless, struct vqp_error *error)
{
	cleanup_wish struct vqp_wish wish = { 0 };
	cleanup_close int netns_fd = -1;
	int ret = vqp_wish_parse(&wish, state->annotations, error);

	if (ret)
		return ret;
	netns_fd = vqp_namespace_open(state->pid, error);
	if (netns_fd < 0)
		return netns_fd;
	ret = vqp_namespace_is_host(netns_fd, error);
	if (!ret && wish.network)
		ret = check_attached(state, netns_fd, error);
	if (ret < 0)
		return ret;
	if (ret && (wish.terms.tenant || *wish.terms.address || wish.network || addressless == AWAITS))
		return vqp_error_set(error, -EINVAL,
				     "the container uses the host's network, so it can have no VQP namespace");
	if (ret)
		return 0;
	ret = enter(netns_fd, error);
	if (!ret)
		ret = ensure(state, &wish, netns_fd, addressless, error);
	if (ret == NOT_YET)
		ret = addressless == AWAITS ? attend(state, netns_fd, error) : 0;
	return ret;
}

/* The hook in the container, before its process begins, which fails without a VQP namespace. */
static int start(const struct vqp_state *state, struct vqp_error *error)
{
	cleanup_wish struct vqp_wish wish = { 0 };
	int ret = vqp_wish_parse(&wish, state->annotations, error);

	if (ret)
		return ret;
	/* The attendant is asked even if the VQP namespace exists by now, because that ends it. */
	ret = vqp_attendant_ask(state->id, error);
	if (ret && ret != -ECONNREFUSED)
		return ret;
	vqp_error_clear(error);
	ret = use_found(&wish, error);
	if (ret != -ENONET)
		return ret;
	vqp_error_clear(error);
	return vqp_error_set(error, -ENONET, "the container has no VQP namespace: neither CNI nor vqp-hook has made one");
}

/*
 * A VQP namespace that an earlier version has made has a name without a network. That stands for
 * any network, so it is deleted, too.
 */
static int delete(const struct vqp_state *state, struct vqp_error *error)
{
	struct network network;
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s+, s:s, s:s*}", "op", "del", "id", ID_PREFIX, state->id,
			  "ifname", IFNAME, "network", name_network(state, &network));
	int ret = vqpd_call(NULL, request, -1, &reply, error);
	char id[VQP_NAME_MAX];

	if (!vqpd_is_away(ret))
		return failure(ret);
	fprintf(stderr, "vqp-hook: vqpd is away, so the kernel is asked itself: %s\n", vqp_error_text(error));
	vqp_error_clear(error);
	/* The name of a VQP namespace is longer than its id. */
	if (snprintf(id, sizeof(id), ID_PREFIX "%s", state->id) >= (int)sizeof(id))
		return 0;
	return vqp_direct_del(id, IFNAME, name_network(state, &network), -1, error);
}

enum stage { NO_STAGE, CREATE, START, DELETE };

static enum stage find_stage(int argc, char **argv, enum addressless *addressless)
{
	const char *name = argc >= 2 ? argv[1] : "", *option = argc == 3 ? argv[2] : "";
	const bool creates = !strcmp(name, "createRuntime") || !strcmp(name, "prestart");

	if (!strcmp(option, "late"))
		*addressless = IS_LATE;
	else if (!strcmp(option, "await"))
		*addressless = AWAITS;
	else
		*addressless = STARTS;
	if (creates && (argc == 2 || *addressless != STARTS))
		return CREATE;
	if (argc == 2 && !strcmp(name, "startContainer"))
		return START;
	return argc == 2 && !strcmp(name, "poststop") ? DELETE : NO_STAGE;
}

/* For the hooks outside of the container: requires the host's root, and gives up privileges. */
static int prepare(enum stage stage, enum addressless addressless, struct vqp_error *error)
{
	int ret = vqp_rootless_refuse(error);

	/* This comes before the filter, which forbids new processes. */
	if (!ret && addressless == AWAITS)
		ret = vqp_attendant_begin(error);
	if (!ret)
		ret = give_up(vqp_privilege_keep(stage == DELETE ? VQP_PHASE_HOOK_DELETE : VQP_PHASE_HOOK_ENTER), error);
	return ret ? ret : give_up(vqp_filter_install(stage == DELETE ? VQP_PROGRAM_POSTSTOP : VQP_PROGRAM_HOOK), error);
}

static int carry_out(enum stage stage, const struct vqp_state *state, enum addressless addressless, struct vqp_error *error)
{
	switch (stage) {
	case CREATE:
		return create(state, addressless, error);
	case START:
		return start(state, error);
	default:
		return delete(state, error);
	}
}

int main(int argc, char **argv)
{
	enum addressless addressless;
	const enum stage stage = find_stage(argc, argv, &addressless);
	cleanup_error struct vqp_error error = { 0 };
	struct vqp_state state = { 0 };
	int ret = 0;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("vqp-hook %s\n", vqp_version);
		return 0;
	}
	if (stage == NO_STAGE) {
		fputs(usage, stderr);
		return 2;
	}

	/* In the container the hook has the container's privileges, and keeps them. */
	if (stage != START)
		ret = prepare(stage, addressless, &error);
	if (!ret)
		ret = vqp_state_read(&state, stdin, &error);
	if (!ret)
		ret = carry_out(stage, &state, addressless, &error);
	if (ret)
		fprintf(stderr, "vqp-hook: %s: %s\n", argv[1], vqp_error_text(&error));
	vqp_state_clear(&state);
	return ret != 0;
}
