/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../../common/address.h"
#include "../reply.h"
#include "answer.h"

/* Reads an unsigned number of at most `max`. */
static bool get_number(const json_t *object, const char *name, uint32_t max, uint32_t *number)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > max)
		return false;
	*number = json_integer_value(value);
	return true;
}

/* Reads a GID, which must not be unspecified: all zeros mark an empty slot. */
static bool get_gid(const json_t *object, const char *name, uint8_t gid[16])
{
	static const uint8_t unspecified[16];
	const char *text = json_string_value(json_object_get(object, name));

	return text && !vqp_address_parse(text, gid) && memcmp(gid, unspecified, sizeof(unspecified));
}

static bool get_dct(const json_t *node, struct vqp_dct *dct)
{
	const json_t *lanes = json_object_get(node, "lanes"), *lane;
	size_t i;

	memset(dct, 0, sizeof(*dct));
	if (!get_gid(node, "node_gid", dct->node_gid) ||
	    !get_number(node, "epoch", UINT32_MAX, &dct->epoch) ||
	    !get_number(node, "qkey", UINT32_MAX, &dct->qkey))
		return false;
	dct->lanes = json_array_size(lanes);
	if (dct->lanes < 1 || dct->lanes > VQP_WIRE_LANES_MAX)
		return false;
	json_array_foreach(lanes, i, lane) {
		json_int_t qpn = json_integer_value(lane);

		if (!json_is_integer(lane) || qpn < 0 || qpn > 0xffffff)
			return false;
		dct->qpn[i] = qpn;
	}
	return true;
}

static bool get_key(const json_t *entry, uint32_t *tenant, uint8_t gid[16])
{
	return get_number(entry, "tenant", UINT32_MAX, tenant) && get_gid(entry, "gid", gid);
}

/* Returns the entries of a request; NULL unless all are well-formed. */
static const json_t *get_entries(const json_t *request)
{
	const json_t *entries = json_object_get(request, "entries"), *entry;
	uint8_t gid[16];
	uint32_t tenant;
	size_t i;

	if (!json_is_array(entries))
		return NULL;
	json_array_foreach(entries, i, entry)
		if (!get_key(entry, &tenant, gid))
			return NULL;
	return entries;
}

static json_t *refusal(const json_t *entry, int err)
{
	const char *text = err == -EADDRINUSE ? "another node has announced this address since"
			 : err == -ENOSPC ? "the meta server's table is full: start vqp-metad with more --buckets"
			 : strerror(-err);
	json_t *object = vqp_reply_error(err, "%s", text);

	json_object_set(object, "tenant", json_object_get(entry, "tenant"));
	json_object_set(object, "gid", json_object_get(entry, "gid"));
	return object;
}

/* Two nodes that have the same address take it from each other with each container: somebody should know. */
static void note_takeover(struct vqp_metad *metad, uint32_t tenant, const uint8_t gid[16], const uint8_t from[16],
			  const uint8_t to[16], uint64_t now_ms)
{
	char address[VQP_ADDRESS_TEXT], former[VQP_ADDRESS_TEXT], node[VQP_ADDRESS_TEXT];

	metad->takeovers++;
	vqp_log_limited(&metad->log, now_ms, LOG_WARNING, "tenant %u's address %s: node %s takes it over from node %s", tenant,
		     vqp_address_format(gid, address), vqp_address_format(to, node), vqp_address_format(from, former));
}

/* Announces one entry of a request. 0 or a negative errno value. */
static int take(struct vqp_metad *metad, const json_t *entry, const struct vqp_dct *dct, uint32_t lease_s, uint64_t now_ms)
{
	uint8_t gid[16], former[16];
	const uint8_t *owner;
	uint32_t tenant;
	bool displaces;
	int ret;

	if (!get_key(entry, &tenant, gid))
		return -EINVAL;
	owner = vqp_table_owner(&metad->table, tenant, gid, now_ms);
	displaces = owner && memcmp(owner, dct->node_gid, sizeof(dct->node_gid));
	if (displaces)
		memcpy(former, owner, sizeof(former));
	ret = vqp_table_announce(&metad->table, tenant, gid, dct, json_is_true(json_object_get(entry, "new")),
				 lease_s * 1000ULL, now_ms);
	if (!ret && displaces)
		note_takeover(metad, tenant, gid, former, dct->node_gid, now_ms);
	return ret;
}

static json_t *announce(struct vqp_metad *metad, const json_t *request, uint64_t now_ms)
{
	const json_t *entries = get_entries(request), *entry;
	json_t *refused;
	struct vqp_dct dct;
	uint32_t lease_s;
	size_t i, taken = 0;

	if (!get_number(request, "lease_s", VQP_METAD_LEASE_MAX_S, &lease_s) || !lease_s)
		return vqp_reply_error(EINVAL, "lease_s is 1 to %d seconds", VQP_METAD_LEASE_MAX_S);
	if (!get_dct(json_object_get(request, "node"), &dct))
		return vqp_reply_error(EINVAL, "node needs node_gid, epoch, qkey and 1 to %d lanes", VQP_WIRE_LANES_MAX);
	if (!entries)
		return vqp_reply_error(EINVAL, "each of entries needs a tenant and a gid");

	refused = json_array();
	json_array_foreach(entries, i, entry) {
		int ret = take(metad, entry, &dct, lease_s, now_ms);

		if (ret)
			json_array_append_new(refused, refusal(entry, ret));
		else
			taken++;
	}
	metad->announced += taken;
	metad->announced_refused += json_array_size(entries) - taken;
	return json_pack("{s:b, s:I, s:o}", "ok", 1, "taken", (json_int_t)taken, "refused", refused);
}

static json_t *withdraw(struct vqp_metad *metad, const json_t *request)
{
	const json_t *entries = get_entries(request), *entry;
	uint8_t node_gid[16];
	size_t i, removed = 0;

	if (!get_gid(json_object_get(request, "node"), "node_gid", node_gid))
		return vqp_reply_error(EINVAL, "node needs its node_gid");
	if (!entries)
		return vqp_reply_error(EINVAL, "each of entries needs a tenant and a gid");
	json_array_foreach(entries, i, entry) {
		uint8_t gid[16];
		uint32_t tenant;

		if (get_key(entry, &tenant, gid))
			removed += !vqp_table_withdraw(&metad->table, tenant, gid, node_gid);
	}
	metad->withdrawn += removed;
	metad->withdrawn_refused += json_array_size(entries) - removed;
	return json_pack("{s:b, s:I}", "ok", 1, "removed", (json_int_t)removed);
}

static json_t *describe(const struct vqp_table_entry *entry, uint64_t now_ms)
{
	uint64_t left_ms = entry->expires_ms > now_ms ? entry->expires_ms - now_ms : 0;
	char gid[VQP_ADDRESS_TEXT], node_gid[VQP_ADDRESS_TEXT];

	return json_pack("{s:I, s:s, s:s, s:I, s:I}", "tenant", (json_int_t)entry->tenant,
			 "gid", vqp_address_format(entry->gid, gid),
			 "node_gid", vqp_address_format(entry->dct.node_gid, node_gid),
			 "epoch", (json_int_t)entry->dct.epoch,
			 "lease_left_ms", (json_int_t)left_ms);
}

static json_t *list(const struct vqp_metad *metad, uint64_t now_ms)
{
	json_t *entries = json_array();

	for (uint32_t i = 0; i < metad->table.nbuckets; i++)
		for (const struct vqp_table_entry *entry = metad->table.chains[i]; entry; entry = entry->next)
			json_array_append_new(entries, describe(entry, now_ms));
	return json_pack("{s:b, s:o, s:I}", "ok", 1, "entries", entries, "takeovers", (json_int_t)metad->takeovers);
}

json_t *vqp_metad_answer(struct vqp_metad *metad, const json_t *request, uint64_t now_ms)
{
	const char *op = json_string_value(json_object_get(request, "op"));

	if (!op)
		return vqp_reply_error(EINVAL, "op is missing: one of hello, announce, withdraw, list");
	if (!strcmp(op, "hello"))
		return metad->hello ? json_copy(metad->hello)
				    : vqp_reply_error(ENETDOWN, "the meta server's node has no RDMA device now");
	if (!strcmp(op, "announce"))
		return announce(metad, request, now_ms);
	if (!strcmp(op, "withdraw"))
		return withdraw(metad, request);
	if (!strcmp(op, "list"))
		return list(metad, now_ms);
	return vqp_reply_error(EOPNOTSUPP, "%s is none of hello, announce, withdraw, list", op);
}
