/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The node's address: which of an RDMA device's GIDs other nodes are to know. */
#ifndef VQP_DEVICE_GID_H
#define VQP_DEVICE_GID_H

#include <linux/types.h>
#include <linux/vqp.h>

struct ib_device;
struct ib_gid_attr;

/* Why a GID was chosen. A later one is better. */
enum vqp_gid_rank {
	VQP_GID_UNUSABLE,	/* It is no RoCE v2 GID, or not one of the host's. */
	VQP_GID_LINK_LOCAL,	/* It does not reach beyond the network link. */
	VQP_GID_VIRTUAL,	/* of a VLAN or macvlan on the device's interface */
	VQP_GID_IPV6,
	VQP_GID_SECONDARY,	/* an IPv4 address beside the interface's own: a virtual one, say */
	VQP_GID_PRIMARY,	/* the interface's IPv4 address, which operators read easily */
	VQP_GID_WANTED,		/* named by the parameter `address` */
};

struct vqp_gid {
	u8 raw[VQP_GID_BYTES];
	u32 port;
	int index;			/* in the port's table */
	u32 mtu;			/* bytes of a packet's payload that the port takes */
	enum vqp_gid_rank rank;
};

/* Read the parameter `address`. 0 or -EINVAL. */
int __init vqp_gid_init(void);

/*
 * The best GID of the device's active ports. 0; or -EADDRNOTAVAIL if there is none yet. Process
 * context.
 */
int vqp_gid_choose(struct ib_device *dev, struct vqp_gid *best);

/*
 * The GID raw[] as the port has it now, perhaps with another index than before. The port need not
 * be active. 0, or -EADDRNOTAVAIL. Process context.
 */
int vqp_gid_find(struct ib_device *dev, u32 port, const u8 *raw, struct vqp_gid *gid);

/*
 * The entry of the GID in its port's table, whose index stays while the caller has the reference
 * that rdma_put_gid_attr() drops; -EADDRNOTAVAIL if another or none has the GID's index by now.
 * gid->index may change meanwhile.
 */
const struct ib_gid_attr *vqp_gid_get(struct ib_device *dev, const struct vqp_gid *gid);

/* Words for a rank, to be followed by "address". */
const char *vqp_gid_rank_name(enum vqp_gid_rank rank);

#endif
