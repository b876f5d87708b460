/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The requests of vqpd's clients (see PROTOCOL.md). */
#ifndef VQPD_REQUEST_H
#define VQPD_REQUEST_H

#include "claim.h"
#include "vqpd.h"

/* An add or a del that has been checked. Its strings live as long as the JSON object. */
struct vqp_request {
	char name[VQP_NAME_MAX];	/* the name of the namespace in the kernel (name.h) */
	bool has_netns;			/* The network namespace of a del comes with it, it says. */
	/* The fields below are those of an add. */
	struct vqp_claim claim;
	struct vqp_terms terms;		/* what the policy has decided; nothing before it has */
	uint8_t gid[16];		/* the address of the terms */
	json_t *rule;			/* the rule that has decided, as the answer names it */
};

/* Checks an add. Returns NULL, or the refusal. The caller clears the request in both cases. */
json_t *vqp_request_check_add(const json_t *object, struct vqp_request *request);

void vqp_request_clear(struct vqp_request *request);

/* A variable that is cleared when it goes out of scope. */
#define cleanup_request	__attribute__((cleanup(vqp_request_clear)))

/*
 * Checks a del, for which nothing is to be cleared. Returns NULL, or the answer: a refusal, or that nothing is deleted if no add could
 * have had the same arguments.
 */
json_t *vqp_request_check_del(const json_t *object, struct vqp_request *request);

/* vqp_server.refused: logs it, so that whoever reads the log knows what a client was told. */
void vqp_request_refused(const struct vqp_client *client, const json_t *reply);

/* vqp_server.request: answers now, or later by vqp_add_settle(). */
void vqp_request_serve(struct vqp_client *client, json_t *object);
void vqp_request_gone(struct vqp_client *client);

#endif
