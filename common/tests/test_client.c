/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../client.h"

/* A vqpd that hears one line and receives a descriptor, says `says` and hangs up. */
struct fixture {
	pthread_t thread;
	int fd, received;
	char directory[64], path[80], heard[256];
	const char *says;
};

static void *answer(void *data)
{
	struct fixture *f = data;
	int fd = accept(f->fd, NULL, NULL);
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec heard = { .iov_base = f->heard, .iov_len = sizeof(f->heard) - 1 };
	struct msghdr message = {
		.msg_iov = &heard, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &message, 0);

	if (n > 0 && CMSG_FIRSTHDR(&message))
		memcpy(&f->received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(f->received));
	if (n > 0 && f->says)
		if (write(fd, f->says, strlen(f->says)) < 0)
			perror("write");
	close(fd);
	return NULL;
}

static int call_with(struct fixture *f, int netns_fd, const char *says, json_t **reply, struct vqp_error *error)
{
	json_t *request = json_pack("{s:s}", "op", "status");
	int ret;

	f->says = says;
	f->received = -1;
	assert_int_equal(pthread_create(&f->thread, NULL, answer, f), 0);
	ret = vqpd_call(f->path, request, netns_fd, reply, error);
	pthread_join(f->thread, NULL);
	json_decref(request);
	return ret;
}

static int call(struct fixture *f, const char *says, json_t **reply, struct vqp_error *error)
{
	return call_with(f, -1, says, reply, error);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	assert_non_null(f);
	strcpy(f->directory, "/tmp/vqp-test-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/sock", f->directory);
	strcpy(addr.sun_path, f->path);
	f->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(f->fd, 1), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->fd);
	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

static void success_gives_the_reply(void **state)
{
	struct fixture *f = *state;
	json_t *reply;
	struct vqp_error error = { 0 };

	assert_int_equal(call(f, "{\"ok\":true,\"n\":7}\n", &reply, &error), 0);
	assert_string_equal(f->heard, "{\"op\":\"status\"}\n");
	assert_int_equal(json_integer_value(json_object_get(reply, "n")), 7);
	assert_null(error.text);
	json_decref(reply);
}

/* `err` is positive if that is an answer. */
static void assert_failure(struct fixture *f, const char *says, int err, const char *part)
{
	json_t *reply;
	struct vqp_error error = { 0 };

	assert_int_equal(call(f, says, &reply, &error), err);
	assert_null(reply);
	assert_non_null(strstr(error.text, part));
	vqp_error_clear(&error);
}

static void refusals_keep_errno_and_text(void **state)
{
	assert_failure(*state, "{\"ok\":false,\"errno\":\"EEXIST\",\"error\":\"do this\"}\n", EEXIST, "do this");
}

static void a_refusal_may_say_little(void **state)
{
	assert_failure(*state, "{\"ok\":false}\n", EPROTO, "without a reason");
}

/* Nobody is there any more; or vqpd says that something else is not there. */
static void refusals_are_told_from_silence(void **state)
{
	assert_failure(*state, "{\"ok\":false,\"errno\":\"ENOENT\",\"error\":\"no netns\"}\n", ENOENT, "no netns");
	assert_failure(*state, NULL, -EPROTO, "without an answer");
}

static void nonsense_is_noticed(void **state)
{
	assert_failure(*state, "nonsense\n", EPROTO, "makes no sense");
}

static void a_hangup_is_noticed(void **state)
{
	assert_failure(*state, "{\"ok\":tr", -EPROTO, "without an answer");
}

static void nobody_there_says_how_to_start_it(void **state)
{
	json_t *request = json_object(), *reply;
	struct fixture *f = *state;
	struct vqp_error error = { 0 };

	assert_int_equal(vqpd_call("/nonexistent/sock", request, -1, &reply, &error), -ENOENT);
	assert_non_null(strstr(error.text, "systemctl start vqpd"));
	vqp_error_clear(&error);
	close(f->fd);
	f->fd = -1;
	assert_int_equal(vqpd_call(f->path, request, -1, &reply, &error), -ECONNREFUSED);
	assert_non_null(strstr(error.text, "systemctl start vqpd"));
	vqp_error_clear(&error);
	json_decref(request);
}

/* ---- Time, which is the test's own ---- */

static long long time_ms = 1000000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*ts = (struct timespec){ time_ms / 1000, time_ms % 1000 * 1000000 };
	return 0;
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

/* It passes where the client waits for nothing else. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (count)
		return __real_poll(fds, count, timeout_ms);
	time_ms += timeout_ms;
	return 0;
}

/* ---- A vqpd that is being started ---- */

/* How often nobody listened, and who does so from the second time on. */
static int refusals;
static struct fixture *starting;

/* How often a signal comes first. */
static int connect_signals, send_signals;

static void stop_listening(struct fixture *f)
{
	close(f->fd);
	f->fd = -1;
}

static void listen_anew(struct fixture *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, f->path);
	unlink(f->path);
	f->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(f->fd, 1), 0);
	assert_int_equal(pthread_create(&f->thread, NULL, answer, f), 0);
}

int __real_connect(int fd, const struct sockaddr *to, socklen_t bytes);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes);

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
	int ret, err;

	if (connect_signals) {
		connect_signals--;
		errno = EINTR;
		return -1;
	}
	ret = __real_connect(fd, to, bytes);
	err = errno;
	if (ret && ++refusals == 2 && starting)
		listen_anew(starting);
	errno = err;
	return ret;
}

static int call_as(struct fixture *f, const char *op, struct vqp_error *error)
{
	json_t *request = json_pack("{s:s}", "op", op), *reply;
	int ret = vqpd_call(f->path, request, -1, &reply, error);

	json_decref(reply);
	json_decref(request);
	return ret;
}

/* The socket is one that nobody listens to any more, or `path_goes` and it is not there. */
static void start_while_called(struct fixture *f, bool path_goes)
{
	struct vqp_error error = { 0 };

	stop_listening(f);
	if (path_goes)
		unlink(f->path);
	refusals = 0;
	starting = f;
	f->says = "{\"ok\":true}\n";
	assert_int_equal(call_as(f, "add", &error), 0);
	starting = NULL;
	pthread_join(f->thread, NULL);
	assert_int_equal(refusals, 2);
}

static void an_add_waits_for_a_vqpd_that_is_being_started(void **state)
{
	start_while_called(*state, false);
	start_while_called(*state, true);
}

/* One that ends before it answers, and another that answers. */
static void *end_and_answer(void *data)
{
	struct fixture *f = data;

	answer(f);
	f->says = "{\"ok\":true}\n";
	return answer(f);
}

static int call_while_it_ends(struct fixture *f, const char *op, const char *says, struct vqp_error *error)
{
	int ret;

	f->says = says;
	assert_int_equal(pthread_create(&f->thread, NULL, end_and_answer, f), 0);
	ret = call_as(f, op, error);
	/* which another call lets end, if this one has not */
	if (ret)
		assert_int_equal(call_as(f, "add", &(struct vqp_error){ 0 }), 0);
	pthread_join(f->thread, NULL);
	return ret;
}

static void what_a_start_asks_is_asked_again_when_vqpd_ends(void **state)
{
	struct vqp_error error = { 0 };

	assert_int_equal(call_while_it_ends(*state, "add", NULL, &error), 0);
	assert_int_equal(call_while_it_ends(*state, "policy", "{\"ok\":tr", &error), 0);
	assert_null(error.text);
	assert_int_equal(call_while_it_ends(*state, "del", NULL, &error), -EPROTO);
	vqp_error_clear(&error);
}

static void assert_gives_up(struct fixture *f, const char *op, long long after_ms)
{
	const long long began_ms = time_ms;
	struct vqp_error error = { 0 };

	assert_int_equal(call_as(f, op, &error), -ECONNREFUSED);
	assert_non_null(strstr(error.text, "vqpd is not running"));
	assert_true(time_ms - began_ms >= after_ms && time_ms - began_ms < VQPD_TIMEOUT_MS);
	vqp_error_clear(&error);
}

static void nobody_is_waited_for_for_ever(void **state)
{
	struct fixture *f = *state;

	stop_listening(f);
	assert_gives_up(f, "add", VQPD_START_ADD_MS);
	assert_gives_up(f, "policy", VQPD_START_ADD_MS);
	assert_gives_up(f, "del", VQPD_START_MS);
}

/* ---- Signals ---- */

static long long sent_with_limit_ms;

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

/* Each signal comes after a second. */
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct timeval limit;
	socklen_t bytes = sizeof(limit);

	if (send_signals) {
		send_signals--;
		time_ms += 1000;
		errno = EINTR;
		return -1;
	}
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &bytes), 0);
	sent_with_limit_ms = limit.tv_sec * 1000LL + limit.tv_usec / 1000;
	return __real_sendmsg(fd, message, flags);
}

static void a_signal_while_it_connects_is_no_failure(void **state)
{
	json_t *reply;

	connect_signals = 2;
	assert_int_equal(call(*state, "{\"ok\":true}\n", &reply, &(struct vqp_error){ 0 }), 0);
	json_decref(reply);
}

static void signals_do_not_prolong_a_send(void **state)
{
	json_t *reply;

	send_signals = 3;
	assert_int_equal(call(*state, "{\"ok\":true}\n", &reply, &(struct vqp_error){ 0 }), 0);
	assert_int_equal(sent_with_limit_ms, VQPD_TIMEOUT_MS - 3000);
	json_decref(reply);
}
static void vqpd_is_away_if_it_does_not_answer(void **state)
{
	(void)state;
	assert_true(vqpd_is_away(-ECONNREFUSED));
	assert_true(vqpd_is_away(-ETIMEDOUT));
	assert_false(vqpd_is_away(0));
	assert_false(vqpd_is_away(-EACCES));
	/* It has answered. */
	assert_false(vqpd_is_away(ENOENT));
	assert_false(vqpd_is_away(EPROTO));
}

static void too_long_a_path_is_refused(void **state)
{
	json_t *request = json_object(), *reply;
	struct vqp_error error = { 0 };
	char path[200];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(vqpd_call(path, request, -1, &reply, &error), -ENAMETOOLONG);
	vqp_error_clear(&error);
	json_decref(request);
}

static void long_answers_are_taken_whole(void **state)
{
	static char says[1000000];
	json_t *reply;
	struct vqp_error error = { 0 };

	strcpy(says, "{\"ok\":true,\"x\":\"");
	memset(says + strlen(says), 'x', sizeof(says) - 100);
	strcat(says, "\"}\n");
	assert_int_equal(call(*state, says, &reply, &error), 0);
	assert_int_equal(json_string_length(json_object_get(reply, "x")), sizeof(says) - 100);
	json_decref(reply);
}

static void an_endless_answer_is_refused(void **state)
{
	char *says = malloc(VQPD_REPLY_MAX + 2);

	assert_non_null(says);
	memset(says, 'x', VQPD_REPLY_MAX + 1);
	says[VQPD_REPLY_MAX + 1] = '\0';
	signal(SIGPIPE, SIG_IGN);
	assert_failure(*state, says, -EPROTO, "longer than");
	free(says);
}

static void who_is_no_vqpd_is_told(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	json_t *request = json_object(), *reply;
	struct vqp_error error = { 0 };

	close(f->fd);
	unlink(f->path);
	strcpy(addr.sun_path, f->path);
	f->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(vqpd_call(f->path, request, -1, &reply, &error), -EPROTOTYPE);
	assert_non_null(strstr(error.text, f->path));
	vqp_error_clear(&error);
	json_decref(request);
}

static void a_descriptor_goes_with_the_request(void **state)
{
	struct fixture *f = *state;
	int passed = open("/dev/null", O_RDONLY);
	struct stat sent, received;
	json_t *reply;

	assert_int_equal(call_with(f, passed, "{\"ok\":true}\n", &reply, &(struct vqp_error){ 0 }), 0);
	json_decref(reply);
	assert_true(f->received >= 0 && f->received != passed);
	assert_int_equal(fstat(passed, &sent), 0);	/* It is still the caller's. */
	assert_int_equal(fstat(f->received, &received), 0);
	assert_int_equal(received.st_rdev, sent.st_rdev);
	close(f->received);
	close(passed);

	assert_int_equal(call(f, "{\"ok\":true}\n", &reply, &(struct vqp_error){ 0 }), 0);
	json_decref(reply);
	assert_int_equal(f->received, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(success_gives_the_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_goes_with_the_request, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_keep_errno_and_text, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refusal_may_say_little, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_are_told_from_silence, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hangup_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_there_says_how_to_start_it, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_start_asks_is_asked_again_when_vqpd_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(an_add_waits_for_a_vqpd_that_is_being_started, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_is_waited_for_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(a_signal_while_it_connects_is_no_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(signals_do_not_prolong_a_send, setup, teardown),
		cmocka_unit_test(vqpd_is_away_if_it_does_not_answer),
		cmocka_unit_test_setup_teardown(too_long_a_path_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(long_answers_are_taken_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(an_endless_answer_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_no_vqpd_is_told, setup, teardown),
	};

	alarm(60);	/* A call that does not come to the server fails the test. */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
