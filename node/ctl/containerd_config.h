/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a configuration of containerd says of runtimes, whether a file has it or containerd shows it. */
#ifndef VQPCTL_CONTAINERD_CONFIG_H
#define VQPCTL_CONTAINERD_CONFIG_H

#include "site.h"

#define CTL_CONTAINERD_VERSION_MAX	3

/* The line of a template that k3s and RKE2 put their own configuration in place of. */
#define CTL_CONTAINERD_BASE_TEMPLATE	"{{ template \"base\" . }}"

/* The plugin that has the runtimes, by the version of the file. */
extern const char *const ctl_containerd_plugins[CTL_CONTAINERD_VERSION_MAX + 1];

/* Returns the version of a file; that of a new one if it says nothing at all. 0 if it is not known. */
int ctl_containerd_version(const json_t *json);

/* Is its version newer than all that are known? */
bool ctl_containerd_is_newer(const json_t *json);

/* Returns what the plugin has been told of its runtimes: runtimes, default_runtime_name; or NULL. */
json_t *ctl_containerd_part(const json_t *json);

/* Returns the program that a runtime starts, or NULL. */
const char *ctl_containerd_binary(const json_t *runtime);

/*
 * Returns what is set in a table of runtimes or of one. containerd names a sandboxer for its own
 * runc that is also taken where none is named.
 */
json_t *ctl_containerd_what_is_set(const json_t *table);

/*
 * Returns the table of the runtime that vqp stands in for, without what is not set: the default one
 * or, if that does not start runc or the like, runc. *name is its name. What containerd shows
 * counts more than its file.
 */
json_t *ctl_containerd_base(const struct ctl_site *site, const json_t *file, const char **name);

/* Returns the table of vqp, of that of the runtime which it stands in for; NULL without memory. */
json_t *ctl_containerd_vqp(const struct ctl_site *site, const json_t *base);

/* Is the main file a template of k3s or RKE2? */
bool ctl_containerd_is_template(const struct ctl_site *site);

/*
 * Returns the text as containerd reads it, or what it says: a template has what was generated of it
 * in place of the line that stands for that. NULL with *error set.
 */
char *ctl_containerd_as_read(const struct ctl_site *site, const char *text, struct vqp_error *error);
json_t *ctl_containerd_parse(const struct ctl_site *site, const char *text, struct vqp_error *error);

#endif
