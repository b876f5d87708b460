/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl meta. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../reply.h"
#include "ctl.h"
#include "file.h"
#include "program.h"

#define METAD	"vqp-metad"

int ctl_meta_list(const struct ctl_args *args)
{
	static const struct ctl_column columns[] = {
		{ "node_gid", "NODE" }, { "epoch", "EPOCH" }, { "lanes", "LANES" }, { "key", "KEY" },
		{ "addr", "ADDRESS" }, { "buckets", "BUCKETS" }, { 0 },
	};
	json_t *list;
	int ret = ctl_dump(args, VQP_CMD_META_GET, &list);

	return ret ? ret : ctl_print_table(args, list, columns);
}

/* Finds vqp-metad, which is installed beside this program, or is where root's programs are. */
static int find_metad(char path[PATH_MAX], struct vqp_error *error)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(METAD));
	char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		strcpy(slash + 1, METAD);
	if ((slash && !access(path, X_OK)) || ctl_program_find(METAD, path))
		return 0;
	return vqp_error_set(error, -ENOENT, "cannot find " METAD ", which asks meta servers: make install");
}

/* Takes an answer, which has come from vqp-metad as JSON. */
static int take_answer(const char *text, json_t **answer, struct vqp_error *error)
{
	*answer = json_loads(text, 0, NULL);
	if (!json_is_object(*answer))
		vqp_error_set(error, -EPROTO, METAD " has not answered: is it of another version?");
	else if (vqp_reply_text(*answer))
		vqp_error_set(error, -vqp_reply_errno(*answer), "%s", vqp_reply_text(*answer));
	if (!error->code) {
		json_object_del(*answer, "ok");
		return 0;
	}
	json_decref(*answer);
	*answer = NULL;
	return error->code;
}

/*
 * vqp-metad asks, because it has TLS: the library takes more time to load than all that other
 * commands do.
 */
int ctl_meta_ask(const char *server, const char *op, json_t **answer, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	int ret = find_metad(path, error);

	*answer = NULL;
	if (ret)
		return ret;
	ret = ctl_program_run((const char *const[]){ path, "--ask", server, op, NULL }, CTL_PROGRAM_LIMIT_MS, &text, NULL);
	if (ret == -ETIMEDOUT)
		return vqp_error_set(error, ret, "meta server %s does not answer: is vqp-metad running there?", server);
	if (ret < 0)
		return vqp_error_set(error, ret, "cannot run %s: %s", path, strerror(-ret));
	if (strlen(text) == CTL_FILE_MAX_BYTES)
		return vqp_error_set(error, -EFBIG, "meta server %s tells more than %u bytes", server, CTL_FILE_MAX_BYTES);
	return take_answer(text, answer, error);
}

int ctl_meta_set(const struct ctl_args *args)
{
	json_t *tables = json_array();
	json_auto_t *request = json_pack("{s:o}", "meta", tables);
	int ret = 0;

	for (int i = 0; i < args->nwords && !ret; i++) {
		cleanup_error struct vqp_error error = { 0 };
		json_t *info;

		ret = ctl_meta_ask(args->words[i], "hello", &info, &error);
		if (ret)
			ret = ctl_fail(args, ret, "%s", vqp_error_text(&error));
		else
			json_array_append_new(tables, info);
	}
	if (!ret)
		ret = ctl_do(args, VQP_CMD_META_SET, request, NULL);
	if (ret || !args->json)
		return ret;
	return ctl_print_json(json_incref(request));
}
