/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* GIDs: of what use one is as a node's address, and that of who sent a datagram. */
#ifndef VQPCTL_GID_H
#define VQPCTL_GID_H

#include <stdbool.h>
#include <stdint.h>

#define CTL_GRH_BYTES 40

/* The better is the greater, as for the module (kmod/device/parent.c). */
enum ctl_gid {
	CTL_GID_NONE,
	CTL_GID_LINK_LOCAL,
	CTL_GID_IPV6,
	CTL_GID_IPV4,
};

enum ctl_gid ctl_gid_rate(const uint8_t gid[16]);
const char *ctl_gid_text(enum ctl_gid rate);

/*
 * The sender's, of the GRH before a datagram; between IPv4 addresses it is an IPv4 header at the end, and what
 * stands before that is undefined. 0 or -EINVAL.
 */
int ctl_gid_source(const uint8_t grh[CTL_GRH_BYTES], bool ipv4, uint8_t gid[16]);

#endif
