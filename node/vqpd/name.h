/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a namespace is called in the kernel: "ID/IFNAME" of the attachment it was
 * made for, or "ID/IFNAME/NETWORK". Administrators may call theirs anything.
 */
#ifndef VQPD_NAME_H
#define VQPD_NAME_H

#include <jansson.h>
#include <stdbool.h>
#include <linux/vqp.h>

/* None of the parts has a slash; network may be NULL. false: it would be too long. */
bool vqp_name_write(char name[VQP_NAME_MAX], const char *id, const char *ifname, const char *network);

/* {"id","ifname","network"}, the last if it has one, a new object. NULL: it is no attachment's. */
json_t *vqp_name_split(const char *name);

/* Both are of one attachment. A name without network is of each network's. */
bool vqp_name_same(const char *a, const char *b);

#endif
