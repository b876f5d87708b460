/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel module's generic netlink family. Attributes are JSON here, with
 * the names and types of docs/netlink/vqp.yaml: GIDs are text, enums their
 * names, nests objects, repeated attributes arrays under a plural name.
 */
#ifndef VQP_NODE_NETLINK_H
#define VQP_NODE_NETLINK_H

#include <jansson.h>
#include <libmnl/libmnl.h>
#include <stdint.h>
#include <linux/vqp.h>

struct vqp_netlink {
	struct mnl_socket *socket;
	uint16_t family;	/* 0: not known (any more) */
	uint32_t seq;
	char error[256];
};

/* -errno. Succeeds without the module, which may come and go. */
int vqp_netlink_open(struct vqp_netlink *netlink);
void vqp_netlink_close(struct vqp_netlink *netlink);

/*
 * One request. *reply (if wanted) is an object, empty if the kernel had nothing
 * to say. Negative errno values of the kernel's, or -ENOPKG: no module loaded;
 * then vqp_netlink_error() is a text for people.
 */
int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *request, json_t **reply);

/* The same for what is to be made by this request: -EEXIST if it is there. */
int vqp_netlink_make(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *request);

/* All objects of a kind, as an array. META_GET: the meta servers themselves. */
int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list);

/* Why the last call failed, until the next one. */
const char *vqp_netlink_error(const struct vqp_netlink *netlink);

#endif
