/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_PRIVILEGE_H
#define VQP_COMMON_PRIVILEGE_H

/*
 * What root's programs do, with the capabilities that they keep for it; all others they give up for good.
 *
 * phase	keeps			for
 * HOOK_ENTER	CAP_SYS_PTRACE		/proc/PID/ns/net of a process that has changed its user or capabilities
 *		CAP_SYS_ADMIN		setns()
 * HOOK_ASK	none			reading the container's state and the operator's file, which are root's,
 *					asking the kernel's device, and vqpd, which wants root's user id alone
 * NETWORK_PIN	CAP_SYS_PTRACE		as above
 *		CAP_SYS_ADMIN		setns(), binding the network namespace to a path
 *		CAP_SETPCAP		taking from plugins what they are not to have
 *		and those of NETWORK_PLUGINS
 * NETWORK_PLUGINS CAP_SYS_ADMIN	setns() in plugins, taking the path away
 *		CAP_NET_ADMIN		interfaces, addresses, routes, packet filters, sysctls
 *		CAP_NET_RAW		packet filters, telling neighbours of an address
 *					and programs that are run can have no others
 * VQPD_SERVE	CAP_SYS_PTRACE		as above
 *		CAP_NET_ADMIN		making and deleting VQP namespaces, by netlink
 * METAD_SERVE	CAP_NET_ADMIN		asking the kernel how other nodes READ the table; it has been opened
 *					and registered before
 */
enum vqp_phase {
	VQP_PHASE_HOOK_ENTER,
	VQP_PHASE_HOOK_ASK,
	VQP_PHASE_NETWORK_PIN,
	VQP_PHASE_NETWORK_PLUGINS,
	VQP_PHASE_VQPD_SERVE,
	VQP_PHASE_METAD_SERVE,
};

/* What the process does not have it does not get. 0 or a negative errno value. */
int vqp_privilege_keep(enum vqp_phase phase);

#endif
