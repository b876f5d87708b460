/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The network configuration on the plugin's standard input. */
#ifndef VQP_CNI_CONFIG_H
#define VQP_CNI_CONFIG_H

#include <jansson.h>

#include "cni_error.h"
#include "version.h"

#define VQP_CNI_CONFIG_MAX_BYTES	(1U << 20)

struct vqp_config {
	json_t *json;			/* owns the fields below */
	enum vqp_version version;	/* of the configuration, and of the answer */
	const char *name;		/* of the network */
	const char *vqpd;		/* the path of vqpd's socket, or NULL for the default */
	const json_t *prev_result;	/* the result of the plugin before this one, or NULL */
};

/* Reads `in` to its end and parses it as JSON. *json is NULL if there was nothing. */
int vqp_config_load(FILE *in, json_t **json, struct vqp_error *error);

/* Checks the fields that all commands need. `json` is consumed, and may be NULL. */
int vqp_config_parse(struct vqp_config *config, json_t *json, struct vqp_error *error);

void vqp_config_clear(struct vqp_config *config);

#endif
