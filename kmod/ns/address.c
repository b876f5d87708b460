// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/inetdevice.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/net_namespace.h>
#include "base/compat.h"
#include "ns/address.h"

/*
 * A look walks all VQP namespaces, and containers may change their addresses as often as they like:
 * so there are at most ten looks a second.
 */
#define ADDRESS_LOOK_JIFFIES	(HZ / 10)

static bool (*address_look)(void);	/* constant while notifiers are registered */

static void address_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(address_later, address_work);

static void address_work(struct work_struct *work)
{
	if (address_look())
		queue_delayed_work(system_dfl_wq, &address_later, ADDRESS_LOOK_JIFFIES);
}

/* Any context. */
static int address_changed(const struct net_device *dev)
{
	if (!net_eq(dev_net(dev), &init_net))
		queue_delayed_work(system_dfl_wq, &address_later, ADDRESS_LOOK_JIFFIES);
	return NOTIFY_DONE;
}

static int address_event4(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct in_ifaddr *ifa = info;

	return address_changed(ifa->ifa_dev->dev);
}

static int address_event6(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct inet6_ifaddr *ifa = info;

	return address_changed(ifa->idev->dev);
}

static struct notifier_block address_nb4 = { .notifier_call = address_event4 };
static struct notifier_block address_nb6 = { .notifier_call = address_event6 };

/* __ip_dev_find() also finds what is local by a route alone, of which no event tells. */
static bool address_is_there4(struct net *net, __be32 addr)
{
	const struct in_ifaddr *ifa;
	struct net_device *dev;
	struct in_device *in;
	bool there = false;

	rcu_read_lock();
	dev = __ip_dev_find(net, addr, false);
	in = dev ? __in_dev_get_rcu(dev) : NULL;
	if (in) {
		in_dev_for_each_ifa_rcu(ifa, in)
			there |= ifa->ifa_local == addr;
	}
	rcu_read_unlock();
	return there;
}

/*
 * An IPv6 address is there from the beginning, and also while or after another node has objected to
 * it (DAD): no event tells of that. The kernel looks for it among the interfaces of one VRF, that
 * of the device which it is given, or among those of none.
 */
static bool address_is_there6(struct net *net, const struct in6_addr *addr)
{
	struct net_device *dev;
	bool there;

	rcu_read_lock();
	there = ipv6_chk_addr_and_flags(net, addr, NULL, true, 0, 0);
	for_each_netdev_rcu(net, dev) {
		if (there)
			break;
		if (netif_is_l3_master(dev))
			there = ipv6_chk_addr_and_flags(net, addr, dev, true, 0, 0);
	}
	rcu_read_unlock();
	return there;
}

static bool address_is_there(struct net *net, const u8 *gid)
{
	struct in6_addr addr;

	memcpy(&addr, gid, sizeof(addr));
	if (ipv6_addr_v4mapped(&addr))
		return address_is_there4(net, addr.s6_addr32[3]);
	return ipv6_mod_enabled() && address_is_there6(net, &addr);
}

bool vqp_address_look(struct vqp_address *address, struct net *net, const u8 *gid)
{
	const unsigned long now = jiffies;

	if (address_is_there(net, gid)) {
		*address = (struct vqp_address){ .seen = true };
		return false;
	}
	if (!address->seen)
		return false;
	if (!address->away) {
		address->away = true;
		address->away_since = now;
	}
	return time_after_eq(now, address->away_since + VQP_ADDRESS_AWAY_JIFFIES);
}

int __init vqp_address_init(bool (*look)(void))
{
	int ret;

	address_look = look;
	ret = register_inetaddr_notifier(&address_nb4);
	if (ret)
		return ret;
	ret = register_inet6addr_notifier(&address_nb6);
	if (!ret)
		return 0;
	unregister_inetaddr_notifier(&address_nb4);
	cancel_delayed_work_sync(&address_later);
	return ret;
}

void vqp_address_exit(void)
{
	unregister_inet6addr_notifier(&address_nb6);
	unregister_inetaddr_notifier(&address_nb4);
	cancel_delayed_work_sync(&address_later);
}
