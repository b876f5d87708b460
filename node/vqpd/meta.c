/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "../log.h"
#include "../reply.h"
#include "meta.h"

#define DEFAULT_PORT	"7471"
#define BATCH		256	/* the most entries of a request, well within VQP_LINE_MAX */

/* Closes the connection. The table's place is kept, because nodes may still be able to READ it. */
static void disconnect(struct vqp_meta *meta)
{
	if (meta->line.fd >= 0)
		vqp_loop_remove(meta->owner->loop, &meta->watch);
	vqp_line_exit(&meta->line);
	json_decref(meta->asked);
	meta->asked = NULL;
	json_array_clear(meta->withdrawals);	/* These end with their leases. */
	meta->state = VQP_META_DOWN;
}

void vqp_meta_exit(struct vqp_meta *meta)
{
	disconnect(meta);
	vqp_resolver_exit(&meta->resolver);
	json_decref(meta->info);
	json_decref(meta->withdrawals);
	free(meta->name);
}

__attribute__((format(printf, 2, 3)))
static void lose(struct vqp_meta *meta, const char *format, ...)
{
	struct vqp_registry *registry = meta->owner->registry;
	bool was_up = meta->state == VQP_META_UP;
	char error[sizeof(meta->error)];
	va_list args;

	va_start(args, format);
	vsnprintf(error, sizeof(error), format, args);
	va_end(args);
	if (was_up || strcmp(error, meta->error))
		vqp_log(LOG_WARNING, "meta server %s: %s", meta->name, error);
	strcpy(meta->error, error);

	disconnect(meta);
	for (struct vqp_entry *e = vqp_registry_next(registry, NULL); e; e = vqp_registry_next(registry, e))
		e->held &= ~meta->bit;
	if (was_up) {
		meta->owner->tables_changed(meta->owner);
		meta->owner->entries_changed(meta->owner);
	}
}

static const char *reason(int err)
{
	switch (err) {
	case -ECONNRESET:
		return "it closed the connection";
	case -EKEYREJECTED:
		return VQP_TLS_KEY_REJECTED;
	default:
		return strerror(-err);
	}
}

/* Waits for what the connection needs next. */
static int change_events(struct vqp_meta *meta)
{
	const uint32_t events = EPOLLIN | (vqp_line_unsent(&meta->line) ? EPOLLOUT : 0);

	return vqp_loop_change(meta->owner->loop, &meta->watch, vqp_line_events(&meta->line, events));
}

static void ask(struct vqp_meta *meta, json_t *request)
{
	int ret = request ? vqp_line_queue(&meta->line, request) : -ENOMEM;

	meta->asked = request;
	meta->sent_ms = vqp_loop_now_ms();
	if (!ret)
		ret = vqp_line_flush(&meta->line);
	if (!ret)
		ret = change_events(meta);
	if (ret)
		lose(meta, "%s", reason(ret));
}

/*
 * Takes the entries that are due, which are not due any more. An entry that is due when the answer
 * arrives has become so since, and the answer is not about it. Without an answer the connection is
 * closed, and all entries are due on the next.
 */
static json_t *take_due(struct vqp_meta *meta)
{
	struct vqp_registry *registry = meta->owner->registry;
	json_t *entries = json_array();

	for (struct vqp_entry *e = vqp_registry_next(registry, NULL); e; e = vqp_registry_next(registry, e)) {
		json_t *key;

		if (!(e->due & meta->bit))
			continue;
		key = vqp_entry_key(e);
		if (e->fresh & meta->bit)
			json_object_set_new(key, "new", json_true());
		e->due &= ~meta->bit;
		json_array_append_new(entries, key);
		if (json_array_size(entries) == BATCH)
			break;
	}
	return entries;
}

static json_t *first_withdrawals(struct vqp_meta *meta)
{
	json_t *keys = json_array();

	while (json_array_size(meta->withdrawals) && json_array_size(keys) < BATCH) {
		json_array_append(keys, json_array_get(meta->withdrawals, 0));
		json_array_remove(meta->withdrawals, 0);
	}
	return keys;
}

void vqp_meta_run(struct vqp_meta *meta)
{
	const struct vqp_meta_owner *owner = meta->owner;
	json_auto_t *due = NULL;

	if (meta->state != VQP_META_UP || meta->asked || !owner->dct)
		return;
	if (json_array_size(meta->withdrawals)) {
		ask(meta, json_pack("{s:s, s:O, s:o}", "op", "withdraw", "node", owner->dct,
				    "entries", first_withdrawals(meta)));
		return;
	}
	due = take_due(meta);
	if (json_array_size(due))
		ask(meta, json_pack("{s:s, s:I, s:O, s:O}", "op", "announce", "lease_s", (json_int_t)owner->lease_s,
				    "node", owner->dct, "entries", due));
}

static void make_all_due(struct vqp_meta *meta)
{
	struct vqp_registry *registry = meta->owner->registry;

	for (struct vqp_entry *e = vqp_registry_next(registry, NULL); e; e = vqp_registry_next(registry, e)) {
		e->due |= meta->bit;
		e->refused &= ~meta->bit;
	}
	meta->renewed_ms = vqp_loop_now_ms();
}

void vqp_meta_withdraw(struct vqp_meta *meta, const struct vqp_entry *entry)
{
	if (meta->state == VQP_META_UP)
		json_array_append_new(meta->withdrawals, vqp_entry_key(entry));
}

/*
 * Returns the entry that an answer is about, or NULL if it has gone or has changed since it was
 * announced.
 */
static struct vqp_entry *find_told(struct vqp_meta *meta, const json_t *key)
{
	struct vqp_entry *entry = vqp_registry_find_key(meta->owner->registry, key);

	return entry && !(entry->due & meta->bit) ? entry : NULL;
}

static void take_announced(struct vqp_meta *meta, const json_t *reply)
{
	const json_t *item;
	struct vqp_entry *entry;
	size_t i;

	json_array_foreach(json_object_get(meta->asked, "entries"), i, item) {
		entry = find_told(meta, item);
		if (!entry)
			continue;
		entry->fresh &= ~meta->bit;
		entry->held |= meta->bit;
	}
	json_array_foreach(json_object_get(reply, "refused"), i, item) {
		const char *name = json_string_value(json_object_get(item, "errno"));

		entry = find_told(meta, item);
		if (!entry)
			continue;
		entry->held &= ~meta->bit;
		entry->refused |= meta->bit;
		entry->refused_err = name && !strcmp(name, "ENOSPC") ? ENOSPC : EADDRINUSE;
	}
}

/* Returns the table's place in the answer to a hello; NULL if it has none. */
static json_t *table_info(const json_t *reply)
{
	static const char *const names[] = { "node_gid", "epoch", "qkey", "lanes", "key", "addr", "buckets" };
	json_t *info = json_object();

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *value = json_object_get(reply, names[i]);

		if (!value || json_object_set(info, names[i], value)) {
			json_decref(info);
			return NULL;
		}
	}
	return info;
}

static void take_hello(struct vqp_meta *meta, const json_t *reply)
{
	bool came_up = meta->state != VQP_META_UP, moved;
	json_t *info = table_info(reply);

	if (!info) {
		lose(meta, "its hello makes no sense (is it of another version?)");
		return;
	}
	moved = !json_equal(info, meta->info);
	json_decref(meta->info);
	meta->info = info;
	meta->state = VQP_META_UP;
	meta->error[0] = '\0';
	if (came_up) {
		vqp_log(LOG_INFO, "meta server %s: up", meta->name);
		make_all_due(meta);
	}
	if (came_up || moved)
		meta->owner->tables_changed(meta->owner);
}

static void take_reply(struct vqp_meta *meta, const json_t *reply)
{
	json_auto_t *asked = json_incref(meta->asked);
	const char *op = json_string_value(json_object_get(asked, "op"));
	const char *refusal = vqp_reply_text(reply);

	if (!asked) {
		lose(meta, "it answered what was not asked");
		return;
	}
	if (refusal) {
		lose(meta, "%s: %s", op, refusal);
		return;
	}
	if (!strcmp(op, "hello"))
		take_hello(meta, reply);
	else if (!strcmp(op, "announce"))
		take_announced(meta, reply);
	json_decref(meta->asked);
	meta->asked = NULL;
	if (!strcmp(op, "announce"))
		meta->owner->entries_changed(meta->owner);
	vqp_meta_run(meta);
}

static void greet(struct vqp_meta *meta)
{
	socklen_t bytes = sizeof(int);
	int error = 0;

	getsockopt(meta->line.fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	if (error) {
		lose(meta, "%s", strerror(error));
		return;
	}
	meta->state = VQP_META_GREETING;
	ask(meta, json_pack("{s:s}", "op", "hello"));
}

static void ready(struct vqp_watch *watch, uint32_t events)
{
	struct vqp_meta *meta = (struct vqp_meta *)((char *)watch - offsetof(struct vqp_meta, watch));
	json_auto_t *reply = NULL;
	int ret;

	if (meta->state == VQP_META_CONNECTING) {
		greet(meta);
		return;
	}
	ret = vqp_line_flush(&meta->line);
	if (!ret && events & ~EPOLLOUT) {
		ret = vqp_line_fill(&meta->line);
		ret = ret > 0 ? vqp_line_next(&meta->line, &reply) : ret ? ret : -ECONNRESET;
	}
	if (ret >= 0 && !reply)
		ret = change_events(meta);
	if (ret < 0)
		lose(meta, "%s", reason(ret));
	else if (reply)
		take_reply(meta, reply);
}

static void start_connecting(struct vqp_meta *meta)
{
	const union vqp_resolver_address *to = &meta->addresses[meta->next_address];
	const socklen_t bytes = to->any.sa_family == AF_INET ? sizeof(to->v4) : sizeof(to->v6);
	int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	meta->next_address = (meta->next_address + 1) % meta->naddresses;
	if (fd < 0) {
		lose(meta, "no socket: %s", strerror(errno));
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	vqp_line_init(&meta->line, fd, VQP_LINE_REPLY_MAX);
	meta->watch = (struct vqp_watch){ .fd = fd, .ready = ready };
	meta->sent_ms = vqp_loop_now_ms();
	if (vqp_line_secure(&meta->line, meta->owner->key, false) || vqp_loop_add(meta->owner->loop, &meta->watch, EPOLLOUT)) {
		lose(meta, "out of memory");
		return;
	}
	meta->state = VQP_META_CONNECTING;
	if (connect(fd, &to->any, bytes) && errno != EINPROGRESS)
		lose(meta, "%s", strerror(errno));
}

/* A name that does not resolve is told once, and once more when it does. */
static void tell_lookup(struct vqp_meta *meta, const struct vqp_resolver_answer *answer)
{
	bool failed = answer->error;

	if (failed && !meta->unresolved)
		vqp_log(LOG_WARNING, "meta server %s: its name does not resolve, and is looked up again: %s", meta->name,
		      vqp_resolver_reason(answer));
	else if (!failed && meta->unresolved)
		vqp_log(LOG_INFO, "meta server %s: its name resolves", meta->name);
	meta->unresolved = failed;
}

/* The filter of vqpd forbids to start another process. */
static void lose_resolver(struct vqp_meta *meta)
{
	meta->lookup_trouble = "what looks up its name has ended: systemctl restart vqpd";
	vqp_log(LOG_ERR, "meta server %s: %s", meta->name, meta->lookup_trouble);
	if (!meta->naddresses)
		strcpy(meta->error, meta->lookup_trouble);
}

static bool is_same(const union vqp_resolver_address *a, const union vqp_resolver_address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a->v6.sin6_addr, &b->v6.sin6_addr) && a->v6.sin6_scope_id == b->v6.sin6_scope_id;
}

/* Are these the addresses that the server had, in the same order? The port is always the same. */
static bool is_known(const struct vqp_meta *meta, const struct vqp_resolver_answer *answer)
{
	uint32_t i = 0;

	while (i < answer->count && i < meta->naddresses && is_same(&answer->addresses[i], &meta->addresses[i]))
		i++;
	return i == answer->count && i == meta->naddresses;
}

/*
 * A lookup has ended. If it failed, the addresses of an earlier one are still the best that there
 * are. Those of one that succeeds are tried from the first on, if they are others.
 */
static void take_lookup(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer)
{
	struct vqp_meta *meta = (struct vqp_meta *)((char *)resolver - offsetof(struct vqp_meta, resolver));

	if (!answer) {
		lose_resolver(meta);
		return;
	}
	meta->lookup_trouble = NULL;
	tell_lookup(meta, answer);
	if (answer->error) {
		if (!meta->naddresses)
			snprintf(meta->error, sizeof(meta->error), "its name does not resolve: %s",
				 vqp_resolver_reason(answer));
		return;
	}
	if (is_known(meta, answer))
		return;
	if (!meta->naddresses)
		meta->error[0] = '\0';		/* That was about lookups. */
	memcpy(meta->addresses, answer->addresses, sizeof(meta->addresses));
	meta->naddresses = answer->count;
	meta->next_address = 0;
	if (meta->state == VQP_META_DOWN)
		start_connecting(meta);
}

static bool is_port(const char *text)
{
	unsigned long port = strtoul(text, NULL, 10);

	return strspn(text, "0123456789") == strlen(text) && port >= 1 && port <= UINT16_MAX;
}

/* Takes an address in numbers, which needs no lookup. Returns false if the host is a name. */
static bool take_numeric(struct vqp_meta *meta, const char *host, const char *port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *info;

	if (getaddrinfo(host, port, &hints, &info))
		return false;
	memcpy(&meta->addresses[0], info->ai_addr, info->ai_addrlen);
	meta->naddresses = 1;
	freeaddrinfo(info);
	return true;
}

int vqp_meta_init(struct vqp_meta *meta, struct vqp_meta_owner *owner, unsigned int index, const char *name)
{
	cleanup_free char *host = NULL, *port = NULL;
	int ret = vqp_address_split(name, DEFAULT_PORT, &host, &port);

	*meta = (struct vqp_meta){ .owner = owner, .bit = 1U << index };
	vqp_line_init(&meta->line, -1, VQP_LINE_REPLY_MAX);
	vqp_resolver_init(&meta->resolver);
	if (ret || !host || !is_port(port))
		return -EINVAL;
	meta->name = strdup(name);
	meta->withdrawals = json_array();
	if (!meta->name || !meta->withdrawals)
		return -ENOMEM;
	if (take_numeric(meta, host, port))
		return 0;
	meta->sent_ms = vqp_loop_now_ms();
	return vqp_resolver_start(&meta->resolver, owner->loop, host, port, take_lookup);
}

void vqp_meta_tick(struct vqp_meta *meta)
{
	uint64_t now = vqp_loop_now_ms();

	if (meta->resolver.asked && now - meta->resolver.asked_ms > VQP_META_LOOKUP_MS)
		meta->lookup_trouble = "its name has been looked up for more than a minute";
	if (meta->state == VQP_META_DOWN) {
		vqp_resolver_ask(&meta->resolver);
		if (meta->naddresses)
			start_connecting(meta);
		else if (!meta->error[0] && now - meta->sent_ms > VQP_META_TIMEOUT_MS)
			strcpy(meta->error, "its name is being looked up");
		return;
	}
	if ((meta->asked || meta->state == VQP_META_CONNECTING) && now - meta->sent_ms > VQP_META_TIMEOUT_MS) {
		lose(meta, "no answer within %d s%s", VQP_META_TIMEOUT_MS / 1000,
		     meta->state != VQP_META_CONNECTING && vqp_line_is_new(&meta->line) ? ": has it the key of this node, " VQP_TLS_KEY_FILE "?" : "");
		return;
	}
	if (now - meta->renewed_ms >= meta->owner->lease_s * 1000ULL / 3)
		make_all_due(meta);
	vqp_meta_run(meta);
	if (meta->state == VQP_META_UP && !meta->asked && now - meta->sent_ms >= VQP_META_HELLO_MS)
		ask(meta, json_pack("{s:s}", "op", "hello"));
}
