/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQPCTL_BUNDLE_H
#define VQPCTL_BUNDLE_H

#include <jansson.h>

#include "../../common/error.h"

/*
 * Writes what a report of a fault needs to a new file, or to a new directory if the name does not
 * end in ".tar.gz"; vqpctl(8) lists it. It appears at once and complete, for its owner alone. 0, or
 * a negative errno value with *error set: -EEXIST if there is something of that name.
 */
int ctl_bundle_write(const char *path, const json_t *report, struct vqp_error *error);

#endif
