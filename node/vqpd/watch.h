/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The watch over the kernel: what vqpd knows of it, and what it tells it of meta servers. */
#ifndef VQPD_WATCH_H
#define VQPD_WATCH_H

#include "vqpd.h"

/*
 * Looks for changes in the kernel: namespaces that came or went without vqpd, with their network
 * namespaces or by an administrator; and a module or RDMA device that came, went or started anew.
 * 0, or the netlink error; -ENOPKG without the module.
 */
int vqp_watch_look(struct vqpd *d);

/*
 * Gives the kernel the tables of the meta servers that are up. If all are down, the kernel keeps
 * the last ones.
 */
void vqp_watch_set_tables(struct vqpd *d);

#endif
