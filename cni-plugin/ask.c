// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>

#include "../common/client.h"
#include "ask.h"

/* The plugin's error code for a result of vqpd_call(). */
static enum vqp_cni_error_code code_of(int ret)
{
	if (ret < 0)
		return VQP_CNI_ERROR_TRY_AGAIN;	/* vqpd is not running, is busy, or has ended. */
	switch (ret) {
	case EEXIST:
	case EADDRINUSE:
		return VQP_CNI_ERROR_TAKEN;
	default:
		return VQP_CNI_ERROR_REFUSED;
	}
}

int vqp_ask(const struct vqp_config *config, const json_t *request, json_t **reply, const char *what,
	    const char *whom, struct vqp_error *error)
{
	int ret = vqpd_call(config->vqpd, request, reply, error);

	if (!ret)
		return 0;
	error->code = code_of(ret);
	return vqp_error_add_context(error, "cannot %s %s", what, whom);
}
