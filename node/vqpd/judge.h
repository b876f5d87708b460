/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the node's policy says. It is read anew for each question: it is short, and may have changed. */
#ifndef VQPD_JUDGE_H
#define VQPD_JUDGE_H

#include "claim.h"
#include "vqpd.h"

/* Is called when vqpd starts: tells the log if containers will be refused, and why. */
void vqp_judge_start(struct vqpd *d);

/*
 * Decides the terms of a container, and sets *rule to {"number","line"} of the rule that does, a new
 * object. Returns NULL, or the refusal. The caller clears the terms, and drops *rule, in both cases.
 */
json_t *vqp_judge_claim(struct vqpd *d, const struct vqp_claim *claim, struct vqp_terms *terms, json_t **rule);

/* Answers the request "policy", about a container or about a CNI network list. */
json_t *vqp_judge_answer(struct vqpd *d, const json_t *request);

/* Returns what "status" tells of the policy, a new object. */
json_t *vqp_judge_tell(struct vqpd *d);

#endif
