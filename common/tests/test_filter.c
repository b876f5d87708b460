/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each call is made by a process that has the filter. Refused ones would succeed without it, or fail with
 * another errno; of allowed ones it matters only that they get through.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/vqp.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../filter.h"

#define ALL_AS_EXPECTED	42
#define FIRST_CALL	100

enum {
	HOOK = 1 << VQP_PROGRAM_HOOK,
	POSTSTOP = 1 << VQP_PROGRAM_POSTSTOP,
	VQPD = 1 << VQP_PROGRAM_VQPD,
	METAD = 1 << VQP_PROGRAM_METAD,
	ALL = HOOK | POSTSTOP | VQPD | METAD,
};

static char *const nothing[] = { NULL };

static const struct {
	const char *what;
	unsigned int allowed;
	long number, args[4];
} calls[] = {
	{ "read a file", ALL, SYS_openat, { AT_FDCWD, (long)"/dev/null", O_RDONLY | O_CLOEXEC } },
	{ "write to a file", 0, SYS_openat, { AT_FDCWD, (long)"/dev/null", O_WRONLY } },
	{ "read and write", 0, SYS_openat, { AT_FDCWD, (long)"/dev/null", O_RDWR } },
	{ "make a file", 0, SYS_openat, { AT_FDCWD, (long)"/dev/null", O_RDONLY | O_CREAT, 0600 } },
	{ "the old way to open", 0, SYS_open, { (long)"/dev/null", O_RDONLY } },
	{ "remove a file", VQPD, SYS_unlink, { (long)"/nowhere/to/be/found" } },
	{ "change a mode", 0, SYS_chmod, { (long)"/nowhere/to/be/found", 0600 } },
	{ "run a program", 0, SYS_execve, { (long)"/bin/true", (long)nothing, (long)nothing } },
	{ "make a process", 0, SYS_fork, { 0 } },
	{ "trace", 0, SYS_ptrace, { PTRACE_TRACEME } },
	{ "send a signal", 0, SYS_kill, { 0, 0 } },
	{ "change the user", 0, SYS_setresuid, { -1, -1, -1 } },
	{ "enter a network namespace", HOOK, SYS_setns, { -1, CLONE_NEWNET } },
	{ "give up privileges", HOOK, SYS_capset, { 0, 0 } },
	{ "wait for clients", HOOK, SYS_listen, { -1, 0 } },
	{ "wait for a process", HOOK, SYS_pidfd_open, { -1, 0 } },
	{ "enter a user namespace", 0, SYS_setns, { -1, CLONE_NEWUSER } },
	{ "enter any namespace", 0, SYS_setns, { -1, 0 } },
	{ "make a namespace", 0, SYS_unshare, { 0 } },
	{ "talk to each other", ALL, SYS_socket, { AF_UNIX, SOCK_STREAM, 0 } },
	{ "talk to meta servers", VQPD, SYS_socket, { AF_INET, SOCK_STREAM, 0 } },
	{ "send packets", 0, SYS_socket, { AF_PACKET, SOCK_RAW, 0 } },
	{ "ask the device", HOOK | METAD, SYS_ioctl, { -1, VQP_IOC_QUERY } },
	{ "ask for a namespace's kind", VQPD, SYS_ioctl, { -1, NS_GET_NSTYPE } },
	{ "type on a terminal", 0, SYS_ioctl, { -1, TIOCSTI } },
	{ "run what is in memory", 0, SYS_mprotect, { 0, 0, 0 } },
};

static int try_all(enum vqp_program program)
{
	if (vqp_filter_install(program))
		return 1;
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const long *args = calls[i].args;
		long ret = syscall(calls[i].number, args[0], args[1], args[2], args[3]);
		bool refused = ret < 0 && errno == EPERM;

		if (refused == !!(calls[i].allowed & 1U << program))
			return FIRST_CALL + (int)i;
	}
	return ALL_AS_EXPECTED;
}

static void check_program(enum vqp_program program)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)	/* not by _exit(), where AddressSanitizer has calls of its own to make */
		syscall(SYS_exit_group, try_all(program));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) >= FIRST_CALL)
		fail_msg("not as it should be: %s", calls[WEXITSTATUS(status) - FIRST_CALL].what);
	assert_int_equal(WEXITSTATUS(status), ALL_AS_EXPECTED);
}

static void the_hook_makes_only_its_calls(void **state)
{
	(void)state;
	check_program(VQP_PROGRAM_HOOK);
}

static void the_hook_at_poststop_makes_only_its_calls(void **state)
{
	(void)state;
	check_program(VQP_PROGRAM_POSTSTOP);
}

static void vqpd_makes_only_its_calls(void **state)
{
	(void)state;
	check_program(VQP_PROGRAM_VQPD);
}

static void vqp_metad_makes_only_its_calls(void **state)
{
	(void)state;
	check_program(VQP_PROGRAM_METAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hook_makes_only_its_calls),
		cmocka_unit_test(the_hook_at_poststop_makes_only_its_calls),
		cmocka_unit_test(vqpd_makes_only_its_calls),
		cmocka_unit_test(vqp_metad_makes_only_its_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
