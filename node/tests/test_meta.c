/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* vqpd's and vqp-metad's ends of the protocol against each other, over TCP, in one loop. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../../common/address.h"
#include "../metad/answer.h"
#include "../server.h"
#include "../vqpd/meta.h"
#include "turn.h"

#define BUCKETS	64

/* What the name meta.test is, which is shared with the process that looks it up; and the time that is added to the clock's. */
static volatile struct world {
	int error;		/* of a lookup, or 0 */
	in_addr_t address;
	bool hangs;
	int lookups;		/* that have ended */
} *world;
static uint64_t skipped_ms;

/* What was logged: the last line, and how many of a kind. */
static char logged[256];
static unsigned int lines;

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list);
int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list);
uint64_t __wrap_vqp_loop_now_ms(void);
uint64_t __real_vqp_loop_now_ms(void);

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	int ret = world->error;

	if (strcmp(host, "meta.test") || hints->ai_flags & AI_NUMERICHOST)
		return __real_getaddrinfo(host, port, hints, list);
	while (world->hangs)
		usleep(1000);
	if (!ret)
		ret = __real_getaddrinfo(inet_ntoa((struct in_addr){ world->address }), port, hints, list);
	world->lookups++;
	return ret;
}

uint64_t __wrap_vqp_loop_now_ms(void)
{
	return __real_vqp_loop_now_ms() + skipped_ms;
}

void vqp_log(int level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
	lines += strstr(logged, "resolve") != NULL;
}

struct fixture {
	struct vqp_loop loop;
	struct vqp_meta_owner owner;
	struct vqp_registry registry;
	struct vqp_meta meta;
	struct vqp_server server;
	struct vqp_metad metad;
	struct vqp_bucket *buckets;
	unsigned int tables_changed;
	char name[64];
	bool mute;		/* the server takes requests and says nothing */
	const char *says;	/* or this, whatever it is asked */
	struct vqp_client *client;	/* the latest it was asked by, and what */
	json_t *request;
};

static void serve(struct vqp_client *client, json_t *request)
{
	struct fixture *f = client->server->owner;

	json_decref(f->request);
	f->request = json_incref(request);
	f->client = client;
	if (f->says)
		vqp_server_answer(client, unit_json(f->says));
	else if (!f->mute)
		vqp_server_answer(client, vqp_metad_answer(&f->metad, request, vqp_loop_now_ms()));
}

static void start_server(struct fixture *f, int key)
{
	assert_int_equal(vqp_table_init(&f->metad.table, f->buckets, BUCKETS), 0);
	f->metad.hello = json_pack("{s:b, s:s, s:i, s:i, s:[i], s:i, s:i, s:i}", "ok", 1, "node_gid", "fd00::9",
				   "epoch", 1, "qkey", 2, "lanes", 3, "key", key, "addr", 4096, "buckets", BUCKETS);
	f->server.owner = f;
	f->server.request = serve;
	assert_int_equal(vqp_server_listen_tcp(&f->server, &f->loop, f->name, "0"), 0);
}

static void stop_server(struct fixture *f)
{
	vqp_server_exit(&f->server);
	vqp_table_exit(&f->metad.table);
	json_decref(f->metad.hello);
}

static void tables_changed(struct vqp_meta_owner *owner)
{
	((struct fixture *)((char *)owner - offsetof(struct fixture, owner)))->tables_changed++;
}

static void entries_changed(struct vqp_meta_owner *owner)
{
	(void)owner;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sockaddr_in addr = { 0 };
	socklen_t bytes = sizeof(addr);

	assert_non_null(f);
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal((void *)world, MAP_FAILED);
	world->address = htonl(INADDR_LOOPBACK);
	f->buckets = calloc(BUCKETS, sizeof(*f->buckets));
	assert_non_null(f->buckets);
	assert_int_equal(vqp_loop_init(&f->loop), 0);
	strcpy(f->name, "127.0.0.1:0");
	start_server(f, 100);
	assert_int_equal(getsockname(f->server.watch.fd, (struct sockaddr *)&addr, &bytes), 0);
	sprintf(f->name, "127.0.0.1:%d", ntohs(addr.sin_port));

	f->owner = (struct vqp_meta_owner){
		.loop = &f->loop,
		.registry = &f->registry,
		.dct = unit_json("{\"node_gid\":\"fd00::1\",\"epoch\":5,\"qkey\":6,\"lanes\":[7]}"),
		.lease_s = 30,
		.tables_changed = tables_changed,
		.entries_changed = entries_changed,
	};
	assert_int_equal(vqp_meta_init(&f->meta, &f->owner, 0, f->name), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vqp_meta_exit(&f->meta);
	stop_server(f);
	vqp_registry_exit(&f->registry);
	json_decref(f->owner.dct);
	json_decref(f->request);
	vqp_loop_exit(&f->loop);
	free(f->buckets);
	free(f);
	munmap((void *)world, sizeof(*world));
	return 0;
}

/* Let both ends talk until they have nothing more to say. */
static void talk(struct fixture *f)
{
	unit_turn(&f->loop, 50);
}

static struct vqp_entry *add(struct fixture *f, uint32_t number, bool fresh)
{
	uint8_t gid[16] = { 0xfd, [13] = number >> 16, [14] = number >> 8, [15] = number };
	struct vqp_entry *entry = vqp_registry_add(&f->registry, 1, gid);

	assert_non_null(entry);
	entry->fresh = fresh ? UINT32_MAX : 0;
	return entry;
}

static void it_says_hello_and_announces(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = add(f, 1, true);

	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_UP);
	assert_int_equal(f->tables_changed, 1);
	assert_int_equal(json_integer_value(json_object_get(f->meta.info, "key")), 100);
	assert_int_equal(entry->held, 1);
	assert_int_equal(entry->due & 1, 0);
	assert_int_equal(entry->fresh & 1, 0);
	assert_int_equal(f->metad.table.count, 1);
}

static void more_than_a_batch_is_announced(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 300; i++)
		add(f, i, true);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->metad.table.count, 300);
	for (struct vqp_entry *e = vqp_registry_next(&f->registry, NULL); e; e = vqp_registry_next(&f->registry, e))
		assert_int_equal(e->held, 1);
}

static void a_later_add_is_announced_at_once(void **state)
{
	struct fixture *f = *state;

	vqp_meta_tick(&f->meta);
	talk(f);
	add(f, 1, true);
	vqp_meta_run(&f->meta);
	talk(f);
	assert_int_equal(f->metad.table.count, 1);
}

static void what_goes_is_withdrawn(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = add(f, 1, true);

	vqp_meta_tick(&f->meta);
	talk(f);
	vqp_meta_withdraw(&f->meta, entry);
	vqp_registry_remove(&f->registry, entry);
	vqp_meta_run(&f->meta);
	talk(f);
	assert_int_equal(f->metad.table.count, 0);
}

static void a_refused_entry_is_not_held(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = add(f, 1, false);
	struct vqp_dct other = { .node_gid = { 1 }, .lanes = 1 };

	assert_int_equal(vqp_table_announce(&f->metad.table, 1, entry->gid, &other, true, 1000000, vqp_loop_now_ms()), 0);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(entry->held, 0);
	assert_int_equal(entry->refused, 1);
	assert_int_equal(entry->refused_err, EADDRINUSE);
	assert_int_equal(f->meta.state, VQP_META_UP);
}

static void a_fresh_entry_displaces_anothers(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = add(f, 1, true);
	struct vqp_dct other = { .node_gid = { 1 }, .lanes = 1 };

	assert_int_equal(vqp_table_announce(&f->metad.table, 1, entry->gid, &other, true, 1000000, vqp_loop_now_ms()), 0);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(entry->held, 1);
}

static void a_restarted_server_is_told_everything(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = add(f, 1, true);

	vqp_meta_tick(&f->meta);
	talk(f);
	stop_server(f);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	assert_int_equal(entry->held, 0);
	assert_true(f->meta.error[0]);

	start_server(f, 200);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_UP);
	assert_int_equal(json_integer_value(json_object_get(f->meta.info, "key")), 200);
	assert_int_equal(f->metad.table.count, 1);
	assert_int_equal(entry->held, 1);
}

static void leases_are_renewed(void **state)
{
	struct fixture *f = *state;
	uint64_t expires;

	f->owner.lease_s = 1;
	add(f, 1, true);
	vqp_meta_tick(&f->meta);
	talk(f);
	expires = vqp_loop_now_ms() + 1500;
	while (vqp_loop_now_ms() < expires) {
		vqp_meta_tick(&f->meta);
		talk(f);
		vqp_table_expire(&f->metad.table, vqp_loop_now_ms());
		assert_int_equal(f->metad.table.count, 1);
	}
}

static void silence_is_given_up_on(void **state)
{
	struct fixture *f = *state;
	uint64_t deadline = vqp_loop_now_ms() + VQP_META_TIMEOUT_MS + VQP_META_HELLO_MS + 1000;

	vqp_meta_tick(&f->meta);
	talk(f);
	f->mute = true;
	while (f->meta.state == VQP_META_UP && vqp_loop_now_ms() < deadline) {
		vqp_meta_tick(&f->meta);
		talk(f);
	}
	assert_int_not_equal(f->meta.state, VQP_META_UP);
	assert_non_null(strstr(f->meta.error, "no answer"));
}

static void a_refused_hello_is_tried_again(void **state)
{
	struct fixture *f = *state;
	json_t *hello = f->metad.hello;

	f->metad.hello = NULL;
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	f->metad.hello = hello;
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_UP);
}

static void a_hello_without_a_table_is_no_hello(void **state)
{
	struct fixture *f = *state;

	f->says = "{\"ok\":true,\"node_gid\":\"fd00::9\"}";
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	assert_non_null(strstr(f->meta.error, "makes no sense"));
	assert_int_equal(f->tables_changed, 0);
}

static void who_answers_unasked_is_left(void **state)
{
	struct fixture *f = *state;

	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_UP);
	assert_int_equal(vqp_line_queue(&f->client->line, f->metad.hello), 0);
	assert_int_equal(vqp_line_flush(&f->client->line), 0);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	assert_non_null(strstr(f->meta.error, "not asked"));
}

/* The server has heard of an entry, and is about to answer. */
static struct vqp_entry *announce_slowly(struct fixture *f, bool fresh)
{
	struct vqp_entry *entry;

	vqp_meta_tick(&f->meta);
	talk(f);
	f->mute = true;
	entry = add(f, 1, fresh);
	vqp_meta_run(&f->meta);
	talk(f);
	unit_assert_string(f->request, "op", "announce");
	return entry;
}

static void answer_at_last(struct fixture *f)
{
	f->mute = false;
	vqp_server_answer(f->client, vqp_metad_answer(&f->metad, f->request, vqp_loop_now_ms()));
	talk(f);
}

static void what_was_made_anew_meanwhile_is_announced_as_new(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = announce_slowly(f, false);

	vqp_registry_remove(&f->registry, entry);
	entry = add(f, 1, true);
	answer_at_last(f);
	assert_int_equal(entry->held, 1);
	assert_int_equal(entry->fresh & 1, 0);
	assert_int_equal(entry->due & 1, 0);
	unit_assert_string(f->request, "op", "announce");
	assert_true(json_is_true(json_object_get(json_array_get(json_object_get(f->request, "entries"), 0), "new")));
}

/* As a DEL and an ADD of the same. */
static struct vqp_entry *make_anew(struct fixture *f, struct vqp_entry *entry)
{
	vqp_meta_withdraw(&f->meta, entry);
	vqp_registry_remove(&f->registry, entry);
	return add(f, 1, true);
}

static void what_was_withdrawn_and_made_anew_meanwhile_is_announced_again(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = make_anew(f, announce_slowly(f, true));

	answer_at_last(f);
	assert_int_equal(f->metad.table.count, 1);
	assert_int_equal(entry->held, 1);
	assert_int_equal(entry->due & 1, 0);
}

static void a_refusal_of_what_was_made_anew_meanwhile_is_ignored(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = make_anew(f, announce_slowly(f, true));

	vqp_server_answer(f->client, unit_json("{\"ok\":true,\"taken\":0,\"refused\":[{\"tenant\":1,\"gid\":\"fd00::1\","
					       "\"errno\":\"ENOSPC\",\"error\":\"full\"}]}"));
	talk(f);
	unit_assert_string(f->request, "op", "withdraw");
	assert_int_equal(entry->refused, 0);
	assert_int_equal(entry->held, 0);
	assert_int_equal(entry->due & 1, 1);
	answer_at_last(f);
	assert_int_equal(entry->held, 1);
}

/* The node's metadata changed: what the server has of it is old. */
static void what_became_due_meanwhile_is_announced_again(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = announce_slowly(f, true);

	json_object_set_new(f->owner.dct, "epoch", json_integer(8));
	entry->due = UINT32_MAX;
	answer_at_last(f);
	assert_int_equal(entry->held, 1);
	assert_int_equal(entry->due & 1, 0);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(f->request, "node"), "epoch")), 8);
}

static void what_was_not_answered_is_announced_on_the_next_connection(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = announce_slowly(f, true);

	stop_server(f);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	f->mute = false;
	start_server(f, 100);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->metad.table.count, 1);
	assert_int_equal(entry->held, 1);
	assert_int_equal(entry->fresh & 1, 0);
}

static void what_went_meanwhile_is_withdrawn(void **state)
{
	struct fixture *f = *state;
	struct vqp_entry *entry = announce_slowly(f, false);

	vqp_meta_withdraw(&f->meta, entry);
	vqp_registry_remove(&f->registry, entry);
	answer_at_last(f);
	assert_int_equal(f->metad.table.count, 0);
	assert_int_equal(f->meta.state, VQP_META_UP);
}

static void a_refusal_of_what_went_meanwhile_is_ignored(void **state)
{
	struct vqp_dct other = { .node_gid = { 1 }, .lanes = 1 };
	struct fixture *f = *state;
	struct vqp_entry *entry = announce_slowly(f, false);

	assert_int_equal(vqp_table_announce(&f->metad.table, 1, entry->gid, &other, true, 1000000, vqp_loop_now_ms()), 0);
	vqp_registry_remove(&f->registry, entry);
	answer_at_last(f);
	assert_int_equal(f->metad.table.count, 1);
	assert_int_equal(f->meta.state, VQP_META_UP);
}

static void without_a_device_nothing_is_announced(void **state)
{
	struct fixture *f = *state;
	json_t *dct = f->owner.dct;

	f->owner.dct = NULL;
	add(f, 1, true);
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_UP);
	assert_int_equal(f->metad.table.count, 0);
	f->owner.dct = dct;
	vqp_meta_run(&f->meta);
	talk(f);
	assert_int_equal(f->metad.table.count, 1);
}

static void names_of_servers_are_checked(void **state)
{
	struct vqp_meta meta;

	(void)state;
	assert_int_equal(vqp_meta_init(&meta, NULL, 0, "a:b:c"), -EINVAL);
	assert_int_equal(vqp_meta_init(&meta, NULL, 0, ":99"), -EINVAL);
	assert_int_equal(vqp_meta_init(&meta, NULL, 0, "127.0.0.1:port"), -EINVAL);
	assert_int_equal(vqp_meta_init(&meta, NULL, 0, "meta.test:0"), -EINVAL);
	assert_int_equal(vqp_meta_init(&meta, NULL, 0, "meta.test:65536"), -EINVAL);
}

/* ---- A server that is given by its name ---- */

/* The server of the fixture is known as meta.test from now on. */
static void use_name(struct fixture *f)
{
	char name[80];

	snprintf(name, sizeof(name), "meta.test%s", strchr(f->name, ':'));
	vqp_meta_exit(&f->meta);
	assert_int_equal(vqp_meta_init(&f->meta, &f->owner, 0, name), 0);
	lines = 0;
}

/* Lets time pass until another lookup has ended, and has been taken. */
static void await_lookup(struct fixture *f)
{
	int before = world->lookups;

	skipped_ms += VQP_RESOLVER_PERIOD_MS;
	for (int i = 0; i < 1000 && (world->lookups == before || f->meta.resolver.asked); i++) {
		vqp_meta_tick(&f->meta);
		talk(f);
	}
	assert_int_not_equal(world->lookups, before);
}

static void await_state(struct fixture *f, enum vqp_meta_state state)
{
	for (int i = 0; i < 1000 && f->meta.state != state; i++) {
		vqp_meta_tick(&f->meta);
		talk(f);
	}
	assert_int_equal(f->meta.state, state);
}

static void a_name_is_looked_up(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	await_state(f, VQP_META_UP);
	assert_int_equal(lines, 0);
}

static void a_slow_name_server_holds_up_nobody(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	world->hangs = true;
	for (int i = 0; i < 3; i++) {
		vqp_meta_tick(&f->meta);
		talk(f);
	}
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	assert_string_equal(f->meta.error, "");
	skipped_ms += VQP_META_TIMEOUT_MS + 1;
	vqp_meta_tick(&f->meta);
	assert_string_equal(f->meta.error, "its name is being looked up");
	world->hangs = false;
	await_state(f, VQP_META_UP);
}

static void a_name_that_does_not_resolve_is_told_once_and_again_when_it_does(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	world->error = EAI_NONAME;
	await_lookup(f);
	await_lookup(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	assert_non_null(strstr(f->meta.error, "its name does not resolve: "));
	assert_non_null(strstr(logged, "its name does not resolve"));
	assert_int_equal(lines, 1);
	world->error = 0;
	await_lookup(f);
	assert_int_equal(lines, 2);
	await_state(f, VQP_META_UP);
	assert_string_equal(f->meta.error, "");
}

static void a_server_that_moves_is_followed(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	await_state(f, VQP_META_UP);
	stop_server(f);
	talk(f);
	assert_int_equal(f->meta.state, VQP_META_DOWN);
	memcpy(f->name, "127.0.0.2", strlen("127.0.0.2"));
	start_server(f, 200);
	world->address = inet_addr("127.0.0.2");
	await_lookup(f);
	await_state(f, VQP_META_UP);
	assert_int_equal(json_integer_value(json_object_get(f->meta.info, "key")), 200);
}

/* The server answers meanwhile, at the address that it has had. */
static void lookups_that_take_too_long_or_have_ended_are_told_as_long_as_it_lasts(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	await_state(f, VQP_META_UP);
	stop_server(f);
	talk(f);
	world->hangs = true;
	skipped_ms += VQP_RESOLVER_PERIOD_MS;
	vqp_meta_tick(&f->meta);
	assert_null(f->meta.lookup_trouble);
	start_server(f, 200);
	await_state(f, VQP_META_UP);
	skipped_ms += VQP_META_LOOKUP_MS;
	vqp_meta_tick(&f->meta);
	assert_non_null(strstr(f->meta.lookup_trouble, "for more than a minute"));
	world->hangs = false;
	for (int i = 0; i < 1000 && f->meta.resolver.asked; i++)
		talk(f);
	assert_null(f->meta.lookup_trouble);

	kill(f->meta.resolver.pid, SIGKILL);
	for (int i = 0; i < 1000 && f->meta.resolver.watch.fd >= 0; i++)
		talk(f);
	await_state(f, VQP_META_UP);
	assert_non_null(strstr(f->meta.lookup_trouble, "has ended"));
}

static void while_a_name_does_not_resolve_its_last_address_counts(void **state)
{
	struct fixture *f = *state;

	use_name(f);
	await_state(f, VQP_META_UP);
	stop_server(f);
	talk(f);
	world->error = EAI_AGAIN;
	await_lookup(f);
	start_server(f, 200);
	await_state(f, VQP_META_UP);
	assert_int_equal(lines, 1);
}

static void while_the_server_answers_its_name_is_not_looked_up(void **state)
{
	struct fixture *f = *state;
	int before;

	use_name(f);
	await_state(f, VQP_META_UP);
	before = world->lookups;
	skipped_ms += 2 * VQP_RESOLVER_PERIOD_MS;
	vqp_meta_tick(&f->meta);
	talk(f);
	assert_int_equal(world->lookups, before);
}

static void one_that_was_never_connected_closes_nothing(void **state)
{
	struct fixture *f = *state;
	struct vqp_meta meta;

	assert_int_equal(vqp_meta_init(&meta, &f->owner, 1, "127.0.0.1:1"), 0);
	vqp_meta_exit(&meta);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_says_hello_and_announces, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_a_batch_is_announced, setup, teardown),
		cmocka_unit_test_setup_teardown(a_later_add_is_announced_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(what_goes_is_withdrawn, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_entry_is_not_held, setup, teardown),
		cmocka_unit_test_setup_teardown(a_fresh_entry_displaces_anothers, setup, teardown),
		cmocka_unit_test_setup_teardown(a_restarted_server_is_told_everything, setup, teardown),
		cmocka_unit_test_setup_teardown(leases_are_renewed, setup, teardown),
		cmocka_unit_test_setup_teardown(silence_is_given_up_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_hello_is_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hello_without_a_table_is_no_hello, setup, teardown),
		cmocka_unit_test_setup_teardown(who_answers_unasked_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_made_anew_meanwhile_is_announced_as_new, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_withdrawn_and_made_anew_meanwhile_is_announced_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refusal_of_what_was_made_anew_meanwhile_is_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(what_became_due_meanwhile_is_announced_again, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_answered_is_announced_on_the_next_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(what_went_meanwhile_is_withdrawn, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_was_never_connected_closes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refusal_of_what_went_meanwhile_is_ignored, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_is_looked_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_slow_name_server_holds_up_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_that_does_not_resolve_is_told_once_and_again_when_it_does, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_moves_is_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(lookups_that_take_too_long_or_have_ended_are_told_as_long_as_it_lasts, setup, teardown),
		cmocka_unit_test_setup_teardown(while_a_name_does_not_resolve_its_last_address_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(while_the_server_answers_its_name_is_not_looked_up, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_device_nothing_is_announced, setup, teardown),
		cmocka_unit_test(names_of_servers_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
