/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rank of a GID as a node's address, and the GID of a datagram's sender. */
#ifndef VQPCTL_GID_H
#define VQPCTL_GID_H

#include <stdbool.h>
#include <stdint.h>

#define CTL_GRH_BYTES 40

/* A greater value is a better address, as for the module (kmod/device/parent.c). */
enum ctl_gid {
	CTL_GID_NONE,
	CTL_GID_LINK_LOCAL,
	CTL_GID_IPV6,
	CTL_GID_IPV4,
};

enum ctl_gid ctl_gid_rate(const uint8_t gid[16]);
const char *ctl_gid_text(enum ctl_gid rate);

/*
 * Reads the sender's GID in the GRH before a datagram. Between IPv4 addresses the GRH ends with an
 * IPv4 header, and the bytes before that are undefined. 0 or -EINVAL.
 */
int ctl_gid_source(const uint8_t grh[CTL_GRH_BYTES], bool ipv4, uint8_t gid[16]);

#endif
