/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The name of a VQP namespace in the kernel: "ID/IFNAME" of the attachment that it was made for, or
 * "ID/IFNAME/NETWORK". Administrators may give theirs any name.
 */
#ifndef VQP_COMMON_NAME_H
#define VQP_COMMON_NAME_H

#include <jansson.h>
#include <stdbool.h>
#include <linux/vqp.h>

/*
 * Writes a name of parts without slashes; network may be NULL. Returns false if it would be too
 * long.
 */
bool vqp_name_write(char name[VQP_NAME_MAX], const char *id, const char *ifname, const char *network);

/*
 * Returns {"id","ifname","network"}, without the last if there is none, as a new object; NULL if it
 * is no attachment's.
 */
json_t *vqp_name_split(const char *name);

/* Adds these members to a VQP namespace as the kernel lists it, if its "name" is an attachment's. */
void vqp_name_tell(json_t *item);

/*
 * Returns the CNI network list that has attached a VQP namespace to which vqp_name_tell() has added
 * its parts; NULL if none has. What vqp-hook writes in the network's place is none: it has a colon,
 * which no list's name has.
 */
const char *vqp_name_network(const json_t *item);

/* Are both names of one attachment? A name without a network stands for any network. */
bool vqp_name_same(const char *a, const char *b);

#endif
