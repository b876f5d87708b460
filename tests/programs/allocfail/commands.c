// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The netlink family. Here an answer may get lost, too: the command was carried
 * out, and the caller hears ENOBUFS. It can safely be given again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "admin.h"
#include "main.h"
#include "run.h"

#define SPARE_NETNS	"/run/netns/allocfail-spare"	/* a network namespace without a VQP namespace */
#define SPARE_TENANT	424242
#define SPARE_ADDRESS	"10.42.42.42"

/* ---- Namespaces ---- */

static json_t *spare_key(void)
{
	return json_pack("{s:i, s:s}", "tenant", SPARE_TENANT, "gid", "::ffff:" SPARE_ADDRESS);
}

/* The spare namespace as it is listed, or NULL. */
static json_t *spare_get(void)
{
	json_t *list, *item, *found = NULL;
	size_t i;
	int err = admin_dump(VQP_CMD_NS_GET, &list);

	if (err)
		die(err, "NS_GET");
	json_array_foreach(list, i, item)
		if (json_integer_value(json_object_get(item, "tenant")) == SPARE_TENANT)
			found = json_incref(item);
	json_decref(list);
	return found;
}

static bool spare_exists(void)
{
	json_t *spare = spare_get();
	const bool exists = spare;

	json_decref(spare);
	return exists;
}

static void spare_open(struct stage *s, const struct run_case *c)
{
	(void)c;
	s->new_fd = open(SPARE_NETNS, O_RDONLY | O_CLOEXEC);
	if (s->new_fd < 0)
		die(errno, SPARE_NETNS);
}

static int add_call(struct stage *s, const struct run_case *c)
{
	json_t *request = spare_key();
	int err;

	(void)c;
	json_object_set_new(request, "netns_fd", json_integer(s->new_fd));
	json_object_set_new(request, "name", json_string("spare"));
	err = admin_do(VQP_CMD_NS_ADD, request, NULL);
	json_decref(request);
	return err;
}

static void add_verify(struct stage *s, const struct run_case *c)
{
	(void)s;
	(void)c;
	if (!spare_exists())
		die(0, "no namespace was added");
}

static int del(void)
{
	json_t *request = spare_key();
	int err = admin_do(VQP_CMD_NS_DEL, request, NULL);

	json_decref(request);
	return err;
}

static void spare_end(struct stage *s)
{
	int err = del();

	(void)s;
	if (err && err != ENOENT)
		die(err, "NS_DEL");
}

static void del_prepare(struct stage *s, const struct run_case *c)
{
	int err;

	spare_open(s, c);
	err = add_call(s, c);
	if (err)
		die(err, "NS_ADD");
}

/* Given again after its answer was lost, it finds nothing any more. */
static int del_call(struct stage *s, const struct run_case *c)
{
	const bool again = s->new_number++;
	int err = del();

	(void)c;
	return err == ENOENT && again ? 0 : err;
}

static void del_verify(struct stage *s, const struct run_case *c)
{
	(void)s;
	(void)c;
	if (spare_exists())
		die(0, "the namespace is still there");
}

static int set_call(struct stage *s, const struct run_case *c)
{
	json_t *request = spare_key();
	int err;

	(void)s;
	(void)c;
	json_object_set_new(request, "max_vqps", json_integer(7));
	json_object_set_new(request, "sockets", json_pack("{s:[s, s]}", "only", "80", "10.7.0.0/16"));
	err = admin_do(VQP_CMD_NS_SET, request, NULL);
	json_decref(request);
	return err;
}

static void set_verify(struct stage *s, const struct run_case *c)
{
	json_t *spare = spare_get();

	(void)s;
	(void)c;
	if (json_integer_value(json_object_get(spare, "max_vqps")) != 7)
		die(0, "no limit was set");
	json_decref(spare);
}

/* ---- Lists ---- */

/* Something of each kind is there. */
static void list_prepare(struct stage *s, const struct run_case *c)
{
	(void)c;
	stage_context(s);
	stage_queues(s);
	stage_memory(s);
	stage_link(s, true);
}

static int status_call(struct stage *s, const struct run_case *c)
{
	json_t *status;
	int err = admin_do(VQP_CMD_STATUS_GET, NULL, &status);

	(void)s;
	(void)c;
	if (!err)
		json_decref(status);
	return err;
}

static int list_call(struct stage *s, const struct run_case *c)
{
	json_t *list;
	int err = admin_dump(c->opcode, &list);

	(void)s;
	if (err)
		return err;
	if (!json_array_size(list))
		die(0, "an empty list");
	json_decref(list);
	return 0;
}

/* ---- Meta servers and the cache ---- */

static int flush_call(struct stage *s, const struct run_case *c)
{
	(void)s;
	(void)c;
	return admin_do(VQP_CMD_CACHE_FLUSH, NULL, NULL);
}

static json_t *servers;

static json_t *servers_now(void)
{
	json_t *list;
	int err = admin_dump(VQP_CMD_META_GET, &list);

	if (err)
		die(err, "META_GET");
	return list;
}

/* The servers it has. It connects to them anew. */
static void servers_prepare(struct stage *s, const struct run_case *c)
{
	(void)s;
	(void)c;
	if (!servers)
		servers = servers_now();
	if (!json_array_size(servers))
		die(0, "the node has no meta server");
}

static int servers_call(struct stage *s, const struct run_case *c)
{
	json_t *request = json_pack("{s:O}", "meta", servers);
	int err = admin_do(VQP_CMD_META_SET, request, NULL);

	(void)s;
	(void)c;
	json_decref(request);
	return err;
}

static void servers_verify(struct stage *s, const struct run_case *c)
{
	json_t *list = servers_now();

	(void)s;
	(void)c;
	if (!json_equal(list, servers))
		die(0, "the meta servers have changed");
	json_decref(list);
}

/* The state is compared with one in which the node is connected to them. */
static void servers_end(struct stage *s)
{
	int err = servers_call(s, NULL);

	if (err)
		die(err, "META_SET");
}

/* Connecting ahead of the first lookup, which otherwise does it. */
#define OPTIONAL_CONNECT	"vqp_alloc vqp_number_take vqp_number_take:xas_nomem "

#define LIST(name_, cmd) \
	{ .name = (name_), .prepare = list_prepare, .call = list_call, .verify = run_nothing, .opcode = (cmd) }

const struct run_case commands[] = {
	{ .name = "ns-add", .prepare = spare_open, .call = add_call, .verify = add_verify,
	  .partly = run_nothing, .end = spare_end },
	{ .name = "ns-del", .prepare = del_prepare, .call = del_call, .verify = del_verify,
	  .partly = run_nothing, .end = spare_end },
	{ .name = "ns-set", .prepare = del_prepare, .call = set_call, .verify = set_verify,
	  .partly = run_nothing, .end = spare_end },
	{ .name = "status", .prepare = list_prepare, .call = status_call, .verify = run_nothing },
	LIST("ns-list", VQP_CMD_NS_GET),
	LIST("vqp-list", VQP_CMD_VQP_GET),
	LIST("peer-list", VQP_CMD_PEER_GET),
	LIST("meta-list", VQP_CMD_META_GET),
	LIST("cache-list", VQP_CMD_CACHE_GET),
	{ .name = "cache-flush", .prepare = list_prepare, .call = flush_call, .verify = run_nothing },
	{ .name = "meta-set", .prepare = servers_prepare, .call = servers_call, .verify = servers_verify,
	  .partly = servers_verify,
	  .end = servers_end, .optional = OPTIONAL_CONNECT },
	{ 0 }
};
