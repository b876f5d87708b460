/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CNI network lists of this node that have the plugin vqp. */
#ifndef VQPCTL_CNI_LIST_H
#define VQPCTL_CNI_LIST_H

#include <jansson.h>

#define CTL_CNI_DIR	"/etc/cni/net.d"

/*
 * Returns the lists of CTL_CNI_DIR below `root` as a new array of {"path","name","plugin"}, in the
 * order in which engines take them; "plugin" is the configuration of the plugin vqp. Files that
 * cannot be read or are no JSON are left out, as engines leave them out: why is appended to
 * `unread`, an array of texts, unless that is NULL. NULL without memory.
 */
json_t *ctl_cni_lists(const char *root, json_t *unread);

/* Returns the list with this name, which belongs to `lists`; NULL if there is none. */
const json_t *ctl_cni_list_find(const json_t *lists, const char *name);

#endif
