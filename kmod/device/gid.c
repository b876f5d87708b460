// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/if_vlan.h>
#include <linux/inet.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include "device/gid.h"

static char *parent_address;
module_param_named(address, parent_address, charp, 0444);
MODULE_PARM_DESC(address, "the node's address, if the device has it (default: its IPv4 address)");

/* That parameter as a GID; or ::, which is no device's GID, if it is not set. */
static struct in6_addr gid_wanted __ro_after_init;

int __init vqp_gid_init(void)
{
	__be32 v4;

	if (!parent_address)
		return 0;
	if (in4_pton(parent_address, -1, (u8 *)&v4, -1, NULL)) {
		ipv6_addr_set_v4mapped(v4, &gid_wanted);
		return 0;
	}
	if (in6_pton(parent_address, -1, gid_wanted.s6_addr, -1, NULL))
		return 0;
	pr_err("address=%s is no address\n", parent_address);
	return -EINVAL;
}

const char *vqp_gid_rank_name(enum vqp_gid_rank rank)
{
	static const char *const names[] = {
		[VQP_GID_UNUSABLE]	= "unusable",
		[VQP_GID_LINK_LOCAL]	= "link-local",
		[VQP_GID_VIRTUAL]	= "virtual interface's",
		[VQP_GID_IPV6]		= "IPv6",
		[VQP_GID_SECONDARY]	= "secondary",
		[VQP_GID_PRIMARY]	= "primary",
		[VQP_GID_WANTED]	= "wanted",
	};

	return names[rank];
}

/*
 * Is this the address of its interface, and not one that it has beside that? Virtual addresses,
 * which move from node to node, have a host's mask, or come second in a subnet.
 */
static bool gid_is_primary(const struct net_device *ndev, __be32 address)
{
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == address)
			return !(ifa->ifa_flags & IFA_F_SECONDARY) &&
			       inet_mask_len(ifa->ifa_mask) != 32;
	return false;
}

/* Addresses that do not reach beyond the network link: fe80::/10, and 169.254.0.0/16. */
static bool gid_is_link_local(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_linklocal_169(addr->s6_addr32[3]);
	return ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL;
}

static enum vqp_gid_rank gid_rank_rcu(const struct ib_gid_attr *attr)
{
	const struct in6_addr *addr = (const struct in6_addr *)attr->gid.raw;
	const struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);

	/* The table has the addresses of containers, too, on macvlans of the device's interface. */
	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP || IS_ERR(ndev) ||
	    !net_eq(dev_net(ndev), &init_net))
		return VQP_GID_UNUSABLE;
	if (ipv6_addr_equal(addr, &gid_wanted))
		return VQP_GID_WANTED;
	if (gid_is_link_local(addr))
		return VQP_GID_LINK_LOCAL;
	if (is_vlan_dev(ndev) || netif_is_macvlan(ndev))
		return VQP_GID_VIRTUAL;
	if (!ipv6_addr_v4mapped(addr))
		return VQP_GID_IPV6;
	return gid_is_primary(ndev, addr->s6_addr32[3]) ? VQP_GID_PRIMARY : VQP_GID_SECONDARY;
}

static void gid_read(const struct ib_gid_attr *attr, u32 mtu, struct vqp_gid *gid)
{
	memcpy(gid->raw, attr->gid.raw, sizeof(gid->raw));
	gid->port = attr->port_num;
	gid->index = attr->index;
	gid->mtu = mtu;
	rcu_read_lock();
	gid->rank = gid_rank_rcu(attr);
	rcu_read_unlock();
}

/* The best of the port's GIDs, or of those that are equal to raw[] unless that is NULL. */
static void gid_best(struct ib_device *dev, const struct ib_port_attr *pa, u32 port, const u8 *raw,
		     struct vqp_gid *best)
{
	const u32 mtu = min_t(u32, ib_mtu_enum_to_int(pa->active_mtu), PAGE_SIZE);
	const struct ib_gid_attr *attr;
	struct vqp_gid gid;
	int i;

	for (i = 0; i < pa->gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(dev, port, i);
		if (IS_ERR(attr))
			continue;
		gid_read(attr, mtu, &gid);
		rdma_put_gid_attr(attr);
		if (gid.rank > best->rank && (!raw || !memcmp(raw, gid.raw, sizeof(gid.raw))))
			*best = gid;
	}
}

int vqp_gid_choose(struct ib_device *dev, struct vqp_gid *best)
{
	struct ib_port_attr pa;
	u32 port;

	best->rank = VQP_GID_UNUSABLE;
	rdma_for_each_port(dev, port)
		if (!ib_query_port(dev, port, &pa) && pa.state == IB_PORT_ACTIVE)
			gid_best(dev, &pa, port, NULL, best);
	return best->rank ? 0 : -EADDRNOTAVAIL;
}

int vqp_gid_find(struct ib_device *dev, u32 port, const u8 *raw, struct vqp_gid *gid)
{
	struct ib_port_attr pa;

	gid->rank = VQP_GID_UNUSABLE;
	if (!ib_query_port(dev, port, &pa))
		gid_best(dev, &pa, port, raw, gid);
	return gid->rank ? 0 : -EADDRNOTAVAIL;
}

const struct ib_gid_attr *vqp_gid_get(struct ib_device *dev, const struct vqp_gid *gid)
{
	const struct ib_gid_attr *attr;

	attr = rdma_get_gid_attr(dev, gid->port, READ_ONCE(gid->index));
	if (IS_ERR(attr))
		return ERR_PTR(-EADDRNOTAVAIL);
	if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    !memcmp(attr->gid.raw, gid->raw, sizeof(gid->raw)))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-EADDRNOTAVAIL);
}
