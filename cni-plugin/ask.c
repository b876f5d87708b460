// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include "../common/client.h"
#include "../common/direct.h"
#include "ask.h"

/* The plugin's error code for a result of vqpd_call(). */
static enum vqp_cni_error_code code_of(int ret)
{
	if (vqpd_is_away(ret))
		return VQP_CNI_ERROR_TRY_AGAIN;
	switch (ret) {
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

/*
 * As vqp_ask(), of which it returns the code, unless vqpd is away. Sets *away then, and takes the
 * error back: that of the kernel module, which is asked now, is its caller's.
 */
static int ask_unless_away(const struct vqp_config *config, const json_t *request, int netns_fd, json_t **reply,
			   bool *away, const char *what, const char *whom, struct vqp_error *error)
{
	int ret = *away ? 0 : vqp_ask(config, request, netns_fd, reply, what, whom, error);

	if (ret != VQP_CNI_ERROR_TRY_AGAIN)
		return ret;
	fprintf(stderr, "vqp: vqpd is away, so the kernel is asked itself: %s\n", vqp_error_text(error));
	vqp_error_clear(error);
	*away = true;
	return 0;
}

/* The kernel module has failed: vqpd, when it is back, may do better. */
static int refuse_for_now(const char *what, const char *whom, struct vqp_error *error)
{
	error->code = VQP_CNI_ERROR_TRY_AGAIN;
	return vqp_error_add_context(error, "cannot %s %s", what, whom);
}

int vqp_ask_del(const struct vqp_config *config, const char *id, const char *ifname, int netns_fd, bool *away,
		const char *what, struct vqp_error *error)
{
	json_auto_t *reply = NULL, *request =
		json_pack("{s:s, s:s, s:s, s:s, s:o*}", "op", "del", "id", id, "ifname", ifname,
			  "network", config->name, "netns", netns_fd >= 0 ? json_true() : NULL);
	int ret;

	if (!request) {
		fprintf(stderr, "vqp: DEL of what is not UTF-8, which no ADD can have made\n");
		return 0;
	}
	ret = ask_unless_away(config, request, netns_fd, &reply, away, what, id, error);
	if (!ret && *away && vqp_direct_del(id, ifname, config->name, netns_fd, error))
		ret = refuse_for_now(what, id, error);
	return ret;
}

int vqp_ask_list(const struct vqp_config *config, json_t **list, bool *away, const char *what, const char *whom,
		 struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s}", "op", "list"), *reply = NULL;
	int ret = ask_unless_away(config, request, -1, &reply, away, what, whom, error);

	if (ret)
		return ret;
	if (*away)
		return vqp_direct_list(list, error) ? refuse_for_now(what, whom, error) : 0;
	*list = json_incref(json_object_get(reply, "namespaces"));
	return 0;
}
