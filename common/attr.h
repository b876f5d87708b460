/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Attributes of the netlink family, to and from JSON. */
#ifndef VQP_COMMON_ATTR_H
#define VQP_COMMON_ATTR_H

#include <jansson.h>
#include <linux/netlink.h>
#include <stddef.h>

/*
 * Appends the members of `object` as attributes to the message, which is in a buffer of `room`
 * bytes. 0, or -EINVAL for an unknown member, one of the wrong type, or want of room.
 */
int vqp_attr_put(struct nlmsghdr *msg, size_t room, const json_t *object);

/*
 * Returns the attributes from `offset` of the message's payload on as an object, without unknown
 * ones. NULL if they are malformed, or without memory.
 */
json_t *vqp_attr_get(const struct nlmsghdr *msg, size_t offset);

#endif
