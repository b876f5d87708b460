// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "filter.h"

/* Nothing that makes a process, runs a program, writes to files or traces. */
static const int allowed[] = {
	/* files: standard input and error, the operator's file, /proc, the device */
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(openat), SCMP_SYS(lseek),
	SCMP_SYS(fstat), SCMP_SYS(stat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(fcntl), SCMP_SYS(ioctl),
	/* the container's network namespace, and what is given up in it */
	SCMP_SYS(setns), SCMP_SYS(capget), SCMP_SYS(capset), SCMP_SYS(prctl),
	/* vqpd, and netlink for the addresses */
	SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(getsockname), SCMP_SYS(setsockopt),
	SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(poll), SCMP_SYS(ppoll),
	/* memory, time and the end */
	SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday), SCMP_SYS(getrandom), SCMP_SYS(getpid), SCMP_SYS(geteuid), SCMP_SYS(futex),
	SCMP_SYS(sched_yield), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

int vqp_filter_install(char **error)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < sizeof(allowed) / sizeof(*allowed); i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret ? vqp_error_fail(error, -ret, "cannot restrict system calls: %s", strerror(-ret)) : 0;
}
