/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../../common/error.h"
#include "../reply.h"
#include "ctl.h"

static int exit_status(int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
		return EX_NOPERM;
	case EINVAL:
	case ENAMETOOLONG:
		return EX_USAGE;
	case ENOENT:
		return EX_NOINPUT;
	case EEXIST:
	case EADDRINUSE:
		return EX_CANTCREAT;
	case EHOSTUNREACH:
		return EX_NOHOST;
	case ENOPKG:
	case ENONET:
	case ENETDOWN:
	case ECONNREFUSED:
		return EX_UNAVAILABLE;
	case ETIMEDOUT:
		return EX_TEMPFAIL;
	case EPROTO:
		return EX_PROTOCOL;
	default:
		return EX_OSERR;
	}
}

int ctl_fail(const struct ctl_args *args, int err, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list list;
	int n;

	va_start(list, format);
	n = vasprintf(&text, format, list);
	va_end(list);
	if (n < 0)
		text = NULL;
	warnx("%s", text ? text : "out of memory");
	if (args->json)
		ctl_print_json(vqp_reply_error(err, "%s", text ? text : "out of memory"));
	return exit_status(abs(err));
}

int ctl_print_json(json_t *json)
{
	int ret = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) || puts("") < 0 || fflush(stdout);

	json_decref(json);
	if (ret)
		warnx("cannot write the answer");
	return ret ? EX_IOERR : 0;
}

static int ask(enum vqp_cmd cmd, const json_t *request, json_t **reply, bool dump, struct vqp_error *error)
{
	struct vqp_netlink netlink;
	int ret = vqp_netlink_open(&netlink);

	if (ret)
		return vqp_error_set(error, ret, "no netlink socket: %s", strerror(-ret));
	ret = dump ? vqp_netlink_dump(&netlink, cmd, reply) : vqp_netlink_do(&netlink, cmd, request, reply);
	if (ret == -EPERM)
		vqp_error_set(error, ret, "this needs CAP_NET_ADMIN in the host's user namespace: run as root");
	else if (ret)
		vqp_error_set(error, ret, "%s", vqp_netlink_error(&netlink));
	vqp_netlink_close(&netlink);
	return ret;
}

int ctl_ask_status(json_t **status, struct vqp_error *error)
{
	*status = NULL;
	return ask(VQP_CMD_STATUS_GET, NULL, status, false, error);
}

static int request(const struct ctl_args *args, enum vqp_cmd cmd, const json_t *request, json_t **reply, bool dump)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret = ask(cmd, request, reply, dump, &error);

	return ret ? ctl_fail(args, ret, "%s", vqp_error_text(&error)) : 0;
}

int ctl_do(const struct ctl_args *args, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	return request(args, cmd, attrs, reply, false);
}

int ctl_dump(const struct ctl_args *args, enum vqp_cmd cmd, json_t **list)
{
	return request(args, cmd, NULL, list, true);
}

int ctl_put_key(const struct ctl_args *args, json_t *object)
{
	char text[VQP_ADDRESS_TEXT];
	uint8_t gid[16];

	if (!args->has_tenant || !args->address)
		return ctl_fail(args, EINVAL, "--tenant and --address belong together");
	if (vqp_address_parse(args->address, gid))
		return ctl_fail(args, EINVAL, "--address takes a literal IPv4 or IPv6 address, not '%s'", args->address);
	json_object_set_new(object, "tenant", json_integer(args->tenant));
	json_object_set_new(object, "gid", json_string(vqp_address_format(gid, text)));
	return 0;
}
