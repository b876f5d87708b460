/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What clients of vqpd's socket may ask (see PROTOCOL.md). */
#ifndef VQPD_REQUEST_H
#define VQPD_REQUEST_H

#include "vqpd.h"

/* A checked add or del. Strings live as long as the JSON object. */
struct vqp_request {
	char name[VQP_NAME_MAX];	/* the namespace's in the kernel (name.h) */
	const char *netns;		/* NULL in a del that names none */
	uint32_t tenant;		/* these of an add */
	uint8_t gid[16];
	const json_t *limits;		/* as vqp_limits_check() takes them; NULL: none given */
};

/* NULL, or the refusal. */
json_t *vqp_request_check_add(const json_t *object, struct vqp_request *request);

/* NULL, or the answer: a refusal, or that nothing is deleted, for what no add could have named is not there. */
json_t *vqp_request_check_del(const json_t *object, struct vqp_request *request);

/* For struct vqp_server: answer now, or later by vqp_add_settle(). */
void vqp_request_serve(struct vqp_client *client, json_t *object);
void vqp_request_gone(struct vqp_client *client);

#endif
