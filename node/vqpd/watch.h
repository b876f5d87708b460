/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keeps vqpd's picture of the node true, and tells the kernel where meta servers are. */
#ifndef VQPD_WATCH_H
#define VQPD_WATCH_H

#include "vqpd.h"

/*
 * Look at the kernel: namespaces that came or went without vqpd (with their
 * netns, by an administrator), a module or RDMA device that came, went or started anew.
 * 0, or the netlink error; -ENOPKG: no module.
 */
int vqp_watch_look(struct vqpd *d);

/* Give the kernel the tables of the meta servers that are up; the last ones stay when all are down. */
void vqp_watch_set_tables(struct vqpd *d);

#endif
