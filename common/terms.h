/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The terms of a VQP namespace: of which tenant it is, at which address, and within which limits. Operators,
 * networks, runtimes and containers each say some of them. What each may say, its reader decides.
 */
#ifndef VQP_COMMON_TERMS_H
#define VQP_COMMON_TERMS_H

#include <jansson.h>
#include <stdint.h>

#include "address.h"
#include "error.h"

#define VQP_TERMS_DEFAULT_TENANT	1

struct vqp_terms {
	uint32_t tenant;		/* from 1 up; 0: nothing was said */
	char address[VQP_ADDRESS_TEXT];	/* of one container, as vqp_address_format() writes it; "": nothing was said */
	json_t *limits;			/* as vqp_limits_check() takes them, referenced; NULL: nothing was said */
};

/* Whether the JSON value is a tenant's number. 0, or -EINVAL. */
int vqp_terms_check_tenant(const json_t *tenant, struct vqp_error *error);

/*
 * What the members "tenant", "address" and "limits" of `object` say; the other members are passed by. NULL says
 * nothing. 0, or -EINVAL. The terms are to be cleared in both cases.
 */
int vqp_terms_parse(struct vqp_terms *terms, const json_t *object, struct vqp_error *error);

void vqp_terms_clear(struct vqp_terms *terms);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_terms	__attribute__((cleanup(vqp_terms_clear)))

#endif
