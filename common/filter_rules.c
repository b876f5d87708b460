// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rules for the system calls that each program may make. This program runs when the tree is
 * built, and prints the rules in C as the BPF code that the kernel takes: to compile them when the
 * hook runs would be a good part of the hook's time.
 *
 * No program may make a process, run a program, open a file for writing, change a user id, trace,
 * mount, or load code into the kernel.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/nsfs.h>
#include <linux/vqp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "filter.h"

/*
 * The flags that openat() may not have. A build that measures test coverage, which writes files,
 * defines others.
 */
#ifndef VQP_FILTER_OPEN_REFUSED
#define VQP_FILTER_OPEN_REFUSED	(O_ACCMODE | O_CREAT | O_TRUNC)
#endif

#define IOCTL_TYPE	((uint32_t)_IOC_TYPEMASK << _IOC_TYPESHIFT)

enum {
	HOOK = 1 << VQP_PROGRAM_HOOK,
	POSTSTOP = 1 << VQP_PROGRAM_POSTSTOP,
	VQPD = 1 << VQP_PROGRAM_VQPD,
	METAD = 1 << VQP_PROGRAM_METAD,
	DAEMONS = VQPD | METAD,
	HOOKS = HOOK | POSTSTOP,
	ALL = HOOKS | DAEMONS,
};

/* The programs may make the call if its argument, masked by `mask`, has this value. */
struct rule {
	unsigned int programs;
	int call;
	unsigned int argument;
	uint32_t mask, value;
};

#define CALL(programs, name)	{ programs, SCMP_SYS(name), 0, 0, 0 }

static const struct rule rules[] = {
	/* files: standard input and error, /proc, and files of root */
	{ ALL, SCMP_SYS(openat), 2, VQP_FILTER_OPEN_REFUSED, 0 },
	CALL(ALL, read), CALL(ALL, write), CALL(ALL, writev), CALL(ALL, lseek), CALL(ALL, close), CALL(ALL, fcntl),
	CALL(ALL, fstat), CALL(ALL, stat), CALL(ALL, newfstatat), CALL(ALL, statx),
	/* sockets: other programs of vqp, and netlink */
	{ ALL, SCMP_SYS(socket), 0, UINT32_MAX, AF_UNIX },
	{ ALL, SCMP_SYS(socket), 0, UINT32_MAX, AF_NETLINK },
	CALL(ALL, connect), CALL(ALL, bind), CALL(ALL, getsockname), CALL(ALL, setsockopt),
	CALL(ALL, sendto), CALL(ALL, sendmsg), CALL(ALL, recvfrom), CALL(ALL, recvmsg),
	/* memory, time and exit */
	CALL(ALL, brk), CALL(ALL, mmap), CALL(ALL, munmap), CALL(ALL, mremap), CALL(ALL, futex),
	CALL(ALL, clock_gettime), CALL(ALL, gettimeofday), CALL(ALL, getrandom), CALL(ALL, getpid),
	CALL(ALL, geteuid), CALL(ALL, sched_yield), CALL(ALL, restart_syscall), CALL(ALL, exit), CALL(ALL, exit_group),

	/* the wait for vqpd */
	CALL(HOOKS, poll), CALL(HOOKS, ppoll),
	/* the container's network namespace, privileges given up in it, and the device */
	{ HOOK, SCMP_SYS(setns), 1, UINT32_MAX, CLONE_NEWNET },
	CALL(HOOK, capget), CALL(HOOK, capset), CALL(HOOK, prctl),
	/* the attendant's wait for the container's start and end */
	CALL(HOOK, listen), CALL(HOOK, accept4), CALL(HOOK, pidfd_open),
	{ HOOK | METAD, SCMP_SYS(ioctl), 1, IOCTL_TYPE, _IOC(0, VQP_IOC_MAGIC, 0, 0) },

	/* connections of clients */
	CALL(DAEMONS, accept4), CALL(DAEMONS, epoll_wait), CALL(DAEMONS, epoll_pwait), CALL(DAEMONS, epoll_ctl),
	CALL(DAEMONS, getsockopt), CALL(DAEMONS, shutdown), CALL(DAEMONS, madvise),
	/* meta servers, the kind of a client's network namespace, and a socket left behind */
	{ VQPD, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET },
	{ VQPD, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET6 },
	{ VQPD, SCMP_SYS(ioctl), 1, IOCTL_TYPE, _IOC(0, NSIO, 0, 0) },
	CALL(VQPD, fstatfs), CALL(VQPD, unlink),
};

static int add(scmp_filter_ctx filter, const struct rule *rule)
{
	const struct scmp_arg_cmp compare = SCMP_CMP64(rule->argument, SCMP_CMP_MASKED_EQ, rule->mask, rule->value);

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->call, rule->mask ? 1 : 0, &compare);
}

/* Compiles the rules to a binary tree of comparisons, so that no call is compared with all. */
static int compile(enum vqp_program program, FILE *out)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) : -ENOMEM;

	for (size_t i = 0; !ret && i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].programs & 1U << program)
			ret = add(filter, &rules[i]);
	if (!ret)
		ret = seccomp_export_bpf(filter, fileno(out));
	seccomp_release(filter);
	return ret;
}

static void print(const char *name, FILE *compiled)
{
	struct sock_filter instruction;

	printf("static const struct sock_filter %s_program[] = {\n", name);
	rewind(compiled);
	while (fread(&instruction, sizeof(instruction), 1, compiled) == 1)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", instruction.code, instruction.jt, instruction.jf, instruction.k);
	printf("};\n");
}

int main(void)
{
	static const char *const names[] = {
		[VQP_PROGRAM_HOOK] = "hook", [VQP_PROGRAM_POSTSTOP] = "poststop",
		[VQP_PROGRAM_VQPD] = "vqpd", [VQP_PROGRAM_METAD] = "metad",
	};

	for (enum vqp_program program = 0; program < sizeof(names) / sizeof(*names); program++) {
		FILE *compiled = tmpfile();
		int ret = compiled ? compile(program, compiled) : -errno;

		if (ret)
			errx(1, "cannot compile the filter of %s: %s", names[program], strerror(-ret));
		print(names[program], compiled);
		fclose(compiled);
	}
	return fflush(stdout) ? 1 : 0;
}
