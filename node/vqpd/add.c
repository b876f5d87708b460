/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../address.h"
#include "../cleanup.h"
#include "../reply.h"
#include "add.h"

struct vqp_add {
	struct vqp_add *next;
	struct vqp_client *client;
	uint32_t tenant;
	uint8_t gid[16];
	bool made;			/* for this client, and nobody has asked for it since */
	json_t *limits;
	uint64_t deadline_ms;
};

static json_t *success(const struct vqp_add *add, bool published)
{
	char gid[VQP_ADDRESS_TEXT];

	return json_pack("{s:b, s:s, s:I, s:b, s:O*}", "ok", 1, "gid", vqp_address_format(add->gid, gid),
			 "tenant", (json_int_t)add->tenant, "published", published, "limits", add->limits);
}

static void free_add(struct vqp_add *add)
{
	json_decref(add->limits);
	free(add);
}

static void unmake(struct vqpd *d, struct vqp_entry *entry)
{
	cleanup_json json_t *key = vqp_entry_key(entry);

	vqp_netlink_do(&d->netlink, VQP_CMD_NS_DEL, key, NULL);
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_withdraw(&d->metas[i], entry);
	vqp_registry_remove(&d->registry, entry);
}

static json_t *refuse(struct vqpd *d, const struct vqp_add *add, struct vqp_entry *entry)
{
	int err = entry->refused_err;

	if (add->made)
		unmake(d, entry);
	return err == ENOSPC
		? vqp_reply_error(err, "the meta servers' tables are full: start vqp-metad with more --buckets")
		: vqp_reply_error(err, "another node has announced this address: give every container its own");
}

/* Up, or trying and not known to be dead. */
static bool is_alive(const struct vqp_meta *meta)
{
	return meta->state == VQP_META_UP || (meta->state != VQP_META_DOWN && !meta->error[0]);
}

/* NULL: it goes on waiting. */
static json_t *outcome(struct vqpd *d, const struct vqp_add *add)
{
	struct vqp_entry *entry = vqp_registry_find(&d->registry, add->tenant, add->gid);
	uint32_t alive = 0;

	if (!entry)
		return vqp_reply_error(ENOENT, "the namespace was deleted while it was being announced");
	for (unsigned int i = 0; i < d->nmetas; i++)
		if (is_alive(&d->metas[i]))
			alive |= d->metas[i].bit;
	if (entry->held)
		return success(add, true);
	if (alive && (entry->refused & alive) == alive)
		return refuse(d, add, entry);
	if (!alive || !d->meta_owner.dct || vqp_loop_now_ms() >= add->deadline_ms)
		return success(add, false);
	return NULL;
}

void vqp_add_settle(struct vqpd *d)
{
	struct vqp_add **link = &d->adds;

	while (*link) {
		struct vqp_add *add = *link;
		json_t *reply = outcome(d, add);

		if (!reply) {
			link = &add->next;
			continue;
		}
		*link = add->next;
		vqp_server_answer(add->client, reply);
		free_add(add);
	}
}

/* Somebody asks for it anew: it is not for an earlier client to undo. */
static void disown(struct vqpd *d, uint32_t tenant, const uint8_t gid[16])
{
	for (struct vqp_add *add = d->adds; add; add = add->next)
		if (add->tenant == tenant && !memcmp(add->gid, gid, sizeof(add->gid)))
			add->made = false;
}

void vqp_add_wait(struct vqpd *d, struct vqp_client *client, const struct vqp_request *request, bool made)
{
	struct vqp_add *add = calloc(1, sizeof(*add));

	if (!add) {
		vqp_server_answer(client, NULL);
		return;
	}
	disown(d, request->tenant, request->gid);
	add->client = client;
	add->tenant = request->tenant;
	memcpy(add->gid, request->gid, sizeof(add->gid));
	add->made = made;
	add->limits = json_incref((json_t *)request->limits);
	add->deadline_ms = vqp_loop_now_ms() + VQP_ADD_WAIT_MS;
	add->next = d->adds;
	d->adds = add;
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_run(&d->metas[i]);
	vqp_add_settle(d);
}

void vqp_add_cancel(struct vqpd *d, const struct vqp_client *client)
{
	struct vqp_add **link = &d->adds;

	while (*link) {
		struct vqp_add *add = *link;

		if (add->client == client) {
			struct vqp_entry *entry = vqp_registry_find(&d->registry, add->tenant, add->gid);

			*link = add->next;
			if (add->made && entry)
				unmake(d, entry);
			free_add(add);
		} else {
			link = &add->next;
		}
	}
}
