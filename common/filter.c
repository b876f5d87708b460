// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"
#include "filter_programs.h"	/* the output of filter_rules.c */

#define PROGRAM(name)	{ sizeof(name) / sizeof(*(name)), (struct sock_filter *)(name) }

int vqp_filter_install(enum vqp_program program)
{
	static const struct sock_fprog programs[] = {
		[VQP_PROGRAM_HOOK] = PROGRAM(hook_program),
		[VQP_PROGRAM_POSTSTOP] = PROGRAM(poststop_program),
		[VQP_PROGRAM_VQPD] = PROGRAM(vqpd_program),
		[VQP_PROGRAM_METAD] = PROGRAM(metad_program),
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &programs[program]))
		return -errno;
	return 0;
}
