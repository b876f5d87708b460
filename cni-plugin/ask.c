// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>

#include "../common/client.h"
#include "ask.h"

/* Of what vqpd_call() returned. */
static enum vqp_cni_error_code code_of(int ret)
{
	if (ret < 0)
		return VQP_CNI_ERROR_TRY_AGAIN;	/* vqpd is not running, busy, or went away */
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
