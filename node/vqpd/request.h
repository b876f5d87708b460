/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The requests of vqpd's clients (see PROTOCOL.md). */
#ifndef VQPD_REQUEST_H
#define VQPD_REQUEST_H

#include "vqpd.h"

/* An add or a del that has been checked. Its strings live as long as the JSON object. */
struct vqp_request {
	char name[VQP_NAME_MAX];	/* the name of the namespace in the kernel (name.h) */
	bool has_netns;			/* The network namespace of a del comes with it, it says. */
	/* The fields below are those of an add. */
	uint32_t tenant;
	uint8_t gid[16];
	const json_t *limits;		/* checked; NULL if none are given */
};

/* Checks an add. Returns NULL, or the refusal. */
json_t *vqp_request_check_add(const json_t *object, struct vqp_request *request);

/*
 * Checks a del. Returns NULL, or the answer: a refusal, or that nothing is deleted if no add could
 * have had the same arguments.
 */
json_t *vqp_request_check_del(const json_t *object, struct vqp_request *request);

/* vqp_server.refused: logs it, so that whoever reads the log knows what a client was told. */
void vqp_request_refused(const struct vqp_client *client, const json_t *reply);

/* vqp_server.request: answers now, or later by vqp_add_settle(). */
void vqp_request_serve(struct vqp_client *client, json_t *object);
void vqp_request_gone(struct vqp_client *client);

#endif
