/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_OCI_PRIVILEGE_H
#define VQP_OCI_PRIVILEGE_H

/*
 * 0 if this process is root in the host's user namespace, as vqpd and the
 * kernel want it; otherwise -EPERM with *error, to be freed, saying what
 * rootless containers cannot have.
 */
int vqp_privilege_check(char **error);

/*
 * What vqp-hook does, in this order. Each phase keeps only the capabilities it needs, for good.
 *
 * phase	keeps			for
 * ENTER	CAP_SYS_PTRACE		/proc/PID/ns/net of a process that has changed its user or capabilities
 *		CAP_SYS_ADMIN		setns()
 * ASK		none			reading the container's state and the operator's file, which are root's,
 *					asking the kernel's device, and vqpd, which wants root's user id alone
 */
enum vqp_phase { VQP_PHASE_ENTER, VQP_PHASE_ASK };

/* 0, or a negative errno value with *error set to a text to be freed. */
int vqp_privilege_keep(enum vqp_phase phase, char **error);

#endif
