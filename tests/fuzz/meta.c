// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqpd's end of the connection to a meta server that answers anything: an
 * object is the next answer, a number is something else that happens. An array
 * is the end of a lookup, with as many addresses; if it is the first of all, the
 * server is given by its name. The connection and the resolver are made of stand-ins
 * for line.c, loop.c and resolver.c, so that time is the input's.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>

#include "../../node/vqpd/meta.h"
#include "json.h"

#define BATCH_MAX	256
#define ENTRIES		6
#define FD		1000	/* no such file is open */
#define NAME		"meta1"

const char *const fuzz_words[] = {
	"ok", "errno", "error", "ENOSPC", "EADDRINUSE", "refused", "taken", "removed", "tenant", "gid", "node_gid",
	"epoch", "qkey", "lanes", "key", "addr", "buckets", "entries", "fd00::1", "fd00::2", "fd00::9", "::", "x", NULL,
};

static struct {
	struct vqp_meta_owner owner;
	struct vqp_registry registry;
	struct vqp_meta meta;
	json_t *dct, *inbox;
	bool open;		/* the connection is */
	unsigned int queued;	/* requests that went out on it, less the answers */
	int flush_err;
	uint64_t now_ms;
	bool named;		/* the server is given by its name */
} env;

/* ---- What meta.c calls, in place of sockets ---- */

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes);

int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	errno = EMFILE;
	return env.now_ms % 16 == 15 ? -1 : FD;
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	fuzz_check(fd == FD && env.open);
	fuzz_check(to->sa_family == AF_INET && bytes == sizeof(struct sockaddr_in));
	errno = env.now_ms % 8 == 7 ? ENETUNREACH : EINPROGRESS;
	return -1;
}

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	(void)level;
	(void)option;
	fuzz_check(fd == FD && env.open && *bytes == sizeof(int));
	*(int *)value = env.now_ms % 4 == 3 ? ECONNREFUSED : 0;
	return 0;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	(void)level;
	(void)option;
	(void)value;
	fuzz_check(fd == FD && bytes);
	return 0;
}

uint64_t vqp_loop_now_ms(void)
{
	return env.now_ms;
}

int vqp_loop_add(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events)
{
	(void)loop;
	fuzz_check(watch == &env.meta.watch && watch->fd == FD && events);
	return 0;
}

int vqp_loop_change(struct vqp_loop *loop, struct vqp_watch *watch, uint32_t events)
{
	(void)loop;
	fuzz_check(watch == &env.meta.watch && env.open && events);
	return 0;
}

void vqp_loop_remove(struct vqp_loop *loop, struct vqp_watch *watch)
{
	(void)loop;
	fuzz_check(watch == &env.meta.watch && env.open);
}

void vqp_line_init(struct vqp_line *line, int fd, size_t max)
{
	fuzz_check(!env.open && (fd == FD || fd == -1));
	*line = (struct vqp_line){ .fd = fd, .max = max };
	env.open = fd == FD;
	env.queued = 0;
}

int vqp_line_secure(struct vqp_line *line, const struct vqp_tls_key *key, bool is_server)
{
	fuzz_check(line->fd == FD && !key && !is_server);
	return 0;
}

/* There is no TLS. */
bool vqp_tls_is_new(const struct vqp_tls *tls)
{
	fuzz_check(!tls);
	return false;
}

uint32_t vqp_tls_events(const struct vqp_tls *tls)
{
	fuzz_check(!tls);
	return 0;
}

void vqp_line_exit(struct vqp_line *line)
{
	*line = (struct vqp_line){ .fd = -1 };
	env.open = false;
}

int vqp_line_queue(struct vqp_line *line, const json_t *object)
{
	const char *op = json_string_value(json_object_get(object, "op"));
	const json_t *entries = json_object_get(object, "entries");

	fuzz_check(line == &env.meta.line && env.open && op);
	fuzz_check(!env.queued++);		/* one request at a time */
	if (!strcmp(op, "hello"))
		return 0;
	fuzz_check(!strcmp(op, "announce") || !strcmp(op, "withdraw"));
	fuzz_check(json_array_size(entries) && json_array_size(entries) <= BATCH_MAX);
	fuzz_check(json_object_get(object, "node") == env.dct);
	return 0;
}

int vqp_line_flush(struct vqp_line *line)
{
	fuzz_check(line == &env.meta.line && env.open);
	return env.flush_err;
}

int vqp_line_fill(struct vqp_line *line)
{
	fuzz_check(line == &env.meta.line && env.open);
	return env.inbox ? 1 : 0;
}

int vqp_line_next(struct vqp_line *line, json_t **object)
{
	fuzz_check(line == &env.meta.line && env.open);
	if (!json_is_object(env.inbox))
		return -EBADMSG;
	*object = env.inbox;
	env.inbox = NULL;
	if (env.queued)
		env.queued--;
	return 1;
}

void vqp_resolver_init(struct vqp_resolver *resolver)
{
	*resolver = (struct vqp_resolver){ .watch.fd = -1 };
}

int vqp_resolver_start(struct vqp_resolver *resolver, struct vqp_loop *loop, const char *host, const char *port,
		       void (*answered)(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer))
{
	(void)loop;
	fuzz_check(resolver == &env.meta.resolver && env.named && !strcmp(host, NAME) && !strcmp(port, "7471"));
	resolver->answered = answered;
	return 0;
}

void vqp_resolver_ask(struct vqp_resolver *resolver)
{
	fuzz_check(resolver == &env.meta.resolver && !env.open);
	resolver->asked = env.named;
}

void vqp_resolver_exit(struct vqp_resolver *resolver)
{
	fuzz_check(resolver == &env.meta.resolver);
}

const char *vqp_resolver_reason(const struct vqp_resolver_answer *answer)
{
	fuzz_check(answer->error);
	return "a reason";
}

/* What it logs would slow everything down. */
void vqp_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

static void changed(struct vqp_meta_owner *owner)
{
	fuzz_check(owner == &env.owner);
}

/* ---- Events ---- */

static void check_meta(void)
{
	const struct vqp_meta *meta = &env.meta;
	struct vqp_entry *entry = NULL;

	fuzz_check(env.open == (meta->state != VQP_META_DOWN));
	fuzz_check(meta->line.fd == (env.open ? FD : -1));
	fuzz_check(meta->naddresses <= VQP_RESOLVER_MAX && (!meta->naddresses || meta->next_address < meta->naddresses));
	fuzz_check(meta->naddresses || meta->state == VQP_META_DOWN);
	fuzz_check((meta->asked != NULL) == (env.open && env.queued));
	fuzz_check(meta->state != VQP_META_UP || meta->info);
	fuzz_check(meta->state != VQP_META_DOWN || !json_array_size(meta->withdrawals));
	while ((entry = vqp_registry_next(&env.registry, entry)))
		fuzz_check(!(entry->held & ~meta->bit) && !(entry->refused & ~meta->bit) &&
			   (meta->state == VQP_META_UP || !entry->held));
}

static void ready(uint32_t events)
{
	if (env.open)
		env.meta.watch.ready(&env.meta.watch, events);
}

static struct vqp_entry *entry_of(json_int_t number, bool make)
{
	const uint8_t gid[16] = { 0xfd, [15] = number % ENTRIES };

	return make ? vqp_registry_add(&env.registry, 1, gid) : vqp_registry_find(&env.registry, 1, gid);
}

static void forget(json_int_t number)
{
	struct vqp_entry *entry = entry_of(number, false);

	if (!entry)
		return;
	vqp_meta_withdraw(&env.meta, entry);
	vqp_registry_remove(&env.registry, entry);
	vqp_meta_run(&env.meta);
}

/* The lowest three bits say what, those above how. */
static void happen(json_int_t number)
{
	const uint32_t how = number >> 3 & 0xffff;

	switch (number & 7) {
	case 0:
	case 1:
		env.now_ms += how;
		vqp_meta_tick(&env.meta);
		break;
	case 2:
		ready(how & 1 ? EPOLLOUT : EPOLLIN);
		break;
	case 3:
		entry_of(how >> 1, true)->fresh = how & 1 ? UINT32_MAX : 0;
		vqp_meta_run(&env.meta);
		break;
	case 4:
		forget(how);
		break;
	case 5:
		env.flush_err = how & 1 ? -EPIPE : 0;
		break;
	case 6:
		env.owner.dct = how & 1 ? NULL : env.dct;
		break;
	case 7:
		for (uint32_t i = 0; i < ENTRIES; i++)
			entry_of(i, true)->due = UINT32_MAX;
		break;
	}
}

/* A lookup ends with so many addresses, or the resolver does. */
static void resolve(uint32_t count)
{
	struct vqp_resolver *resolver = &env.meta.resolver;
	struct vqp_resolver_answer answer = { .error = count ? 0 : EAI_NONAME, .count = count };

	if (!resolver->asked)
		return;
	resolver->asked = false;
	for (uint32_t i = 0; i < count && i < VQP_RESOLVER_MAX; i++)
		answer.addresses[i].v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = 1 + count };
	resolver->answered(resolver, count <= VQP_RESOLVER_MAX ? &answer : NULL);
}

/* From here on a good server: everything is announced. */
static void recover(void)
{
	struct vqp_entry *entry = NULL;

	env.flush_err = 0;
	env.owner.dct = env.dct;
	env.now_ms += env.owner.lease_s * 1000ULL;	/* all is announced anew, also what was refused */
	for (uint32_t i = 0; i < 16; i++) {
		env.now_ms = (env.now_ms | 15) + 1;	/* sockets work at such times */
		vqp_meta_tick(&env.meta);
		resolve(1);
		ready(EPOLLOUT);
		if (!env.meta.asked)
			continue;
		env.inbox = json_pack("{s:b, s:s, s:i, s:i, s:[i], s:i, s:i, s:i}", "ok", 1, "node_gid", "fd00::9",
				      "epoch", 1, "qkey", 2, "lanes", 3, "key", 4, "addr", 5, "buckets", 1);
		ready(EPOLLIN);
	}
	fuzz_check(env.meta.state == VQP_META_UP);
	while ((entry = vqp_registry_next(&env.registry, entry)))
		fuzz_check(entry->held == env.meta.bit && !(entry->due & env.meta.bit));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	json_t *json;

	memset(&env, 0, sizeof(env));
	env.dct = json_pack("{s:s, s:i, s:i, s:[i]}", "node_gid", "fd00::1", "epoch", 1, "qkey", 2, "lanes", 3);
	env.now_ms = 1600;
	env.owner = (struct vqp_meta_owner){ .registry = &env.registry, .dct = env.dct, .lease_s = 30,
					     .tables_changed = changed, .entries_changed = changed };
	env.named = bytes && data[0] == '[';
	fuzz_check(!vqp_meta_init(&env.meta, &env.owner, 0, env.named ? NAME ":7471" : "127.0.0.1:7471"));
	while (fuzz_line(&in, &json)) {
		if (json_is_integer(json)) {
			happen(json_integer_value(json));
		} else if (json_is_array(json)) {
			resolve(json_array_size(json));
		} else if (json) {
			env.inbox = json_incref(json);
			ready(EPOLLIN);
			json_decref(env.inbox);
			env.inbox = NULL;
		}
		json_decref(json);
		check_meta();
	}
	recover();
	vqp_meta_exit(&env.meta);
	vqp_registry_exit(&env.registry);
	json_decref(env.dct);
	json_decref(env.inbox);
	return 0;
}
