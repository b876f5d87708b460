// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>

#include "../common/client.h"
#include "ask.h"

/* The plugin's error code for a result of vqpd_call(). */
static enum vqp_cni_error_code code_of(int ret)
{
	switch (ret) {
	case -ENOENT:		/* vqpd is not running, */
	case -ECONNREFUSED:
	case -ETIMEDOUT:	/* is busy, */
	case -EPIPE:		/* or has ended. */
	case -ECONNRESET:
	case -EPROTO:
		return VQP_CNI_ERROR_TRY_AGAIN;
	case EEXIST:
	case EADDRINUSE:
		return VQP_CNI_ERROR_TAKEN;
	default:
		return ret < 0 ? VQP_CNI_ERROR_IO : VQP_CNI_ERROR_REFUSED;
	}
}

int vqp_ask(const struct vqp_config *config, const json_t *request, int netns_fd, json_t **reply, const char *what,
	    const char *whom, struct vqp_error *error)
{
	int ret = vqpd_call(config->vqpd, request, netns_fd, reply, error);

	if (!ret)
		return 0;
	error->code = code_of(ret);
	return vqp_error_add_context(error, "cannot %s %s", what, whom);
}
