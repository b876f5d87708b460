/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The operator's policy: which containers get a VQP namespace, and on what terms; see
 * vqp-policy.json(5). What no rule names is refused.
 */
#ifndef VQP_NODE_POLICY_H
#define VQP_NODE_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/config.h"
#include "../common/error.h"
#include "../common/terms.h"

#define VQP_POLICY_FILE		VQP_CONFIG_DIR "/policy.json"
#define VQP_POLICY_NO_RULE	SIZE_MAX

struct vqp_policy {
	/* {"rules":[...]} in the form of policy.json, checked; NULL if there is none */
	json_t *json;
	char *text;	/* the file's, in which rules have lines; NULL if `is_old` */
	bool is_old;	/* The rules were made of runtime.json, as it was before there was policy.json. */
};

/* What a container has, whatever it wishes for. */
struct vqp_has {
	/* the name of the CNI network list that has attached it; NULL if none has */
	const char *network;
	const uint8_t (*gids)[16];	/* its own addresses, in their order; belongs to the caller */
	size_t count;			/* of them */
};

/*
 * Parse policy.json and, in its place, runtime.json: -ENOENT if that has no member of a policy. 0,
 * or a negative errno value with *error set. The caller clears the policy in all cases.
 */
int vqp_policy_parse(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error);
int vqp_policy_parse_old(struct vqp_policy *policy, const char *text, size_t bytes, struct vqp_error *error);

/*
 * Reads and parses the node's policy in `dir`, which is VQP_CONFIG_DIR but in tests, likewise.
 * -EPERM if there is none: then no container gets a VQP namespace.
 */
int vqp_policy_load(struct vqp_policy *policy, const char *dir, struct vqp_error *error);

void vqp_policy_clear(struct vqp_policy *policy);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_policy	__attribute__((cleanup(vqp_policy_clear)))

/*
 * -EADDRNOTAVAIL if the container has no address and wishes for none: then it can have no VQP
 * namespace, whatever the policy says. 0 otherwise.
 */
int vqp_policy_check_address(const struct vqp_has *has, const struct vqp_terms *wish, struct vqp_error *error);

/*
 * Decides all terms of a container; the caller clears them. The first rule that matches decides
 * alone, and *rule is its index, also if it refuses the wish; VQP_POLICY_NO_RULE if none matches.
 * The tenant follows from what the container has, and never from an address that is wished for.
 *
 * terms->limits has every limit, and terms->sockets is set, so that a namespace that is there gets
 * what it is to have.
 *
 * 0; -EPERM if no rule matches, or if the rule does not let the container have what it wishes for;
 * what vqp_policy_check_address() returns; or -ENOMEM.
 */
int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_has *has, const struct vqp_terms *wish,
		      struct vqp_terms *terms, size_t *rule, struct vqp_error *error);

/*
 * Returns the first rule that could be about containers of this CNI network list, because it has its
 * name or none; NULL if there is none. It belongs to the policy. An old file must name the list:
 * when it was written, it decided about no others.
 */
const json_t *vqp_policy_network(const struct vqp_policy *policy, const char *network);

/* Says that there is none. Returns -EPERM. */
int vqp_policy_refuse_network(const struct vqp_policy *policy, const char *network, struct vqp_error *error);

/* May containers attach themselves to this CNI network list, by an annotation? */
bool vqp_policy_lets_annotate(const struct vqp_policy *policy, const char *network);

size_t vqp_policy_count(const struct vqp_policy *policy);

/* The file that the rules are from, for messages. */
const char *vqp_policy_file(const struct vqp_policy *policy);

/* The line of a rule's "{", given its index; 0 if the rules are not those of policy.json. */
unsigned int vqp_policy_line(const struct vqp_policy *policy, size_t rule);

#endif
