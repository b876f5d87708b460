/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a client says of a container: what the container has, and what terms it wishes for. */
#ifndef VQPD_CLAIM_H
#define VQPD_CLAIM_H

#include "../../common/terms.h"
#include "../policy.h"

struct vqp_claim {
	struct vqp_has has;	/* its network belongs to the request */
	uint8_t (*gids)[16];	/* the container's addresses, to which `has` refers */
	struct vqp_terms wish;	/* what the container has no wish about is not set */
};

/*
 * Parses the members "has" and "wish" of a request. 0, or a negative errno value with *error set.
 * The caller clears the claim in both cases.
 */
int vqp_claim_parse(struct vqp_claim *claim, const json_t *request, struct vqp_error *error);

void vqp_claim_clear(struct vqp_claim *claim);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_claim	__attribute__((cleanup(vqp_claim_clear)))

#endif
