/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel module's generic netlink family. Attributes are JSON here, with the names and types of
 * docs/netlink/vqp.yaml: GIDs are text, enums are their names, nests are objects, and repeated
 * attributes are arrays under a plural name. "sockets" has its rules in it, as in sockets.h.
 */
#ifndef VQP_COMMON_NETLINK_H
#define VQP_COMMON_NETLINK_H

#include <jansson.h>
#include <stdint.h>
#include <linux/vqp.h>

struct vqp_netlink {
	int fd;			/* the socket; -1 if none is open */
	uint32_t port;		/* that of the socket */
	uint16_t family;	/* 0 while it is not known, or not any more */
	uint32_t seq;
	char error[256];
};

/* Opens the socket, also without the module, which may come and go. 0 or a negative errno value. */
int vqp_netlink_open(struct vqp_netlink *netlink);
void vqp_netlink_close(struct vqp_netlink *netlink);

/*
 * Makes a request. *reply, unless reply is NULL, is an object, which is empty if the kernel's
 * answer has no attributes. 0, or the kernel's negative errno value, or -ENOPKG if no module is
 * loaded. After a failure vqp_netlink_error() has a text for people.
 */
int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *request, json_t **reply);

/* Makes a request that makes a new object. -EEXIST if the object exists. */
int vqp_netlink_make(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *request);

/*
 * Deletes the VQP namespace that NS_GET lists as this item, with "tenant", "gid", "netns_ino" and
 * "name"; not another one that has come to its address since. Nothing finds it any more when the
 * function returns; its end, which may take some seconds, is not waited for. -ENOENT if it is gone.
 */
int vqp_netlink_delete(struct vqp_netlink *netlink, const json_t *item);

/*
 * Dumps all objects of a kind as an array; by META_GET, the meta servers. -EBUSY if the list has
 * changed during each of several dumps.
 */
int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list);

/* Returns the reason of the last failure, which is valid until the next call. */
const char *vqp_netlink_error(const struct vqp_netlink *netlink);

#endif
