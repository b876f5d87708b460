/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The network configuration on the plugin's standard input. */
#ifndef VQP_CNI_CONFIG_H
#define VQP_CNI_CONFIG_H

#include <jansson.h>

#include "cni_error.h"
#include "version.h"

#define VQP_CONFIG_MAX_BYTES	(1U << 20)

struct vqp_config {
	json_t *json;			/* owns all that follows */
	enum vqp_version version;	/* of the answer, too */
	const char *name;		/* the network's */
	const char *vqpd;		/* socket path, NULL: the default */
	const json_t *prev_result;	/* NULL if there is none */
};

/* Reads `in` to its end and parses it: JSON, or nothing (*json is NULL). */
int vqp_config_read(FILE *in, json_t **json, struct vqp_error *error);

/* Checks what each command needs of `json` (consumed, may be NULL). */
int vqp_config_parse(struct vqp_config *config, json_t *json, struct vqp_error *error);

void vqp_config_clear(struct vqp_config *config);

#endif
