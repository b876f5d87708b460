/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The terms of a VQP namespace: its tenant, its address, its limits and its sockets. Operators,
 * networks, runtimes and containers each may state some of them; the code that reads a statement
 * decides what it may contain.
 */
#ifndef VQP_COMMON_TERMS_H
#define VQP_COMMON_TERMS_H

#include <jansson.h>
#include <stdint.h>

#include "address.h"
#include "error.h"

#define VQP_TERMS_DEFAULT_TENANT	1

struct vqp_terms {
	uint32_t tenant;		/* 0 if it is not stated */
	char address[VQP_ADDRESS_TEXT];	/* in vqp_address_format()'s form; "" if not stated */
	json_t *limits;			/* checked and referenced; NULL if none is stated */
	json_t *sockets;		/* in vqp_sockets_read()'s form, referenced; NULL if not stated */
};

/* Checks that a JSON value is the number of a tenant. 0, or -EINVAL. */
int vqp_terms_check_tenant(const json_t *tenant, struct vqp_error *error);

/*
 * Parses the members "tenant", "address", "limits" and "sockets" of `object`, which may be NULL, and
 * ignores others. 0, -EINVAL or -ENOMEM. The caller clears the terms in both cases.
 */
int vqp_terms_parse(struct vqp_terms *terms, const json_t *object, struct vqp_error *error);

/*
 * Returns the terms that are stated as a new object, as vqp_terms_parse() takes it. NULL without
 * memory.
 */
json_t *vqp_terms_say(const struct vqp_terms *terms);

void vqp_terms_clear(struct vqp_terms *terms);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_terms	__attribute__((cleanup(vqp_terms_clear)))

#endif
