/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* TOML as JSON, which the rest of vqpctl works with. Texts are parsed by toml++. */
#ifndef VQPCTL_TOML_H
#define VQPCTL_TOML_H

#include <jansson.h>

#include "../../common/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the tables of a text as an object, which the caller releases, or NULL with *error set. A
 * text with a date or a number that is not finite, which JSON lacks, is refused.
 */
json_t *ctl_toml_parse(const char *text, struct vqp_error *error);

/*
 * Returns the lines that say `table`: those of its own keys, and then those of the tables inside
 * it with headers of their own. The table's name is `name` in the table `parent`, which is written
 * as in a header. The caller frees them; NULL without memory.
 */
char *ctl_toml_print(const char *parent, const char *name, const json_t *table);

#ifdef __cplusplus
}
#endif

#endif
