/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The runtime handler vqp in CRI-O's configuration: a file in the directory crio.conf.d. */
#ifndef VQPCTL_CRIO_H
#define VQPCTL_CRIO_H

#include "site.h"

#define CTL_CRIO_CONFIG	"/etc/crio/crio.conf"

/*
 * Reads the main file and those of its directory, as CRI-O does: of a handler that several name the
 * last one counts, whole. 0, or a negative errno value with *error set.
 */
int ctl_crio_look(struct ctl_site *site, struct vqp_error *error);

bool ctl_crio_file(const struct ctl_site *site, char path[PATH_MAX]);
int ctl_crio_edit(const struct ctl_edit *edit, char **after, struct vqp_error *error);

/*
 * Asks CRI-O whether the handler is in effect. Returns whether it was asked, which it is if it is
 * here, or a negative errno value with *error set.
 */
int ctl_crio_verify(const struct ctl_site *site, struct vqp_error *error);

#endif
