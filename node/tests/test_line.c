/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../line.h"

#define MAX 100

struct pair {
	struct vqp_line line;
	int peer;
};

static int setup(void **state)
{
	static struct pair pair;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	vqp_line_init(&pair.line, fds[0], MAX);
	pair.peer = fds[1];
	*state = &pair;
	return 0;
}

static int teardown(void **state)
{
	struct pair *pair = *state;

	vqp_line_exit(&pair->line);
	close(pair->peer);
	return 0;
}

static void say(const struct pair *pair, const char *text)
{
	assert_int_equal(write(pair->peer, text, strlen(text)), strlen(text));
}

static void assert_number(struct pair *pair, int number)
{
	json_t *object;

	assert_int_equal(vqp_line_next(&pair->line, &object), 1);
	assert_int_equal(json_integer_value(json_object_get(object, "n")), number);
	json_decref(object);
}

static void lines_come_out_one_by_one(void **state)
{
	struct pair *pair = *state;
	json_t *object;

	say(pair, "{\"n\":1}\n{\"n\":2}\n{\"n\"");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_number(pair, 1);
	assert_true(vqp_line_complete(&pair->line));
	assert_number(pair, 2);
	assert_false(vqp_line_complete(&pair->line));
	assert_int_equal(vqp_line_next(&pair->line, &object), 0);
	say(pair, ":3}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_number(pair, 3);
}

static void a_line_may_come_byte_by_byte(void **state)
{
	struct pair *pair = *state;
	json_t *object;

	for (const char *c = "{\"n\":7}"; *c; c++) {
		assert_int_equal(write(pair->peer, c, 1), 1);
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(vqp_line_next(&pair->line, &object), 0);
	}
	say(pair, "\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_number(pair, 7);
}

static void nothing_yet_is_not_the_end(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(vqp_line_fill(&pair->line), 1);
	shutdown(pair->peer, SHUT_WR);
	assert_int_equal(vqp_line_fill(&pair->line), 0);
}

static void what_is_no_object_is_skipped(void **state)
{
	static const char *const bad[] = { "", "1", "[]", "\"x\"", "{", "{\"n\":1}}", "{\"n\":1,\"n\":2}", "\xff" };
	struct pair *pair = *state;
	json_t *object;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		say(pair, bad[i]);
		say(pair, "\n{\"n\":1}\n");
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(vqp_line_next(&pair->line, &object), -EBADMSG);
		assert_number(pair, 1);
	}
}

static void a_line_that_is_too_long_is_skipped(void **state)
{
	struct pair *pair = *state;
	char text[MAX + 2];
	json_t *object;

	memset(text, ' ', MAX + 1);
	text[MAX + 1] = '\0';
	say(pair, text);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), -EMSGSIZE);
	for (int i = 0; i < 3; i++) {
		say(pair, text);
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(vqp_line_next(&pair->line, &object), 0);
		assert_int_equal(pair->line.in_bytes, 0);
	}
	say(pair, "end of it\n{\"n\":1}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_number(pair, 1);
}

static void a_line_of_the_greatest_length_is_taken(void **state)
{
	struct pair *pair = *state;
	char text[MAX + 2];
	json_t *object;

	memset(text, ' ', MAX);
	memcpy(text, "{\"n\":1}", 7);
	strcpy(text + MAX, "\n");
	say(pair, text);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_number(pair, 1);
	memset(text, ' ', MAX);
	say(pair, " ");
	say(pair, text);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), -EMSGSIZE);
}

static void much_is_sent_piece_by_piece(void **state)
{
	struct pair *pair = *state;
	json_t *object = json_pack("{s:s}", "x", "0123456789");
	size_t line_bytes = strlen("{\"x\":\"0123456789\"}\n"), total = 20000 * line_bytes, got = 0;
	char buffer[5000];

	for (int i = 0; i < 20000; i++)
		assert_int_equal(vqp_line_queue(&pair->line, object), 0);
	json_decref(object);
	while (got < total) {
		ssize_t n;

		assert_int_equal(vqp_line_flush(&pair->line), 0);
		n = read(pair->peer, buffer, sizeof(buffer));
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(buffer[i], "{\"x\":\"0123456789\"}\n"[(got + i) % line_bytes]);
		got += n;
	}
	assert_false(vqp_line_unsent(&pair->line));
}

/* Sends a text, and with it a file's descriptor, `count` times. */
static void say_with(const struct pair *pair, const char *text, const char *path, size_t count)
{
	const int passed = open(path, O_RDONLY);

	assert_true(passed >= 0);
	unit_send(pair->peer, text, passed, count);
	close(passed);
}

/* Sends a text, and with it the network namespace. */
static void say_with_netns(const struct pair *pair, const char *text)
{
	say_with(pair, text, "/proc/self/ns/net", 1);
}

/* The next line is an object. Returns its descriptor, or why there is none. */
static int next_fd(struct pair *pair)
{
	json_t *object;
	int fd;

	assert_int_equal(vqp_line_next(&pair->line, &object), 1);
	json_decref(object);
	fd = vqp_line_take_fd(&pair->line);
	assert_int_equal(vqp_line_take_fd(&pair->line), -ENOENT);
	return fd;
}

/* The next line is an object, with a descriptor or without. */
static void assert_next(struct pair *pair, bool has_fd)
{
	const int fd = next_fd(pair);

	if (has_fd)
		assert_int_equal(close(fd), 0);
	else
		assert_int_equal(fd, -ENOENT);
}

static void a_descriptor_is_of_the_line_that_it_came_with(void **state)
{
	struct pair *pair = *state;

	say(pair, "{\"n\":1}\n");
	say_with_netns(pair, "{\"n\":2}\n");
	say(pair, "{\"n\":3}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_next(pair, false);
	assert_next(pair, true);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_next(pair, false);
}

static void a_descriptor_comes_with_the_begin_of_a_line(void **state)
{
	struct pair *pair = *state;
	json_t *object;

	say_with_netns(pair, "{\"n\":");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), 0);
	say(pair, "1}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_next(pair, true);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 64; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void descriptors_that_nobody_takes_are_closed(void **state)
{
	struct pair *pair = *state;
	const int before = count_descriptors();
	json_t *object;

	for (int i = 0; i < 3; i++) {
		say_with_netns(pair, "{\"n\":1}\n");
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(vqp_line_next(&pair->line, &object), 1);
		json_decref(object);
	}
	say_with_netns(pair, "nonsense\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), -EBADMSG);
	say_with_netns(pair, "{\"n\":");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	vqp_line_exit(&pair->line);
	assert_int_equal(count_descriptors(), before - 1);	/* The line's own has gone, too. */
}

static void a_descriptor_of_a_line_that_is_refused_goes_with_it(void **state)
{
	struct pair *pair = *state;
	const int before = count_descriptors();
	char text[MAX * 2 + 1];
	json_t *object;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	say_with_netns(pair, text);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), -EMSGSIZE);
	assert_int_equal(count_descriptors(), before);
	say_with_netns(pair, "x");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), 0);
	say(pair, "\n{\"n\":1}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_next(pair, false);
	say_with_netns(pair, "nonsense\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_next(&pair->line, &object), -EBADMSG);
	assert_int_equal(count_descriptors(), before);
}

static void several_descriptors_are_none(void **state)
{
	struct pair *pair = *state;
	const int before = count_descriptors();

	for (size_t count = 2; count <= 4; count++) {
		say_with(pair, "{\"n\":1}\n", "/proc/self/ns/net", count);
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(next_fd(pair), -EMFILE);
		assert_int_equal(count_descriptors(), before);
	}
}

static void a_second_descriptor_in_a_line_ends_the_connection(void **state)
{
	struct pair *pair = *state;
	const int before = count_descriptors();

	say_with_netns(pair, "{\"n\":");
	say_with_netns(pair, "1}\n{\"n\":2}\n");
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(vqp_line_fill(&pair->line), -EPROTO);
	assert_int_equal(count_descriptors(), before + 1);	/* the first, until the line's end */
}

static void a_descriptor_of_another_kind_is_closed_at_once(void **state)
{
	static const char *const paths[] = { "/proc/self/ns/mnt", "/dev/null", "/proc/self/exe" };
	struct pair *pair = *state;
	const int before = count_descriptors();

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		say_with(pair, "{\"n\":", paths[i], 1);
		say(pair, "1}\n");
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(count_descriptors(), before);
		assert_int_equal(vqp_line_fill(&pair->line), 1);
		assert_int_equal(next_fd(pair), -EINVAL);
	}
}

static void a_descriptor_that_cannot_be_received_is_missed(void **state)
{
	struct pair *pair = *state;
	struct rlimit limit, full;

	say_with_netns(pair, "{\"n\":1}\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	full = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
	assert_int_equal(vqp_line_fill(&pair->line), 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(next_fd(pair), -EMFILE);
}

static void a_call_times_out(void **state)
{
	struct pair *pair = *state;
	json_t *request = json_object(), *reply;

	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 50), -ETIMEDOUT);
	close(pair->peer);
	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 5000), -EPIPE);
	json_decref(request);
}

static void a_call_is_answered(void **state)
{
	struct pair *pair = *state;
	json_t *request = json_pack("{s:i}", "n", 1), *reply;
	char heard[16] = "";

	say(pair, "{\"n\":2}\n");
	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 5000), 0);
	assert_int_equal(json_integer_value(json_object_get(reply, "n")), 2);
	assert_int_equal(read(pair->peer, heard, sizeof(heard) - 1), 8);
	assert_string_equal(heard, "{\"n\":1}\n");
	json_decref(request);
	json_decref(reply);
}

static void a_call_to_who_says_nonsense_fails(void **state)
{
	struct pair *pair = *state;
	json_t *request = json_object(), *reply;

	say(pair, "nonsense\n");
	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 5000), -EBADMSG);
	json_decref(request);
}

static void a_call_to_who_hangs_up_fails(void **state)
{
	struct pair *pair = *state;
	json_t *request = json_object(), *reply;

	shutdown(pair->peer, SHUT_WR);
	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 5000), -ECONNRESET);
	json_decref(request);
}

/* Hears a line, as slowly as it comes, and answers it with its length. */
static void *hear(void *data)
{
	const struct pair *pair = data;
	char text[4096], answer[32];
	size_t bytes = 0;
	ssize_t n;

	do {
		poll(&(struct pollfd){ .fd = pair->peer, .events = POLLIN }, 1, -1);
		n = read(pair->peer, text, sizeof(text));
		bytes += n > 0 ? n : 0;
	} while (n < 1 || text[n - 1] != '\n');
	snprintf(answer, sizeof(answer), "{\"n\":%zu}\n", bytes);
	say(pair, answer);
	return NULL;
}

static void a_long_request_is_sent_as_it_is_heard(void **state)
{
	static char text[4 << 20];
	struct pair *pair = *state;
	json_t *request, *reply;
	pthread_t thread;

	memset(text, 'x', sizeof(text) - 1);
	request = json_pack("{s:s}", "x", text);
	assert_int_equal(pthread_create(&thread, NULL, hear, pair), 0);
	assert_int_equal(vqp_line_call(&pair->line, request, &reply, 60000), 0);
	pthread_join(thread, NULL);
	assert_int_equal(json_integer_value(json_object_get(reply, "n")), sizeof(text) - 1 + strlen("{\"x\":\"\"}\n"));
	json_decref(request);
	json_decref(reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_come_out_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_may_come_byte_by_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_yet_is_not_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_object_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_that_is_too_long_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_of_the_greatest_length_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(much_is_sent_piece_by_piece, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_is_of_the_line_that_it_came_with, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_comes_with_the_begin_of_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_that_nobody_takes_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_of_a_line_that_is_refused_goes_with_it, setup, teardown),
		cmocka_unit_test_setup_teardown(several_descriptors_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_second_descriptor_in_a_line_ends_the_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_of_another_kind_is_closed_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_that_cannot_be_received_is_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_times_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_who_says_nonsense_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_to_who_hangs_up_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(a_long_request_is_sent_as_it_is_heard, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
