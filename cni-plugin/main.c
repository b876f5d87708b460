// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp, the chained CNI plugin. It gives the container's network namespace a VQP namespace with the
 * address that the plugins before it gave the interface.
 *
 * The plugin keeps no state. vqpd makes the VQP namespace and deletes it at DEL; the kernel ends it
 * with the network namespace, whether DEL comes or not.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cleanup.h"
#include "../common/client.h"
#include "args.h"
#include "attachment.h"
#include "cni_error.h"
#include "config.h"
#include "network.h"
#include "wish.h"

static const char about[] =
	"vqp, a chained CNI plugin: virtual RDMA queue pairs for the container.\n"
	"Put {\"type\": \"vqp\"} behind the plugin that gives the address. The node's policy says what\n"
	"containers of this network get, vqp-policy.json(5). Keys, for what is wished beyond that:\n"
	"\"tenant\" (1 to 4294967295), \"address\", \"limits\" (an object of \"max_vqps\", \"max_mrs\",\n"
	"\"max_bytes\", \"max_rate\" and \"priority\"), \"sockets\" (may stream sockets go by vqp: true,\n"
	"false, or ports and peers); and \"vqpd\" (its socket, " VQPD_SOCKET_PATH " if not given).\n"
	"See vqp-cni(8).\n"
	"CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n";

static int print(const json_t *json, struct vqp_error *error)
{
	if (json_dumpf(json, stdout, JSON_INDENT(4)) || putchar('\n') == EOF || fflush(stdout))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "cannot write the result: %s", strerror(errno));
	return 0;
}

/* VERSION ignores the input, since a runtime asks it in order to learn which versions it may use. */
static int version(struct vqp_error *error)
{
	json_auto_t *config = NULL, *answer = NULL;
	const char *asked;

	vqp_config_load(stdin, &config, error);
	vqp_error_clear(error);
	asked = json_string_value(json_object_get(config, "cniVersion"));
	answer = json_pack("{s:s, s:o}", "cniVersion", asked ? asked : vqp_version_text(VQP_VERSION_LATEST),
			   "supportedVersions", vqp_version_list());
	return print(answer, error);
}

static int add(const struct vqp_args *args, const struct vqp_config *config, const struct vqp_wish *wish,
	       struct vqp_error *error)
{
	json_auto_t *result = NULL;
	cleanup_close int netns_fd = -1;

	if (!vqp_attachment_open(args, &netns_fd, error) &&
	    !vqp_attachment_add(args, config, wish, netns_fd, &result, error) && print(result, error))
		vqp_attachment_undo(args, config, netns_fd);
	return error->code;
}

/* Refuses a command in a configuration whose version is older than the command. */
static int check_command(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	static const enum vqp_version first[] = {
		[VQP_COMMAND_CHECK] = VQP_VERSION_0_4_0,
		[VQP_COMMAND_STATUS] = VQP_VERSION_1_1_0,
		[VQP_COMMAND_GC] = VQP_VERSION_1_1_0,
	};

	if (config->version >= first[args->command])
		return 0;
	return vqp_error_set(error, VQP_CNI_ERROR_VERSION, "this command came with cniVersion %s, this is %s",
			     vqp_version_text(first[args->command]), vqp_version_text(config->version));
}

/* DEL and GC do not read the wish, so that they work with a configuration that is wrong by now. */
static int run_command(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *asked = NULL;
	struct vqp_wish wish;

	if (args->command == VQP_COMMAND_DEL)
		return vqp_attachment_del(args, config, error);
	if (args->command == VQP_COMMAND_GC)
		return vqp_network_gc(config, error);

	asked = vqp_args_terms(args, error);
	if (!asked || vqp_wish_read(&wish, config->json, asked, error))
		return error->code;
	if (args->command == VQP_COMMAND_ADD)
		add(args, config, &wish, error);
	else if (args->command == VQP_COMMAND_CHECK)
		vqp_attachment_check(args, config, &wish, error);
	else
		vqp_network_status(config, error);
	vqp_wish_clear(&wish);
	return error->code;
}

static int run(const struct vqp_args *args, struct vqp_config *config, struct vqp_error *error)
{
	json_t *json;

	if (vqp_config_load(stdin, &json, error) ||
	    vqp_config_parse(config, json, error) ||
	    vqp_args_check(args, error) ||
	    check_command(args, config, error))
		return error->code;
	return run_command(args, config, error);
}

int main(int argc, char **argv)
{
	struct vqp_config config = { .version = VQP_VERSION_LATEST };
	const char *command = getenv("CNI_COMMAND");
	struct vqp_error error = { 0 };
	struct vqp_args args;
	int failed;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(about, stdout);
		return 0;
	}
	if (!command || !*command) {
		fputs(about, stderr);
		return 0;
	}
	signal(SIGPIPE, SIG_IGN);	/* If the result cannot be written, ADD is undone. */
	if (!vqp_args_read(&args, &error)) {
		if (args.command == VQP_COMMAND_VERSION)
			version(&error);
		else
			run(&args, &config, &error);
	}

	failed = error.code != VQP_CNI_ERROR_NONE;
	if (failed)
		vqp_cni_error_print(&error, vqp_version_text(config.version), stdout);
	vqp_error_clear(&error);
	vqp_config_clear(&config);
	return failed;
}
