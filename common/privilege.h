/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_COMMON_PRIVILEGE_H
#define VQP_COMMON_PRIVILEGE_H

/*
 * The phases of programs that root starts, and the capabilities that they keep in each. All others
 * are given up for good.
 *
 * HOOK_ENTER keeps CAP_SYS_PTRACE for /proc/PID/ns/net of a process that has changed its user or its
 * capabilities, CAP_SYS_ADMIN for setns(), and what the next phase keeps.
 *
 * HOOK_ASK keeps CAP_SYS_RESOURCE: descriptors in flight are counted by user id, and without it the
 * kernel lets nobody of root's id send another while a container of that id has too many. The hook
 * reads the container's state, and asks the kernel's device and vqpd, which requires root's user id
 * alone.
 *
 * HOOK_DELETE, at poststop, keeps CAP_NET_ADMIN to delete a VQP namespace by netlink while vqpd is
 * away. It sends no descriptor.
 *
 * NETWORK_PIN keeps CAP_SYS_PTRACE as above, CAP_SYS_ADMIN for setns() and to bind the network
 * namespace to a path, CAP_SETPCAP to take capabilities from plugins, and those of the next phase.
 *
 * NETWORK_PLUGINS keeps CAP_SYS_ADMIN for setns() in plugins and to remove that path, CAP_NET_ADMIN
 * for interfaces, addresses, routes, packet filters and sysctls, and CAP_NET_RAW for packet filters
 * and to tell neighbours of an address. Programs that the process runs can have no others.
 *
 * VQPD_SERVE keeps CAP_NET_ADMIN to make and delete VQP namespaces by netlink.
 *
 * VQPD_RESOLVE, of the processes of vqpd that look up names, keeps none; the user stays root.
 *
 * METAD_SERVE keeps CAP_NET_ADMIN to ask the kernel how other nodes READ the table, which has been
 * opened and registered before.
 */
enum vqp_phase {
	VQP_PHASE_HOOK_ENTER,
	VQP_PHASE_HOOK_ASK,
	VQP_PHASE_HOOK_DELETE,
	VQP_PHASE_NETWORK_PIN,
	VQP_PHASE_NETWORK_PLUGINS,
	VQP_PHASE_VQPD_SERVE,
	VQP_PHASE_VQPD_RESOLVE,
	VQP_PHASE_METAD_SERVE,
};

/*
 * Gives up all capabilities but those of the phase. A process gains none by this. 0 or a negative
 * errno value.
 */
int vqp_privilege_keep(enum vqp_phase phase);

#endif
