/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The addresses of interfaces in containers' network namespaces, which engines and administrators
 * take away and give to others while a container lives.
 *
 * The kernel tells of IPv4 addresses under RTNL, and of IPv6 ones in atomic context. So its
 * notifiers only have a work look, which takes no RTNL.
 */
#ifndef VQP_NS_ADDRESS_H
#define VQP_NS_ADDRESS_H

#include <linux/types.h>

struct net;

/*
 * An address that comes back within this time, as when a DHCP client or an engine sets a network up
 * anew, was never away. The node's own address has the same time. See docs/containers.md.
 */
#define VQP_ADDRESS_AWAY_JIFFIES	(3 * HZ)

/* The address of a VQP namespace, as its network namespace had it when it was last looked at. */
struct vqp_address {
	bool seen;			/* It has been there since the VQP namespace was made. */
	bool away;			/* It has been seen, and is not there any more, */
	unsigned long away_since;	/* since this jiffy. */
};

/*
 * Look whether `gid` is an address of an interface in the network namespace, which the caller keeps
 * from going. Returns whether it has been there, and has been away for too long since. While it is
 * away, another look is due. Process context; the caller's lock guards *address.
 */
bool vqp_address_look(struct vqp_address *address, struct net *net, const u8 *gid);

/*
 * Have look() called within a tenth of a second after addresses of a network namespace have
 * changed, unless that is the host's; and again after a tenth of a second when it returns true.
 * Process context; look() is not called any more once vqp_address_exit() has returned.
 */
int __init vqp_address_init(bool (*look)(void));
void vqp_address_exit(void);

#endif
