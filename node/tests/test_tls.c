/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The key of meta servers, and servers and clients that have it, have another, or have none. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../reply.h"
#include "../server.h"
#include "turn.h"

#define KEY	"0123456789abcdef0123456789abcdef"
#define OTHER	"0123456789abcdef0123456789abcdeF"
#define TURNS	1000	/* the most that an exchange takes */

/* A server that echoes, and the key that it has. */
struct fixture {
	struct vqp_loop loop;
	struct vqp_server server;
	struct vqp_tls_key *key, *other;
	char refusal[200];
	char directory[64], socket[128], file[128];
};

static void serve(struct vqp_client *client, json_t *request)
{
	json_t *reply = json_copy(request);

	json_object_set_new(reply, "ok", json_true());
	vqp_server_answer(client, reply);
}

static void refused(const struct vqp_client *client, const json_t *reply)
{
	struct fixture *f = client->server->owner;

	snprintf(f->refusal, sizeof(f->refusal), "%s", vqp_reply_text(reply));
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int read_key(struct vqp_tls_key **key, const char *path, const char *text, mode_t mode)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret;

	if (text)
		write_file(path, text, mode);
	ret = vqp_tls_key_read(key, path, &error);
	assert_int_equal(error.code, ret);
	assert_true(!ret || !*key);
	return ret;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->directory, "/tmp/vqp-test-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->socket, sizeof(f->socket), "%s/sock", f->directory);
	snprintf(f->file, sizeof(f->file), "%s/" VQP_TLS_KEY_NAME, f->directory);
	assert_int_equal(read_key(&f->other, f->file, OTHER, 0600), 0);
	assert_int_equal(read_key(&f->key, f->file, KEY "\n", 0600), 0);
	assert_int_equal(vqp_loop_init(&f->loop), 0);
	f->server.owner = f;
	f->server.key = f->key;
	f->server.request = serve;
	f->server.refused = refused;
	assert_int_equal(vqp_server_listen_unix(&f->server, &f->loop, f->socket), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vqp_server_exit(&f->server);
	vqp_loop_exit(&f->loop);
	vqp_tls_key_free(f->key);
	vqp_tls_key_free(f->other);
	unlink(f->socket);
	unlink(f->file);
	rmdir(f->directory);
	free(f);
	return 0;
}

/* Has the server handle all events that there are now. */
static void turn(struct fixture *f)
{
	unit_turn(&f->loop, 0);
}

/* Connects a client with this key, which may be NULL. */
static struct vqp_line join(struct fixture *f, const struct vqp_tls_key *key)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct vqp_line line;

	strcpy(addr.sun_path, f->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	vqp_line_init(&line, fd, VQP_LINE_REPLY_MAX);
	assert_int_equal(vqp_line_secure(&line, key, false), 0);
	turn(f);
	return line;
}

/* Returns 1 and *reply, or how the connection ended. */
static int call(struct fixture *f, struct vqp_line *line, const json_t *request, json_t **reply)
{
	int ret = vqp_line_queue(line, request);

	for (int i = 0; i < TURNS && !ret; i++) {
		ret = vqp_line_flush(line);
		turn(f);
		if (ret)
			break;
		ret = vqp_line_fill(line);
		if (ret == 0)
			return -ECONNRESET;
		ret = ret < 0 ? ret : vqp_line_next(line, reply);
	}
	return ret;
}

static void assert_echo(struct fixture *f, struct vqp_line *line, size_t bytes)
{
	json_auto_t *request = json_object(), *reply = NULL;
	char *text = malloc(bytes + 1);

	assert_non_null(text);
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	json_object_set_new(request, "x", json_string(text));
	assert_int_equal(call(f, line, request, &reply), 1);
	json_object_set_new(request, "ok", json_true());
	assert_true(json_equal(request, reply));
	free(text);
}

static void clients_with_the_key_are_answered(void **state)
{
	struct fixture *f = *state;
	struct vqp_line line = join(f, f->key);

	assert_true(vqp_line_is_new(&line));
	/* of less than a record, of several records, and of one again */
	assert_echo(f, &line, 10);
	assert_false(vqp_line_is_new(&line));
	assert_echo(f, &line, 60000);
	assert_echo(f, &line, 10);
	assert_int_equal(f->server.count, 1);
	vqp_line_exit(&line);
	turn(f);
	assert_int_equal(f->server.count, 0);
	assert_string_equal(f->refusal, "");
	assert_int_equal(f->server.handshakes_failed, 0);
}

static void nothing_that_is_sent_can_be_read_on_the_way(void **state)
{
	struct fixture *f = *state;
	struct vqp_line line = join(f, f->key);
	json_auto_t *request = json_pack("{s:s}", "x", "a word that is not seen");
	char seen[4096];
	ssize_t n;

	assert_echo(f, &line, 10);
	assert_int_equal(vqp_line_queue(&line, request), 0);
	assert_int_equal(vqp_line_flush(&line), 0);
	/* The server's end, as an observer of the network sees it. */
	n = recv(f->server.clients->line.fd, seen, sizeof(seen), MSG_PEEK);
	assert_true(n > 0);
	assert_null(memmem(seen, n, "a word", 6));
	vqp_line_exit(&line);
}

static void clients_with_another_key_are_refused(void **state)
{
	struct fixture *f = *state;
	struct vqp_line line = join(f, f->other);
	json_auto_t *request = json_pack("{s:i}", "n", 1), *reply = NULL;

	assert_int_equal(call(f, &line, request, &reply), -EKEYREJECTED);
	assert_int_equal(f->server.count, 0);
	assert_string_equal(f->refusal, "the client has another key");
	assert_int_equal(f->server.handshakes_failed, 1);
	vqp_line_exit(&line);
}

static void clients_without_a_key_are_told_to_have_one(void **state)
{
	struct fixture *f = *state;
	struct vqp_line line = join(f, NULL);
	json_auto_t *request = json_pack("{s:i}", "n", 1), *reply = NULL;

	assert_int_equal(call(f, &line, request, &reply), 1);
	assert_int_equal(vqp_reply_errno(reply), EKEYREJECTED);
	assert_non_null(strstr(vqp_reply_text(reply), VQP_TLS_KEY_FILE));
	assert_int_equal(f->server.count, 0);
	assert_string_equal(f->refusal, vqp_reply_text(reply));
	assert_int_equal(f->server.handshakes_failed, 1);
	vqp_line_exit(&line);
}

/* What begins as TLS, and goes on as something else, is not answered and ends. */
static void nonsense_ends_the_connection(void **state)
{
	/* The first two may be the beginning of a handshake. */
	static const char *const nonsense[] = { "\x16", "\x16\x03\x01", "\x16\x03\x01\xff\xffxxxx", "\x16{\"op\":\"list\"}\n" };

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
		struct fixture *f = *state;
		struct vqp_line line = join(f, NULL);
		char seen[64];
		ssize_t n;

		assert_int_equal(write(line.fd, nonsense[i], strlen(nonsense[i])), strlen(nonsense[i]));
		turn(f);
		assert_int_equal(f->server.count, i < 2 ? 1 : 0);
		shutdown(line.fd, SHUT_WR);
		turn(f);
		assert_int_equal(f->server.count, 0);
		n = read(line.fd, seen, sizeof(seen));
		/* at most an alert */
		assert_true(n <= 0 || seen[0] == 21);
		vqp_line_exit(&line);
	}
}

/* A message of a handshake may say that it has 16 MiB: no more than a few records of it are kept. */
static void a_handshake_that_does_not_end_is_ended(void **state)
{
	static const char first[] = "\x16\x03\x01\x40\x00\x01\xff\xff\xff", next[] = "\x16\x03\x03\x40\x00";
	struct fixture *f = *state;
	struct vqp_line line = join(f, NULL);
	char record[5 + 16384] = { 0 };
	unsigned int sent = 0;

	memcpy(record, first, sizeof(first) - 1);
	while (f->server.count && sent++ < 100) {
		size_t done = 0;

		while (done < sizeof(record) && f->server.count) {
			ssize_t n = send(line.fd, record + done, sizeof(record) - done, MSG_NOSIGNAL);

			done += n > 0 ? n : 0;
			turn(f);
		}
		memcpy(record, next, sizeof(next) - 1);
		memset(record + 5, 0, 4);
	}
	assert_int_equal(f->server.count, 0);
	assert_true(sent < 20);
	vqp_line_exit(&line);
}

/* Both ends have more to send than sockets take, and more is queued meanwhile. */
static void what_is_sent_in_pieces_is_received_whole(void **state)
{
	struct fixture *f = *state;
	struct vqp_line line = join(f, f->key);
	json_auto_t *reply = NULL;
	char *text = calloc(1, 60001);
	int heard = 0;

	assert_non_null(text);
	memset(text, 'x', 60000);
	assert_echo(f, &line, 10);
	for (int i = 0; i < 60; i++) {
		json_auto_t *request = json_pack("{s:i, s:s}", "n", i, "x", text);

		assert_int_equal(vqp_line_queue(&line, request), 0);
		assert_int_equal(vqp_line_flush(&line), 0);
		turn(f);
	}
	assert_true(vqp_line_unsent(&line));
	for (int i = 0; i < 100 * TURNS && heard < 60; i++) {
		assert_int_equal(vqp_line_fill(&line), 1);
		while (vqp_line_next(&line, &reply) == 1) {
			assert_int_equal(json_integer_value(json_object_get(reply, "n")), heard++);
			json_decref(reply);
			reply = NULL;
		}
		assert_int_equal(vqp_line_flush(&line), 0);
		turn(f);
	}
	assert_int_equal(heard, 60);
	free(text);
	vqp_line_exit(&line);
}

static void silent_clients_have_a_limited_time(void **state)
{
	struct fixture *f = *state;
	struct vqp_line silent = join(f, NULL), known = join(f, f->key);

	assert_echo(f, &known, 10);
	vqp_server_tick(&f->server);
	assert_int_equal(f->server.count, 2);
	for (struct vqp_client *client = f->server.clients; client; client = client->next)
		client->since_ms -= VQP_TLS_HANDSHAKE_MS + 1;
	vqp_server_tick(&f->server);
	assert_int_equal(f->server.count, 1);
	assert_int_equal(f->server.handshakes_failed, 1);
	assert_echo(f, &known, 10);
	vqp_line_exit(&silent);
	vqp_line_exit(&known);
}

/* Strangers who take all places lose the oldest to each new client; those that are known keep theirs. */
static void strangers_do_not_keep_others_out(void **state)
{
	struct fixture *f = *state;
	struct vqp_line known = join(f, f->key), first, second, third;
	char c;

	assert_echo(f, &known, 10);
	first = join(f, NULL);
	second = join(f, NULL);
	f->server.count += VQP_SERVER_CLIENTS_MAX - 4;
	third = join(f, f->key);
	assert_int_equal(f->server.count, VQP_SERVER_CLIENTS_MAX - 1);
	f->server.count -= VQP_SERVER_CLIENTS_MAX - 4;
	assert_false(f->server.full);
	assert_int_equal(read(first.fd, &c, 1), 0);
	assert_int_equal(read(second.fd, &c, 1), -1);
	assert_echo(f, &third, 10);
	assert_echo(f, &known, 10);
	vqp_line_exit(&known);
	vqp_line_exit(&first);
	vqp_line_exit(&second);
	vqp_line_exit(&third);
}

static void keys_are_secret_and_long(void **state)
{
	struct fixture *f = *state;
	struct vqp_tls_key *key;
	char long_text[1026];

	assert_int_equal(read_key(&key, f->file, "short", 0600), -EINVAL);
	assert_int_equal(read_key(&key, f->file, "0123456789abcdef0123456789abcde \n", 0600), -EINVAL);
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(read_key(&key, f->file, long_text, 0600), -EINVAL);
	assert_int_equal(read_key(&key, f->file, KEY, 0644), -EPERM);
	assert_int_equal(read_key(&key, f->file, KEY, 0640), -EPERM);
	assert_int_equal(read_key(&key, f->file, KEY, 0620), -EPERM);
	assert_int_equal(read_key(&key, f->directory, NULL, 0), -EINVAL);
	unlink(f->file);
	assert_int_equal(read_key(&key, f->file, NULL, 0), -ENOENT);
	long_text[1024] = '\0';
	assert_int_equal(read_key(&key, f->file, long_text, 0400), 0);
	vqp_tls_key_free(key);
}

static void the_service_manager_passes_the_key(void **state)
{
	struct fixture *f = *state;
	struct vqp_tls_key *passed;
	cleanup_error struct vqp_error error = { 0 };
	struct vqp_line line;

	/* systemd gives such a file to its unit's user, who is in no group of others. */
	write_file(f->file, KEY, 0440);
	setenv("CREDENTIALS_DIRECTORY", f->directory, 1);
	assert_int_equal(vqp_tls_key_read(&passed, NULL, &error), 0);
	unsetenv("CREDENTIALS_DIRECTORY");
	line = join(f, passed);
	assert_echo(f, &line, 10);
	vqp_line_exit(&line);
	turn(f);
	vqp_tls_key_free(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(clients_with_the_key_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_that_is_sent_can_be_read_on_the_way, setup, teardown),
		cmocka_unit_test_setup_teardown(clients_with_another_key_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(clients_without_a_key_are_told_to_have_one, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_ends_the_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_handshake_that_does_not_end_is_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_sent_in_pieces_is_received_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_clients_have_a_limited_time, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers_do_not_keep_others_out, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_are_secret_and_long, setup, teardown),
		cmocka_unit_test_setup_teardown(the_service_manager_passes_the_key, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
