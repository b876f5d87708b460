/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The runtime handler vqp in containerd's configuration. It goes to the end of the main file or, if
 * that is of version 3 and imports a directory, into a file there: up to containerd 1.7 an imported
 * file replaces all that the main one says of a plugin, and files of version 3 are for 2.0 and
 * later, which merge them.
 */
#ifndef VQPCTL_CONTAINERD_H
#define VQPCTL_CONTAINERD_H

#include "site.h"

#define CTL_CONTAINERD_CONFIG	"/etc/containerd/config.toml"

/*
 * Reads the main file, and asks containerd how it understands it if containerd is here. A template
 * of k3s or RKE2 (.tmpl) is taken together with the file that was generated of it. 0, or a negative
 * errno value with *error set.
 */
int ctl_containerd_look(struct ctl_site *site, struct vqp_error *error);

/* Edits of the main file, and of the one in a directory that it imports. */
int ctl_containerd_edit(const struct ctl_edit *edit, char **after, struct vqp_error *error);
int ctl_containerd_edit_import(const struct ctl_edit *edit, char **after, struct vqp_error *error);

/* Finds the path of the latter; false if there is none. */
bool ctl_containerd_import(const struct ctl_site *site, char path[PATH_MAX]);

/*
 * Finds where the latter may be although the main file says otherwise now: in the usual directory,
 * and in each that is imported. False behind the last place.
 */
bool ctl_containerd_former(const struct ctl_site *site, unsigned int place, char path[PATH_MAX]);

/*
 * Asks containerd whether the handler is in effect, and all else as it was. Returns whether it was
 * asked, which it is if it is here, or a negative errno value with *error set.
 */
int ctl_containerd_verify(const struct ctl_site *site, struct vqp_error *error);

/* The same of what it shows, `shown`. 0, or a negative errno value with *error set. */
int ctl_containerd_compare(const struct ctl_site *site, const json_t *shown, struct vqp_error *error);

#endif
