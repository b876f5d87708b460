/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Attributes of the netlink family, to and from JSON. */
#ifndef VQP_NODE_ATTR_H
#define VQP_NODE_ATTR_H

#include <jansson.h>
#include <libmnl/libmnl.h>
#include <stddef.h>

/* Append the fields of `object` to the message in a buffer of `room` bytes. -EINVAL: unknown or ill-typed field, or no room. */
int vqp_attr_put(struct nlmsghdr *msg, size_t room, const json_t *object);

/* Attributes from `offset` of the message's payload on, as an object; NULL if malformed or out of memory. Unknown ones are left out. */
json_t *vqp_attr_get(const struct nlmsghdr *msg, size_t offset);

#endif
