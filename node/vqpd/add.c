/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/address.h"
#include "../reply.h"
#include "add.h"

struct vqp_add {
	struct vqp_add *next;
	struct vqp_client *client;
	uint32_t tenant;
	uint8_t gid[16];
	bool made;			/* The namespace was made for this client, and none has learned of it. */
	json_t *limits, *sockets;	/* that it was given */
	json_t *rule;			/* the policy's that has decided */
	uint64_t deadline_ms;
};

static json_t *success(const struct vqp_add *add, bool published)
{
	char gid[VQP_ADDRESS_TEXT];

	return json_pack("{s:b, s:s, s:I, s:b, s:O*, s:O*, s:O*}", "ok", 1, "gid", vqp_address_format(add->gid, gid),
			 "tenant", (json_int_t)add->tenant, "published", published, "limits", add->limits,
			 "sockets", add->sockets, "rule", add->rule);
}

static void free_add(struct vqp_add *add)
{
	json_decref(add->limits);
	json_decref(add->sockets);
	json_decref(add->rule);
	free(add);
}

static void unmake(struct vqpd *d, struct vqp_entry *entry)
{
	json_auto_t *item = vqp_entry_item(entry);

	/* If another has come to the address, the next look at the kernel tells what it is. */
	if (vqp_netlink_delete(&d->netlink, item) == -ENOENT)
		return;
	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_withdraw(&d->metas[i], entry);
	vqp_registry_remove(&d->registry, entry);
}

static struct vqp_add *find_same(struct vqp_add *from, const struct vqp_add *add)
{
	while (from && (from->tenant != add->tenant || memcmp(from->gid, add->gid, sizeof(add->gid))))
		from = from->next;
	return from;
}

/*
 * The add has failed: removes the namespace that was made for it, unless another add waits for the
 * same namespace. `add` is off the list.
 */
static void undo(struct vqpd *d, struct vqp_add *add)
{
	struct vqp_entry *entry = vqp_registry_find(&d->registry, add->tenant, add->gid);
	struct vqp_add *other = find_same(d->adds, add);

	if (add->made && other)
		other->made = true;
	else if (add->made && entry)
		unmake(d, entry);
	add->made = false;
}

/* The client has the namespace: adds that wait for the same one must not undo it. */
static void disown(struct vqpd *d, const struct vqp_add *add)
{
	for (struct vqp_add *other = find_same(d->adds, add); other; other = find_same(other->next, add))
		other->made = false;
}

static json_t *refuse(int err)
{
	return err == ENOSPC
		? vqp_reply_error(err, "the meta servers' tables are full: start vqp-metad with more --buckets")
		: vqp_reply_error(err, "another node has announced this address: give every container its own");
}

/* Is the server up, or being looked up or connected to without a failure before? */
static bool is_alive(const struct vqp_meta *meta)
{
	bool is_tried = meta->state != VQP_META_DOWN || meta->resolver.asked;

	return meta->state == VQP_META_UP || (is_tried && !meta->error[0]);
}

/* Returns the answer to an add, or NULL if it goes on waiting. */
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
		return refuse(entry->refused_err);
	if (!alive || !d->meta_owner.dct || vqp_loop_now_ms() >= add->deadline_ms)
		return success(add, false);
	return NULL;
}

/* Answers an add. Before a refusal, the namespace is removed. */
static void finish(struct vqpd *d, struct vqp_add *add, json_t *reply)
{
	bool refused = vqp_reply_text(reply);

	if (refused)
		undo(d, add);
	if (!vqp_server_answer(add->client, reply))
		undo(d, add);
	else if (!refused)
		disown(d, add);
	free_add(add);
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
		finish(d, add, reply);
	}
}

void vqp_add_wait(struct vqpd *d, struct vqp_client *client, const struct vqp_request *request, bool made)
{
	struct vqp_add *add = calloc(1, sizeof(*add));

	if (!add) {
		vqp_server_answer(client, NULL);
		return;
	}
	add->client = client;
	add->tenant = request->terms.tenant;
	memcpy(add->gid, request->gid, sizeof(add->gid));
	add->made = made;
	add->limits = json_incref(request->terms.limits);
	add->sockets = json_incref(request->terms.sockets);
	add->rule = json_incref(request->rule);
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
			*link = add->next;
			undo(d, add);
			free_add(add);
		} else {
			link = &add->next;
		}
	}
}
