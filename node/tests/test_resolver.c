/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names are looked up by a getaddrinfo() of the test's own, in the resolver's process. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../vqpd/resolver.h"

/* What names are, which is shared with the resolvers. */
static volatile struct world {
	int error;
	int addresses;		/* how many the name has: 10.0.0.1, 10.0.0.2 ... */
	bool hangs;		/* Lookups do not end. */
	bool dies;		/* An NSS module brings the process down. */
	bool ignores_children;	/* what lookups have found: nobody can wait for programs */
	int lookups;		/* that have begun */
} *world;

static uint64_t now_ms = 100000;

uint64_t __wrap_vqp_loop_now_ms(void);

uint64_t __wrap_vqp_loop_now_ms(void)
{
	return now_ms;
}

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list);
int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list);

/* A list in one piece of the C library's own for each address, so that its freeaddrinfo() takes it. */
static int list_addresses(const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	for (int i = 1; i <= world->addresses; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.0.0.%d", i);
		if (__real_getaddrinfo(address, port, hints, list))
			return EAI_FAIL;
		list = &(*list)->ai_next;
	}
	return 0;
}

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	struct sigaction of_children;

	if (strcmp(host, "meta.test"))
		return EAI_NONAME;
	world->ignores_children = !sigaction(SIGCHLD, NULL, &of_children) && of_children.sa_handler == SIG_IGN;
	world->lookups++;
	if (world->dies)
		_exit(1);
	while (world->hangs)
		pause();
	errno = ENETDOWN;
	return world->error ? world->error : list_addresses(port, hints, list);
}

struct fixture {
	struct vqp_loop loop;
	struct vqp_resolver resolver;
	struct vqp_resolver_answer answer;
	int answers;		/* that have come, the process's end among them */
	bool ended;
};

static void answered(struct vqp_resolver *resolver, const struct vqp_resolver_answer *answer)
{
	struct fixture *f = (struct fixture *)((char *)resolver - offsetof(struct fixture, resolver));

	f->answers++;
	f->ended = !answer;
	if (answer)
		f->answer = *answer;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal((void *)world, MAP_FAILED);
	world->addresses = 1;
	assert_int_equal(vqp_loop_init(&f->loop), 0);
	signal(SIGCHLD, SIG_IGN);	/* as in vqpd */
	assert_int_equal(vqp_resolver_start(&f->resolver, &f->loop, "meta.test", "7471", answered), 0);
	signal(SIGCHLD, SIG_DFL);
	*state = f;
	return 0;
}

/* A resolver that is idle ends with its socket, and one that is not is killed. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	vqp_resolver_exit(&f->resolver);
	if (world->hangs)
		kill(f->resolver.pid, SIGKILL);
	assert_int_equal(waitpid(f->resolver.pid, NULL, 0), f->resolver.pid);
	vqp_loop_exit(&f->loop);
	munmap((void *)world, sizeof(*world));
	free(f);
	return 0;
}

/* Waits for what the process has to say. */
static void hear(struct fixture *f)
{
	struct epoll_event event;
	int before = f->answers;

	while (f->answers == before) {
		assert_int_equal(epoll_wait(f->loop.epoll_fd, &event, 1, 60000), 1);
		((struct vqp_watch *)event.data.ptr)->ready(event.data.ptr, event.events);
	}
}

static void look_up(struct fixture *f)
{
	now_ms += VQP_RESOLVER_PERIOD_MS;
	vqp_resolver_ask(&f->resolver);
	hear(f);
}

static void a_name_has_addresses(void **state)
{
	struct fixture *f = *state;

	world->addresses = 2;
	look_up(f);
	assert_int_equal(f->answer.error, 0);
	assert_int_equal(f->answer.count, 2);
	assert_int_equal(f->answer.addresses[1].v4.sin_family, AF_INET);
	assert_int_equal(ntohs(f->answer.addresses[1].v4.sin_port), 7471);
	assert_int_equal(ntohl(f->answer.addresses[1].v4.sin_addr.s_addr), 0x0a000002);
}

static void of_very_many_addresses_some_are_taken(void **state)
{
	struct fixture *f = *state;

	world->addresses = VQP_RESOLVER_MAX + 5;
	look_up(f);
	assert_int_equal(f->answer.count, VQP_RESOLVER_MAX);
}

static void a_name_that_does_not_resolve_has_a_reason(void **state)
{
	struct fixture *f = *state;

	world->error = EAI_AGAIN;
	look_up(f);
	assert_int_equal(f->answer.count, 0);
	assert_string_equal(vqp_resolver_reason(&f->answer), gai_strerror(EAI_AGAIN));
	world->error = EAI_SYSTEM;
	look_up(f);
	assert_string_equal(vqp_resolver_reason(&f->answer), strerror(ENETDOWN));
	world->error = 0;
	look_up(f);
	assert_int_equal(f->answer.count, 1);
}

static void it_is_asked_once_in_a_while(void **state)
{
	struct fixture *f = *state;

	look_up(f);
	vqp_resolver_ask(&f->resolver);
	now_ms += VQP_RESOLVER_PERIOD_MS - 1;
	vqp_resolver_ask(&f->resolver);
	assert_false(f->resolver.asked);
	now_ms++;
	vqp_resolver_ask(&f->resolver);
	assert_true(f->resolver.asked);
	hear(f);
	assert_int_equal(world->lookups, 2);
}

static void nobody_waits_for_a_lookup(void **state)
{
	struct fixture *f = *state;
	struct epoll_event event;

	world->hangs = true;
	vqp_resolver_ask(&f->resolver);
	while (!world->lookups)
		sched_yield();
	now_ms += 10 * VQP_RESOLVER_PERIOD_MS;
	vqp_resolver_ask(&f->resolver);
	assert_int_equal(epoll_wait(f->loop.epoll_fd, &event, 1, 0), 0);
	assert_int_equal(f->answers, 0);
}

static void its_end_is_told_once(void **state)
{
	struct fixture *f = *state;

	world->dies = true;
	look_up(f);
	assert_true(f->ended);
	assert_int_equal(f->resolver.watch.fd, -1);
	now_ms += VQP_RESOLVER_PERIOD_MS;
	vqp_resolver_ask(&f->resolver);
	assert_false(f->resolver.asked);
}

/* Closes the process's end, and puts that of a stranger in its place. */
static void say(struct fixture *f, const void *answer, size_t bytes)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	vqp_loop_remove(&f->loop, &f->resolver.watch);
	assert_int_equal(dup2(fds[0], f->resolver.watch.fd), f->resolver.watch.fd);
	close(fds[0]);
	assert_int_equal(vqp_loop_add(&f->loop, &f->resolver.watch, EPOLLIN), 0);
	assert_int_equal(send(fds[1], answer, bytes, 0), bytes);
	f->ended = false;
	hear(f);
	close(fds[1]);
}

static void nonsense_counts_as_its_end(void **state)
{
	struct vqp_resolver_answer answer = { .count = 1, .addresses[0].any.sa_family = AF_INET };
	struct fixture *f = *state;

	f->resolver.asked = true;
	say(f, &answer, sizeof(answer));
	assert_false(f->ended);

	f->resolver.asked = true;
	for (answer.count = 0; answer.count < VQP_RESOLVER_MAX; answer.count++)
		answer.addresses[answer.count].any.sa_family = AF_INET;
	answer.count++;
	say(f, &answer, sizeof(answer));
	assert_true(f->ended);
}

static void answers_are_whole_and_of_addresses(void **state)
{
	static const struct vqp_resolver_answer wrong[] = {
		{ .count = 1, .addresses[0].any.sa_family = AF_UNIX },
		{ .error = EAI_NONAME, .count = 1, .addresses[0].any.sa_family = AF_INET },
		{ .count = 0 },
	}, right = { .count = 1, .addresses[0].any.sa_family = AF_INET };
	struct fixture *f = *state;

	vqp_resolver_exit(&f->resolver);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		f->resolver.watch.fd = dup(STDERR_FILENO);	/* That before has ended with what it said. */
		f->resolver.asked = true;
		say(f, &wrong[i], sizeof(wrong[i]));
		assert_true(f->ended);
	}
	f->resolver.watch.fd = dup(STDERR_FILENO);
	f->resolver.asked = true;
	say(f, &right, sizeof(right) - 1);
	assert_true(f->ended);
}

static void what_was_not_asked_is_no_answer(void **state)
{
	const struct vqp_resolver_answer answer = { .count = 1, .addresses[0].any.sa_family = AF_INET };
	struct fixture *f = *state;

	say(f, &answer, sizeof(answer));
	assert_true(f->ended);
}

/* ---- What the process is ---- */

static bool has_line(pid_t pid, const char *line)
{
	char path[64], text[256];
	bool found = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "r");
	assert_non_null(status);
	while (!found && fgets(text, sizeof(text), status))
		found = !strcmp(text, line);
	fclose(status);
	return found;
}

static int count_descriptors(pid_t pid)
{
	char path[64];
	int count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	assert_non_null(directory);
	for (struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void it_has_no_privileges_and_one_descriptor(void **state)
{
	struct fixture *f = *state;

	look_up(f);
	assert_true(has_line(f->resolver.pid, "CapPrm:\t0000000000000000\n"));
	assert_true(has_line(f->resolver.pid, "CapEff:\t0000000000000000\n"));
	assert_true(has_line(f->resolver.pid, "NoNewPrivs:\t1\n"));
	assert_true(has_line(f->resolver.pid, "Name:\tvqpd-resolver\n"));
	assert_true(count_descriptors(f->resolver.pid) <= STDERR_FILENO + 2);
}

static void lookups_may_wait_for_programs(void **state)
{
	world->ignores_children = true;
	look_up(*state);
	assert_false(world->ignores_children);
}

/* Something like vqpd, which is killed while its resolver waits for a name server. */
static void it_ends_with_vqpd_whatever_it_does(void **state)
{
	struct fixture *f = *state;
	struct vqp_resolver resolver;
	int lookups, status;
	pid_t vqpd;

	look_up(f);
	world->hangs = true;
	lookups = world->lookups;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	vqpd = fork();
	assert_true(vqpd >= 0);
	if (!vqpd) {
		if (!vqp_resolver_start(&resolver, &f->loop, "meta.test", "7471", answered))
			vqp_resolver_ask(&resolver);
		for (;;)
			pause();
	}
	while (world->lookups == lookups)
		sched_yield();
	kill(vqpd, SIGKILL);
	assert_int_equal(waitpid(vqpd, &status, 0), vqpd);
	/* The orphan: the other resolver is idle, and lives. */
	assert_true(waitpid(-1, &status, 0) != f->resolver.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	world->hangs = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_name_has_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(of_very_many_addresses_some_are_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_that_does_not_resolve_has_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_asked_once_in_a_while, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_waits_for_a_lookup, setup, teardown),
		cmocka_unit_test_setup_teardown(its_end_is_told_once, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_counts_as_its_end, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_are_whole_and_of_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_asked_is_no_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(it_has_no_privileges_and_one_descriptor, setup, teardown),
		cmocka_unit_test_setup_teardown(lookups_may_wait_for_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(it_ends_with_vqpd_whatever_it_does, setup, teardown),
	};

	alarm(120);	/* A process that does not end fails the test. */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
