// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp, the chained CNI plugin: gives the container's network namespace a VQP
 * namespace with the address that the plugins before it gave the interface.
 *
 * It keeps nothing itself: vqpd makes the VQP namespace, and the kernel ends
 * it with the network namespace, whether DEL comes or not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../node/address.h"
#include "../node/client.h"
#include "../oci-hook/namespace.h"
#include "args.h"
#include "config.h"
#include "error.h"
#include "result.h"

static const char about[] =
	"vqp, a chained CNI plugin: virtual RDMA queue pairs for the container.\n"
	"Put {\"type\": \"vqp\"} behind the plugin that gives the address. Keys: \"tenant\" (1 to\n"
	"4294967295, 1 if not given), \"limits\" (an object of \"max_vqps\", \"max_mrs\" and \"max_bytes\",\n"
	"each optional), \"vqpd\" (its socket, " VQPD_SOCKET_PATH " if not given).\n"
	"CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n";

static int print(const json_t *json, struct vqp_error *error)
{
	if (json_dumpf(json, stdout, JSON_INDENT(4)) || putchar('\n') == EOF || fflush(stdout))
		return vqp_error_set(error, VQP_ERROR_IO, "cannot write the result: %s", strerror(errno));
	return 0;
}

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

/* So that errors of vqpd are never about a path that the caller got wrong. */
static int check_netns(const struct vqp_args *args, struct vqp_error *error)
{
	struct stat own, given;

	if (stat(args->netns, &given))
		return vqp_error_set(error, VQP_ERROR_ENVIRONMENT, "CNI_NETNS %s: %s",
				     args->netns, strerror(errno));
	if (stat("/proc/self/ns/net", &own))
		return vqp_error_set(error, VQP_ERROR_IO, "/proc/self/ns/net: %s", strerror(errno));
	if (given.st_ino == own.st_ino && given.st_dev == own.st_dev)
		return vqp_error_set(error, VQP_ERROR_ENVIRONMENT,
				     "CNI_NETNS %s is the host's network namespace", args->netns);
	return 0;
}

/* The result of the plugins before this one, and the address that they gave. */
static json_t *previous(const struct vqp_args *args, const struct vqp_config *config, char *address,
			struct vqp_error *error)
{
	json_auto_t *result = NULL;

	if (!config->prev_result) {
		vqp_error_set(error, VQP_ERROR_CONFIG,
			      "no prevResult: vqp is a chained plugin, put it behind bridge, ptp or the like");
		return NULL;
	}
	result = vqp_result_parse(config->prev_result, config->version, error);
	if (!result || vqp_result_address(result, args->ifname, address, error))
		return NULL;
	return json_incref(result);
}

static int add(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *result = NULL, *out = NULL, *request = NULL, *reply = NULL;
	char address[INET6_ADDRSTRLEN], *why = NULL;
	int ret;

	if (check_netns(args, error))
		return error->code;
	result = previous(args, config, address, error);
	if (!result)
		return error->code;
	/* Before anything is made, so that what cannot be answered leaves nothing behind. */
	out = vqp_result_format(result, config->version, error);
	if (!out)
		return error->code;

	request = json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:O*}", "op", "add", "id", args->container_id,
			    "ifname", args->ifname, "netns", args->netns, "tenant", (json_int_t)config->tenant,
			    "address", address, "limits", config->limits);
	ret = vqpd_call(config->vqpd, request, &reply, &why);
	if (ret)
		vqp_error_detail(error, code_of_errno(-ret), why, "cannot make the VQP namespace of %s", address);
	free(why);
	if (ret)
		return error->code;
	return print(out, error);
}

/*
 * With vqpd away there is nothing to undo that does not end by itself: the
 * kernel ends the VQP namespace with the network namespace, and vqpd compares
 * its records with the kernel when it comes back. Failing would only keep the
 * container from being cleaned up.
 */
static int del(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *request = NULL, *reply = NULL;
	char *why = NULL;
	int ret;

	request = json_pack("{s:s, s:s, s:s, s:s*}", "op", "del", "id", args->container_id,
			    "ifname", args->ifname, "netns", *args->netns ? args->netns : NULL);
	ret = vqpd_call(config->vqpd, request, &reply, &why);
	if (ret && code_of_errno(-ret) == VQP_ERROR_TRY_AGAIN)
		fprintf(stderr, "vqp: DEL without vqpd, the kernel cleans up: %s\n", why ? why : "");
	else if (ret)
		vqp_error_detail(error, code_of_errno(-ret), why, "cannot delete the VQP namespace");
	free(why);
	return error->code;
}

static int check(const struct vqp_args *args, const struct vqp_config *config, struct vqp_error *error)
{
	char address[INET6_ADDRSTRLEN], *why = NULL;
	json_auto_t *result = NULL;
	struct vqp_namespace found;
	uint8_t gid[VQP_GID_BYTES];
	int ret;

	if (config->version < VQP_VERSION_0_4_0)
		return vqp_error_set(error, VQP_ERROR_VERSION, "CHECK came with cniVersion 0.4.0, this is %s",
				     vqp_version_text(config->version));
	if (check_netns(args, error))
		return error->code;
	result = previous(args, config, address, error);
	if (!result)
		return error->code;

	ret = vqp_namespace_enter(args->netns, &why);
	if (!ret)
		ret = vqp_namespace_query(&found, &why);
	if (ret)
		vqp_error_detail(error, VQP_ERROR_CHECK, why, "the VQP namespace of %s is missing", address);
	else if (vqp_address_parse(address, gid) || found.tenant != config->tenant ||
		 memcmp(found.gid, gid, sizeof(gid)))
		vqp_error_set(error, VQP_ERROR_CHECK, "the VQP namespace is not that of %s in tenant %u",
			      address, config->tenant);
	free(why);
	return error->code;
}

/* Answers whatever the input: a runtime asks this to find out what it may write. */
static int version(struct vqp_error *error)
{
	json_auto_t *config = NULL, *answer = NULL;
	const char *asked;

	vqp_config_read(stdin, &config, error);
	vqp_error_clear(error);
	asked = json_string_value(json_object_get(config, "cniVersion"));
	answer = json_pack("{s:s, s:o}", "cniVersion", asked ? asked : vqp_version_text(VQP_VERSION_LATEST),
			   "supportedVersions", vqp_version_list());
	return print(answer, error);
}

static int run(const struct vqp_args *args, struct vqp_config *config, struct vqp_error *error)
{
	json_t *json;

	if (vqp_config_read(stdin, &json, error) ||
	    vqp_config_parse(config, json, error) ||
	    vqp_args_check(args, error))
		return error->code;
	switch (args->command) {
	case VQP_COMMAND_ADD:
		return add(args, config, error);
	case VQP_COMMAND_DEL:
		return del(args, config, error);
	case VQP_COMMAND_CHECK:
		return check(args, config, error);
	default:
		return vqp_error_set(error, VQP_ERROR_VERSION, "GC and STATUS (CNI 1.1.0) are not supported");
	}
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
	if (!vqp_args_read(&args, &error)) {
		if (args.command == VQP_COMMAND_VERSION)
			version(&error);
		else
			run(&args, &config, &error);
	}

	failed = error.code != VQP_ERROR_NONE;
	if (failed)
		vqp_error_print(&error, vqp_version_text(config.version), stdout);
	vqp_error_clear(&error);
	vqp_config_clear(&config);
	return failed;
}
