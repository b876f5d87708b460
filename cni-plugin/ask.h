/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests to vqpd, whose refusals become CNI errors. */
#ifndef VQP_CNI_ASK_H
#define VQP_CNI_ASK_H

#include <jansson.h>

#include "config.h"
#include "cni_error.h"

/* *reply is to be freed, also on failure. The error says that one cannot do `what` with `whom`. */
int vqp_ask(const struct vqp_config *config, const json_t *request, json_t **reply, const char *what,
	    const char *whom, struct vqp_error *error);

#endif
