/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which connections of a namespace's stream sockets may go by vqp. In configurations, requests and
 * answers this is true, false, or an object of lists:
 *
 *	{"only": ["80", "8000-8999", "10.7.0.0/16"], "except": ["8080", "10.7.9.0/24"]}
 *
 * What is in a list is a rule: of ports, at which one end of the connection listens, or of a subnet
 * of peers. What is in "except" is out. If "only" has ports, others are out, and so with subnets. In
 * command lines and annotations that is "on", "off", or
 * "only:80,8000-8999,10.7.0.0/16,except:8080,10.7.9.0/24".
 */
#ifndef VQP_COMMON_SOCKETS_H
#define VQP_COMMON_SOCKETS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "subnet.h"

#define VQP_SOCKETS_ONLY	"only"
#define VQP_SOCKETS_EXCEPT	"except"

struct vqp_sockets_rule {
	uint16_t port, last;		/* the ports from one to the other; 0 if it is of peers */
	struct vqp_subnet peers;	/* all 0 if it is of ports */
};

#define VQP_SOCKETS_RULE_TEXT	VQP_SUBNET_TEXT

/* Parses a rule. 0, -EINVAL, or -ERANGE as vqp_subnet_parse(). */
int vqp_sockets_rule_parse(struct vqp_sockets_rule *rule, const char *text);

/* Writes the rule to `text`, and returns that. */
char *vqp_sockets_rule_format(const struct vqp_sockets_rule *rule, char text[VQP_SOCKETS_RULE_TEXT]);

/*
 * Checks what is said, and returns it as a new value, in whose lists rules are sorted, and as few as
 * say the same: ranges that adjoin, and halves of a subnet, are one. So lists that match the same
 * ports and peers are equal. NULL with *error set: -EINVAL or -ENOMEM.
 */
json_t *vqp_sockets_read(const json_t *said, struct vqp_error *error);

/* Does the same with a text. */
json_t *vqp_sockets_parse(const char *text, struct vqp_error *error);

/* Returns what vqp_sockets_read() has returned as a text, which the caller frees; NULL without memory. */
char *vqp_sockets_format(const json_t *sockets);

/*
 * May all connections go by vqp that may by the other ones, as far as each list shows it? If "only"
 * has ports, that of the other ones must have some, and no others; so with subnets; and what is in
 * "except" must be in that of the other ones, too.
 */
bool vqp_sockets_include(const json_t *sockets, const json_t *other);

/*
 * Lowers *granted, a reference, to what is asked for, which it must include; or not at all, if it is
 * asked that they be on. False if that would be more: *granted stays.
 */
bool vqp_sockets_lower(json_t **granted, json_t *asked);

#endif
