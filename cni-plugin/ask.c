// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "../node/client.h"
#include "ask.h"

static enum vqp_error_code code_of_errno(int err)
{
	switch (err) {
	case ECONNREFUSED:
	case ENOENT:
	case ETIMEDOUT:
		return VQP_ERROR_TRY_AGAIN;	/* vqpd is not running, or busy */
	case EEXIST:
	case EADDRINUSE:
		return VQP_ERROR_TAKEN;
	default:
		return VQP_ERROR_REFUSED;
	}
}

int vqp_ask(const struct vqp_config *config, const json_t *request, json_t **reply, const char *what,
	    const char *whom, struct vqp_error *error)
{
	char *why = NULL;
	int ret = vqpd_call(config->vqpd, request, reply, &why);

	if (ret)
		vqp_error_detail(error, code_of_errno(-ret), why, "cannot %s %s", what, whom);
	free(why);
	return error->code;
}
