/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../../common/name.h"
#include "../../common/netns.h"
#include "../log.h"
#include "../reply.h"
#include "add.h"
#include "judge.h"
#include "request.h"
#include "watch.h"

#define OPS	"add, del, list, policy, status"

static bool is_of_another_tenant(const struct vqp_entry *entry, const struct vqp_request *request)
{
	return entry->tenant != request->terms.tenant;
}

/*
 * Does the entry conflict with the request? An address belongs to one attachment, because the DEL
 * of another might come earlier; and an attachment has one address, or else two of its ADDs were
 * not the same.
 */
static bool is_of_another_attachment(const struct vqp_entry *entry, const struct vqp_request *request)
{
	bool same_address = entry->tenant == request->terms.tenant && !memcmp(entry->gid, request->gid, sizeof(entry->gid));
	json_auto_t *attachment = vqp_name_split(entry->name);

	return attachment && same_address != vqp_name_same(entry->name, request->name);
}

/* Returns an entry of the request's network namespace that conflicts with the request, or NULL. */
static const struct vqp_entry *find_in_netns(const struct vqpd *d, uint32_t ino, const struct vqp_request *request,
					     bool (*hinders)(const struct vqp_entry *entry,
							     const struct vqp_request *request))
{
	const struct vqp_entry *e = NULL;

	while ((e = vqp_registry_next(&d->registry, e)))
		if (e->netns_ino == ino && hinders(e, request))
			break;
	return e;
}

static json_t *refuse(const struct vqp_entry *other, const struct vqp_request *request)
{
	char gid[VQP_ADDRESS_TEXT];

	vqp_address_format(other->gid, gid);
	return vqp_reply_error(EEXIST, "the network namespace of %s already has a VQP namespace (%s, tenant %u, "
			       "address %s): all that it has are of one tenant, and each of one attachment with one "
			       "address. DEL that first, or vqpctl ns del --tenant %u --address %s", request->name,
			       other->name, other->tenant, gid, other->tenant, gid);
}

/* Returns the kernel's refusal as an answer that names the conflicting entry. */
static json_t *explain(struct vqpd *d, int ret, const struct vqp_request *request, uint32_t ino)
{
	const struct vqp_entry *other = NULL;
	char gid[VQP_ADDRESS_TEXT];

	if (ret == -EEXIST) {
		other = find_in_netns(d, ino, request, is_of_another_tenant);
		if (other)
			return refuse(other, request);
	} else if (ret == -EADDRINUSE) {
		other = vqp_registry_find(&d->registry, request->terms.tenant, request->gid);
	}
	if (!other)
		return vqp_reply_error(ret, "%s", vqp_netlink_error(&d->netlink));
	return vqp_reply_error(ret, "tenant %u's address %s is taken on this node by %s: "
			       "give every container its own, or vqpctl ns del --tenant %u --address %s",
			       request->terms.tenant, vqp_address_format(other->gid, gid), other->name, other->tenant, gid);
}

static struct vqp_entry *find_same(struct vqpd *d, const struct vqp_request *request, uint32_t ino)
{
	struct vqp_entry *entry = vqp_registry_find(&d->registry, request->terms.tenant, request->gid);

	return entry && entry->netns_ino == ino ? entry : NULL;
}

/*
 * Returns a conflicting entry, after a new look at the kernel if there is one, because it may have
 * gone since.
 */
static const struct vqp_entry *in_the_way(struct vqpd *d, const struct vqp_request *request, uint32_t ino)
{
	if (!find_same(d, request, ino) && !find_in_netns(d, ino, request, is_of_another_attachment))
		return NULL;
	vqp_watch_look(d);
	return find_in_netns(d, ino, request, is_of_another_attachment);
}

/*
 * Makes the namespace. If vqpd does not know it, the kernel must not either: vqpd would undo a
 * namespace that an administrator has made since the last look.
 */
static int make(struct vqpd *d, const struct vqp_request *request, uint32_t ino, const json_t *attrs, bool *made)
{
	*made = !find_same(d, request, ino);
	return *made ? vqp_netlink_make(&d->netlink, VQP_CMD_NS_ADD, attrs)
		     : vqp_netlink_do(&d->netlink, VQP_CMD_NS_ADD, attrs, NULL);
}

/* Answers a request whose network namespace has not come, by what vqp_line_take_fd() returned. */
static json_t *refuse_fd(int ret)
{
	switch (ret) {
	case -ENOENT:
		return vqp_reply_error(EINVAL, "the descriptor of the network namespace has not come with the "
				       "request: is the client of another version than vqpd?");
	case -EINVAL:
		return vqp_reply_error(ret, "the descriptor is not of a network namespace");
	default:
		return vqp_reply_error(ret, "vqpd cannot take the descriptor: several came, vqpd has too many files "
				       "open, or a security module (SELinux, AppArmor) forbids it");
	}
}

/* Decides the terms of a request, whose network namespace has come. Returns NULL, or the refusal. */
static json_t *judge(struct vqpd *d, struct vqp_request *request, int netns_fd)
{
	json_t *refusal;

	if (netns_fd < 0)
		return refuse_fd(netns_fd);
	refusal = vqp_judge_claim(d, &request->claim, &request->terms, &request->rule);
	if (!refusal && vqp_address_parse(request->terms.address, request->gid))
		refusal = vqp_reply_error(EINVAL, "\"%s\" is no address", request->terms.address);
	return refusal;
}

/* Returns what the kernel is to be told of a namespace, a new object; NULL without memory. */
static json_t *make_attrs(const struct vqp_request *request, int netns_fd)
{
	json_t *attrs = json_pack("{s:i, s:I, s:s, s:s}", "netns_fd", netns_fd, "tenant", (json_int_t)request->terms.tenant,
				  "gid", request->terms.address, "name", request->name);

	if (attrs && !json_object_update(attrs, request->terms.limits) &&
	    !json_object_set(attrs, "sockets", request->terms.sockets))
		return attrs;
	json_decref(attrs);
	return NULL;
}

/* Carries out an add whose terms have been decided. Returns NULL if its client waits, or the refusal. */
static json_t *carry_out(struct vqpd *d, struct vqp_client *client, const struct vqp_request *request, int netns_fd)
{
	json_auto_t *attrs = make_attrs(request, netns_fd);
	const uint32_t ino = vqp_netns_inode(netns_fd);
	const struct vqp_entry *other = in_the_way(d, request, ino);
	struct vqp_entry *entry;
	bool made;
	int ret;

	if (other)
		return refuse(other, request);
	if (!attrs)
		return vqp_reply_error(ENOMEM, "out of memory");
	ret = make(d, request, ino, attrs, &made);
	if (ret == -EEXIST || ret == -EADDRINUSE) {
		/* A conflicting namespace may have come or gone since the last look. */
		vqp_watch_look(d);
		ret = make(d, request, ino, attrs, &made);
	}
	if (ret)
		return explain(d, ret, request, ino);
	entry = vqp_registry_add(&d->registry, request->terms.tenant, request->gid);
	if (!entry)
		return vqp_reply_error(ENOMEM, "out of memory");
	if (made) {
		entry->netns_ino = ino;
		strcpy(entry->name, request->name);
		entry->due = entry->fresh = UINT32_MAX;
		entry->held = entry->refused = 0;
	}
	vqp_add_wait(d, client, request, made);
	return NULL;
}

static void serve_add(struct vqpd *d, struct vqp_client *client, const json_t *object, int netns_fd)
{
	cleanup_request struct vqp_request request = { 0 };
	json_t *refusal = vqp_request_check_add(object, &request);

	if (!refusal)
		refusal = judge(d, &request, netns_fd);
	if (!refusal)
		refusal = carry_out(d, client, &request, netns_fd);
	if (refusal)
		vqp_server_answer(client, refusal);
}

/*
 * Deletes the namespaces of an attachment, by their name. If a network namespace comes with the
 * request, it must be theirs, because two runtimes may have containers of the same name.
 */
static json_t *serve_del(struct vqpd *d, const struct vqp_request *request, int netns_fd)
{
	uint32_t ino = netns_fd >= 0 ? vqp_netns_inode(netns_fd) : 0;
	struct vqp_entry *entry, *next;
	int ret, deleted = 0;

	/* Without it the request would be about every network namespace. */
	if (netns_fd < 0 && (netns_fd != -ENOENT || request->has_netns))
		return refuse_fd(netns_fd);
	ret = vqp_watch_look(d);
	if (ret && ret != -ENOPKG)
		return vqp_reply_error(ret, "%s", vqp_netlink_error(&d->netlink));
	for (entry = vqp_registry_next(&d->registry, NULL); entry; entry = next) {
		json_auto_t *item = NULL;

		next = vqp_registry_next(&d->registry, entry);
		if (!entry->tenant || !vqp_name_same(entry->name, request->name) || (netns_fd >= 0 && ino != entry->netns_ino))
			continue;
		item = vqp_entry_item(entry);
		ret = vqp_netlink_delete(&d->netlink, item);
		if (ret && ret != -ENOENT)
			return vqp_reply_error(ret, "%s", vqp_netlink_error(&d->netlink));
		deleted += !ret;
		for (unsigned int i = 0; i < d->nmetas; i++)
			vqp_meta_withdraw(&d->metas[i], entry);
		vqp_registry_remove(&d->registry, entry);
	}
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_run(&d->metas[i]);
	/* Adds that waited for it are settled before another attachment can get the address. */
	vqp_add_settle(d);
	return json_pack("{s:b, s:i}", "ok", 1, "deleted", deleted);
}

static json_t *serve_list(struct vqpd *d)
{
	json_t *list = NULL, *item;
	size_t i;
	int ret = vqp_netlink_dump(&d->netlink, VQP_CMD_NS_GET, &list);

	if (ret)
		return vqp_reply_error(ret, "%s", vqp_netlink_error(&d->netlink));
	json_array_foreach(list, i, item) {
		const struct vqp_entry *entry = vqp_registry_find_key(&d->registry, item);

		vqp_name_tell(item);
		json_object_set_new(item, "published", json_boolean(entry && entry->held));
	}
	return json_pack("{s:b, s:o}", "ok", 1, "namespaces", list);
}

static json_t *serve_status(struct vqpd *d)
{
	unsigned int namespaces = d->registry.count - (d->meta_owner.dct ? 1 : 0);
	json_t *metas = json_array();

	for (unsigned int i = 0; i < d->nmetas; i++) {
		const struct vqp_meta *meta = &d->metas[i];
		bool up = meta->state == VQP_META_UP;

		const char *error = up || !meta->error[0] ? NULL : meta->error;

		if (meta->lookup_trouble)
			error = meta->lookup_trouble;
		json_array_append_new(metas, json_pack("{s:s, s:b, s:s*}", "server", meta->name, "up", up,
						       "error", error));
	}
	return json_pack("{s:b, s:b, s:i, s:b, s:o, s:o, s:o, s:I, s:I}", "ok", 1, "module", d->status != NULL,
			 "namespaces", namespaces, "meta_key", d->key != NULL,
			 "node", d->meta_owner.dct ? json_incref(d->meta_owner.dct) : json_null(),
			 "meta", metas, "policy", vqp_judge_tell(d), "lease_s", (json_int_t)d->meta_owner.lease_s,
			 "uptime_ms", (json_int_t)(vqp_loop_now_ms() - d->started_ms));
}

static json_t *serve_now(struct vqpd *d, const char *op, const json_t *object, int netns_fd)
{
	struct vqp_request request;
	json_t *answer;

	if (!strcmp(op, "del")) {
		answer = vqp_request_check_del(object, &request);
		return answer ? answer : serve_del(d, &request, netns_fd);
	}
	if (!strcmp(op, "list"))
		return serve_list(d);
	if (!strcmp(op, "status"))
		return serve_status(d);
	if (!strcmp(op, "policy"))
		return vqp_judge_answer(d, object);
	return vqp_reply_error(EOPNOTSUPP, "%s is none of " OPS, op);
}

void vqp_request_serve(struct vqp_client *client, json_t *object)
{
	cleanup_close int netns_fd = vqp_line_take_fd(&client->line);
	struct vqpd *d = client->server->owner;
	const char *op = json_string_value(json_object_get(object, "op"));
	const char *id = json_string_value(json_object_get(object, "id"));

	if (op)
		vqp_log(LOG_DEBUG, "asked to %.10s%s%.128s", op, id ? " " : "", id ? id : "");
	if (!op)
		vqp_server_answer(client, vqp_reply_error(EINVAL, "op is missing: one of " OPS));
	else if (!strcmp(op, "add"))
		serve_add(d, client, object, netns_fd);
	else
		vqp_server_answer(client, serve_now(d, op, object, netns_fd));
}

void vqp_request_refused(const struct vqp_client *client, const json_t *reply)
{
	struct vqpd *d = client->server->owner;
	const char *op = json_string_value(json_object_get(client->request, "op"));
	const char *id = json_string_value(json_object_get(client->request, "id"));
	const char *ifname = json_string_value(json_object_get(client->request, "ifname"));

	/* A question is not a container that has been refused. */
	if (op && !strcmp(op, "policy"))
		return;
	if (op && id && ifname)
		vqp_log_limited(&d->refusals, vqp_loop_now_ms(), LOG_WARNING, "refused to %.10s %.128s/%.16s: %s", op, id, ifname,
			     vqp_reply_text(reply));
	else
		vqp_log_limited(&d->refusals, vqp_loop_now_ms(), LOG_WARNING, "refused a request: %s", vqp_reply_text(reply));
}

void vqp_request_gone(struct vqp_client *client)
{
	vqp_add_cancel(client->server->owner, client);
}
