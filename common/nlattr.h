/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The attributes of a netlink message, as the kernel lays them out. Programs that are linked
 * statically use this, and no distribution has libmnl as an archive.
 */
#ifndef VQP_COMMON_NLATTR_H
#define VQP_COMMON_NLATTR_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>

/* An attribute of a message that was received. */
struct vqp_nlattr {
	unsigned int type;
	const void *data;	/* is aligned to 4 bytes, and no more */
	size_t bytes;
};

/* Attributes that are still to be read, in a message or in a nest. */
struct vqp_nlattrs {
	const char *at;
	size_t bytes;
};

/*
 * Appends an attribute to the message, which is in a buffer of `room` bytes. Returns it, or NULL if
 * it does not fit.
 */
struct nlattr *vqp_nlattr_put(struct nlmsghdr *msg, size_t room, unsigned int type, const void *data, size_t bytes);

/* Begins a nest, to which all belongs that is appended until its end. NULL if it does not fit. */
struct nlattr *vqp_nlattr_begin_nest(struct nlmsghdr *msg, size_t room, unsigned int type);

/* Ends the nest. False if it is longer than a nest can be. */
bool vqp_nlattr_end_nest(const struct nlmsghdr *msg, struct nlattr *nest);

/* The attributes of a message from `offset` of its payload on. */
struct vqp_nlattrs vqp_nlattrs_of(const struct nlmsghdr *msg, size_t offset);

/* The attributes in a nest. */
struct vqp_nlattrs vqp_nlattrs_in(const struct vqp_nlattr *nest);

/* Takes the next attribute. False at the end, or where no whole attribute follows. */
bool vqp_nlattr_next(struct vqp_nlattrs *attrs, struct vqp_nlattr *attr);

#endif
