/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* libvqp-run.so's socket(2), which calls a stand-in of the C library's. */
#include "../../common/tests/unit.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <linux/vqp.h>

/* what the stand-in returns as a descriptor */
enum { FD_OF_VQP = 1000, FD_OF_OTHERS };

static int refusal;		/* the error with which it refuses IPPROTO_VQP; 0 if it does not */
static int asked_vqp, asked_others;	/* how often it was called */

static int stand_in(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	if (protocol != IPPROTO_VQP) {
		asked_others++;
		return FD_OF_OTHERS;
	}
	asked_vqp++;
	errno = refusal ? refusal : errno;
	return refusal ? -1 : FD_OF_VQP;
}

void *__wrap_dlsym(void *handle, const char *name);

void *__wrap_dlsym(void *handle, const char *name)
{
	int (*found)(int domain, int type, int protocol) = stand_in;
	void *symbol;

	(void)handle;
	assert_string_equal(name, "socket");
	memcpy(&symbol, &found, sizeof(symbol));
	return symbol;
}

/* Runs it in a process of its own, since the library remembers that it was refused. */
static void holds(bool (*run)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child)
		_exit(!run());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool gets_vqp(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) == FD_OF_VQP && socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP) == FD_OF_VQP &&
	       socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 262) == FD_OF_VQP && asked_others == 0;
}

static bool leaves_others(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0) == FD_OF_OTHERS && socket(AF_UNIX, SOCK_STREAM, 0) == FD_OF_OTHERS &&
	       socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP) == FD_OF_OTHERS && asked_vqp == 0;
}

/* What it asked for, once and for all, and with errno as it was. */
static bool falls_back(void)
{
	errno = EDOM;
	return socket(AF_INET, SOCK_STREAM, 0) == FD_OF_OTHERS && errno == EDOM &&
	       socket(AF_INET, SOCK_STREAM, 0) == FD_OF_OTHERS && asked_vqp == 1 && asked_others == 2;
}

static bool fails(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == refusal && asked_others == 0;
}

static void who_asks_for_tcp_gets_sockets_of_vqp(void **state)
{
	(void)state;
	refusal = 0;
	holds(gets_vqp);
	holds(leaves_others);
}

static void who_gets_none_of_vqp_gets_what_was_asked_for(void **state)
{
	static const int errors[] = { EPROTONOSUPPORT, EPERM, EACCES, EINVAL };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		refusal = errors[i];
		holds(falls_back);
	}
}

static void what_tcp_would_lack_as_well_is_told(void **state)
{
	static const int errors[] = { EMFILE, ENFILE, ENOBUFS, ENOMEM, EAFNOSUPPORT };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		refusal = errors[i];
		holds(fails);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asks_for_tcp_gets_sockets_of_vqp),
		cmocka_unit_test(who_gets_none_of_vqp_gets_what_was_asked_for),
		cmocka_unit_test(what_tcp_would_lack_as_well_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
