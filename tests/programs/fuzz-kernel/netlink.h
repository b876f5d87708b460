/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the fuzzer itself asks of the netlink family, as root in the initial network namespace. */
#ifndef VQP_FUZZ_NETLINK_H
#define VQP_FUZZ_NETLINK_H

#include "world.h"

/* A socket of the current network namespace. */
int netlink_open(void);

/* In a child, which shares the socket with its parent: neither takes the other's answers for its own. */
void netlink_forked(void);

/* The number of the family. */
uint16_t netlink_family(int socket);

/* The VQP namespace of a box. */
void netlink_add_box(int socket, uint16_t family, const struct box *box);

/* The list of meta servers, as attributes; returns how many bytes. */
size_t netlink_get_meta(int socket, uint16_t family, void *buf, size_t size);

#endif
