// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/list.h>	/* irq_poll.h lacks it. */
#include <linux/irq_poll.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include "base/compat.h"
#include "base/dct_cache.h"
#include "base/node.h"
#include "device/gid.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"
#include "ns/namespace.h"

static char *parent_name;
module_param_named(parent, parent_name, charp, 0444);
MODULE_PARM_DESC(parent, "RDMA device to use (default: the first usable one)");

static unsigned int giveup_ms = 4000;
module_param(giveup_ms, uint, 0444);
MODULE_PARM_DESC(giveup_ms, "a peer that is silent this long is dead (default: 4000, at most 25000)");

#define PARENT_WINDOW_PACKETS	64
/* Two ticks at 250 Hz. A shorter RTO would often expire while the answer is on its way. */
#define PARENT_RTO_MIN_US	(8U * 1000)
#define PARENT_RTO_MAX_US	(500U * 1000)
#define PARENT_CLOSE_US		(200U * 1000)
#define PARENT_GIVEUP_MAX_MS	(VQP_FORGET_US / 1000)
/* An address that has gone may come back in this time, as with DHCP, and nobody notices. */
#define PARENT_GONE_JIFFIES	(3 * HZ)
/*
 * After this time the device is looked at when its interface has changed, or lacks its address. It
 * is not looked at more often because its addresses change.
 */
#define PARENT_LOOK_JIFFIES	(HZ / 10)
/* A better address, or a greater MTU, makes the parent anew within this time. */
#define PARENT_NEW_JIFFIES	(60 * HZ)

/* Sixteen flows with full windows do not overrun the receives of a lane. */
static_assert(16 * PARENT_WINDOW_PACKETS <= VQP_LANE_RX_SLOTS);

/* An RDMA device of the host, each of which may become the parent. */
struct parent_client {
	struct list_head link;		/* in parent_clients, under parent_mutex */
	struct ib_device *dev;
	struct ib_event_handler events;
	struct delayed_work work;	/* It checks the parent, and uses dev if there is none. */
	unsigned long looked_at;	/* when the work ran last, in jiffies */
};

/* Serializes the making and the end of a parent. Readers use RCU, or SRCU where they sleep. */
static DEFINE_MUTEX(parent_mutex);
static LIST_HEAD(parent_clients);	/* under parent_mutex */
static struct vqp_parent __rcu *parent_now;
static LIST_HEAD(parent_users);		/* complete before the first device is added */
static u32 parent_lives;		/* the number of parents made, under parent_mutex */
static u8 parent_lost[VQP_GID_BYTES];	/* the address that a parent has lost, likewise; or 0 */
DEFINE_STATIC_SRCU(parent_srcu);

void __init vqp_device_use(struct vqp_device_user *user)
{
	list_add_tail(&user->link, &parent_users);
}

struct vqp_parent *vqp_parent_rcu(void)
{
	return rcu_dereference_bh_check(parent_now, rcu_read_lock_held());
}

struct vqp_parent *vqp_parent_enter(int *token)
{
	struct vqp_parent *parent;

	*token = srcu_read_lock(&parent_srcu);
	parent = srcu_dereference(parent_now, &parent_srcu);
	if (!parent)
		srcu_read_unlock(&parent_srcu, *token);
	else
		__release(&parent_srcu);	/* sparse cannot express "held unless NULL". */
	return parent;
}

void vqp_parent_leave(int token)
{
	__acquire(&parent_srcu);
	srcu_read_unlock(&parent_srcu, token);
}

bool vqp_parent_is_up(void)
{
	return rcu_access_pointer(parent_now);
}

static void parent_free(struct vqp_parent *parent)
{
	u32 i;

	for (i = 0; i < parent->nlanes; i++)
		vqp_lane_destroy(parent->lanes[i]);
	vqp_peer_flush();
	ib_dealloc_pd(parent->pd);
	kfree(parent);
}

static int parent_create_lanes(struct vqp_parent *parent)
{
	u32 i, n = vqp_node_lanes();
	struct vqp_lane *lane;

	for (i = 0; i < n; i++) {
		lane = vqp_lane_create(parent, i);
		if (IS_ERR(lane))
			return PTR_ERR(lane);
		parent->lanes[i] = lane;
		parent->dct.qpn[i] = lane->qp->qp_num;
		parent->nlanes = i + 1;
		parent->dct.lanes = i + 1;
	}
	parent->pool_bytes = n * vqp_lane_bytes();
	return 0;
}

static void parent_set_input(struct vqp_parent *parent)
{
	struct vqp_device_user *user;

	list_for_each_entry(user, &parent_users, link)
		if (user->input)
			parent->input = user->input;
}

static struct vqp_parent *parent_create(struct ib_device *dev)
{
	struct vqp_parent *parent = kzalloc(sizeof(*parent), GFP_KERNEL);
	int ret;

	if (!parent)
		return ERR_PTR(-ENOMEM);
	parent->dev = dev;
	parent_set_input(parent);
	ret = vqp_gid_choose(dev, &parent->gid);
	if (ret)
		goto free;
	parent->mtu = parent->gid.mtu;
	memcpy(parent->dct.node_gid, parent->gid.raw, VQP_GID_BYTES);
	parent->cfg = (struct vqp_tx_cfg) {
		.payload_bytes = (parent->mtu - VQP_WIRE_HEADER_MAX) & ~7U,
		.window_packets = PARENT_WINDOW_PACKETS,
		.rto_min_us = PARENT_RTO_MIN_US,
		.rto_max_us = PARENT_RTO_MAX_US,
		.giveup_us = min(giveup_ms, PARENT_GIVEUP_MAX_MS) * 1000,
		.patience_us = PARENT_GIVEUP_MAX_MS * 1000,
		.forget_us = VQP_FORGET_US,
		.close_us = PARENT_CLOSE_US,
	};
	/* A sender replaces a Q_Key whose top bit is set by its own QP's (IBTA 10.2.5). */
	parent->dct.qkey = get_random_u32() >> 1;
	parent->dct.epoch = vqp_node_epoch();
	parent->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(parent->pd)) {
		ret = PTR_ERR(parent->pd);
		goto free;
	}
	ret = parent_create_lanes(parent);
	if (ret) {
		/* No lane is revived any more. */
		WRITE_ONCE(parent->broken, true);
		synchronize_rcu();
		parent_free(parent);
		return ERR_PTR(ret);
	}
	return parent;
free:
	kfree(parent);
	return ERR_PTR(ret);
}

/*
 * The end of the parent, in four steps: 1. The parent is not visible any more, so that no packet
 * starts. 2. All readers leave. 3. The device's users release it: flows fail, so that nothing waits
 * for an answer, and then links end. 4. The lanes and peers are destroyed.
 */
static void parent_down(void)
{
	struct vqp_device_user *user;
	struct vqp_parent *parent;

	lockdep_assert_held(&parent_mutex);
	parent = rcu_dereference_protected(parent_now, lockdep_is_held(&parent_mutex));
	if (!parent)
		return;
	pr_info("%s is no longer the parent\n", dev_name(&parent->dev->dev));
	/* Lanes that fail from here on do not start the work again. */
	WRITE_ONCE(parent->broken, true);
	RCU_INIT_POINTER(parent_now, NULL);
	synchronize_rcu();
	synchronize_srcu(&parent_srcu);
	vqp_ns_set_host_gid(NULL);
	if (parent->gone)
		memcpy(parent_lost, parent->gid.raw, VQP_GID_BYTES);
	list_for_each_entry(user, &parent_users, link)
		if (user->down)
			user->down();
	vqp_peer_quiesce();
	vqp_dct_cache_clear();
	parent_free(parent);
}

/* Make a parent of the client's device, if there is no parent and `parent` allows the device. */
static void parent_up(struct parent_client *client)
{
	struct ib_device *dev = client->dev;
	struct vqp_device_user *user;
	struct vqp_parent *parent;

	lockdep_assert_held(&parent_mutex);
	if (rcu_access_pointer(parent_now) ||
	    (parent_name && *parent_name && strcmp(dev_name(&dev->dev), parent_name)))
		return;
	parent = parent_create(dev);
	if (IS_ERR(parent)) {
		if (PTR_ERR(parent) != -EADDRNOTAVAIL)
			pr_warn("cannot use %s: %pe\n", dev_name(&dev->dev), parent);
		return;
	}
	parent->recheck = &client->work;
	parent->life = ++parent_lives;
	parent->made_at = jiffies;
	list_for_each_entry(user, &parent_users, link)
		if (user->up)
			user->up(parent);
	rcu_assign_pointer(parent_now, parent);
	vqp_ns_set_host_gid(parent->dct.node_gid);
	/* A lane may have failed for good before `recheck` was set. */
	if (READ_ONCE(parent->broken))
		mod_delayed_work(system_dfl_wq, parent->recheck, 0);
	pr_info("parent %s port %u, %pI6c, its %s address, mtu %u, %u lanes, %llu KiB\n",
		dev_name(&dev->dev), parent->gid.port, parent->gid.raw,
		vqp_gid_rank_name(parent->gid.rank), parent->mtu, parent->nlanes,
		parent->pool_bytes >> 10);
}

static bool parent_is_new(const struct vqp_parent *parent)
{
	return time_before(jiffies, parent->made_at + PARENT_NEW_JIFFIES);
}

/*
 * Is there a better address by now? So is the one that a parent has lost, which other nodes know;
 * any that was named; and any, where the parent's does not reach beyond the network link. Others
 * count while the parent is new, because a node gets its addresses one after the other: to change
 * the address fails all VQPs.
 */
static bool parent_is_outdone(const struct vqp_parent *parent)
{
	struct vqp_gid gid;

	if (memcmp(parent_lost, parent->gid.raw, VQP_GID_BYTES) &&
	    !vqp_gid_find(parent->dev, parent->gid.port, parent_lost, &gid)) {
		memset(parent_lost, 0, VQP_GID_BYTES);
		return true;
	}
	return !vqp_gid_choose(parent->dev, &gid) && gid.rank > parent->gid.rank &&
	       (gid.rank == VQP_GID_WANTED || parent->gid.rank == VQP_GID_LINK_LOCAL ||
		parent_is_new(parent));
}

/* The device has not got the parent's address any more. Is it still the parent, for a while? */
static bool parent_lacks_address(struct vqp_parent *parent)
{
	if (!parent->gone) {
		pr_info("%s has lost the address %pI6c\n", dev_name(&parent->dev->dev),
			parent->gid.raw);
		parent->gone = true;
		parent->gone_at = jiffies;
		vqp_peer_lose_ahs();
	}
	return time_before(jiffies, parent->gone_at + PARENT_GONE_JIFFIES);
}

/* The device has the parent's address, perhaps again. */
static void parent_has_address(struct vqp_parent *parent, const struct vqp_gid *now)
{
	if (parent->gone)
		pr_info("%s has the address %pI6c again\n", dev_name(&parent->dev->dev),
			parent->gid.raw);
	parent->gone = false;
	if (now->index == parent->gid.index)
		return;
	/* The handles that there are have the index that was. */
	WRITE_ONCE(parent->gid.index, now->index);
	vqp_peer_lose_ahs();
}

/* Is the parent as good as a new one would be? */
static bool parent_valid(struct vqp_parent *parent)
{
	struct vqp_gid now;

	lockdep_assert_held(&parent_mutex);
	if (READ_ONCE(parent->broken))
		return false;
	if (vqp_gid_find(parent->dev, parent->gid.port, parent->gid.raw, &now))
		return parent_lacks_address(parent);
	parent_has_address(parent, &now);
	if (now.mtu < parent->mtu || (now.mtu > parent->mtu && parent_is_new(parent))) {
		pr_info("%s has an MTU of %u bytes now, and had %u\n",
			dev_name(&parent->dev->dev), now.mtu, parent->mtu);
		return false;
	}
	return !parent_is_outdone(parent);
}

static void parent_work(struct work_struct *work)
{
	struct parent_client *client = container_of(to_delayed_work(work), struct parent_client,
						    work);
	struct vqp_parent *parent;

	WRITE_ONCE(client->looked_at, jiffies);
	mutex_lock(&parent_mutex);
	parent = rcu_dereference_protected(parent_now, lockdep_is_held(&parent_mutex));
	if (parent && parent->dev == client->dev) {
		if (!parent_valid(parent))
			parent_down();
		else if (parent->gone && !list_empty(&client->link))
			queue_delayed_work(system_dfl_wq, &client->work, PARENT_LOOK_JIFFIES);
	}
	/* A device that is being removed does not become the parent again. */
	if (!list_empty(&client->link))
		parent_up(client);
	mutex_unlock(&parent_mutex);
}

/*
 * ib_poll_handler() arms a CQ after irq_poll_complete(), which is all that ib_free_cq() waits for:
 * the CQ could be freed between the two (seen on Linux 6.1). The handler runs in softirq, for which
 * synchronize_rcu() waits, and it is not scheduled again while polling is disabled.
 */
void vqp_parent_free_cq(struct ib_cq *cq)
{
	irq_poll_disable(&cq->iop);
	synchronize_rcu();
	irq_poll_enable(&cq->iop);
	ib_free_cq(cq);
}

void vqp_parent_break(struct vqp_parent *parent)
{
	if (!xchg(&parent->broken, true) && parent->recheck)
		mod_delayed_work(system_dfl_wq, parent->recheck, 0);
}

/* Whoever may give addresses to an interface on the device's causes events as fast as he likes. */
static unsigned long parent_event_delay(const struct parent_client *client)
{
	const unsigned long next = READ_ONCE(client->looked_at) + PARENT_LOOK_JIFFIES;

	return time_before(jiffies, next) ? next - jiffies : 0;
}

static void parent_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct parent_client *client = container_of(handler, struct parent_client, events);

	if (event->event == IB_EVENT_GID_CHANGE || event->event == IB_EVENT_PORT_ACTIVE)
		mod_delayed_work(system_dfl_wq, &client->work, parent_event_delay(client));
}

/* Have all devices checked. Under parent_mutex. */
static void parent_check_all(void)
{
	struct parent_client *client;

	lockdep_assert_held(&parent_mutex);
	list_for_each_entry(client, &parent_clients, link)
		mod_delayed_work(system_dfl_wq, &client->work, 0);
}

static void parent_look_work(struct work_struct *work)
{
	mutex_lock(&parent_mutex);
	parent_check_all();
	mutex_unlock(&parent_mutex);
}

static DECLARE_DELAYED_WORK(parent_look, parent_look_work);

/* RDMA devices do not tell when their MTU changes. Under rtnl, inside which no lock of ours is. */
static int parent_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct net_device *ndev = netdev_notifier_info_to_dev(info);

	if (event == NETDEV_CHANGEMTU && net_eq(dev_net(ndev), &init_net))
		queue_delayed_work(system_dfl_wq, &parent_look, PARENT_LOOK_JIFFIES);
	return NOTIFY_DONE;
}

static struct notifier_block parent_netdev_nb = {
	.notifier_call = parent_netdev_event,
};

static void parent_remove(struct ib_device *dev, void *data)
{
	struct parent_client *client = data;
	struct vqp_parent *parent;

	ib_unregister_event_handler(&client->events);
	mutex_lock(&parent_mutex);
	list_del_init(&client->link);
	mutex_unlock(&parent_mutex);
	/* Off the list, the work is queued only by lanes of this device, until parent_down(). */
	cancel_delayed_work_sync(&client->work);
	mutex_lock(&parent_mutex);
	parent = rcu_dereference_protected(parent_now, lockdep_is_held(&parent_mutex));
	if (parent && parent->dev == dev)
		parent_down();
	parent_check_all();
	mutex_unlock(&parent_mutex);
	cancel_delayed_work_sync(&client->work);
	kfree(client);
}

static struct ib_client parent_ib_client;

static int parent_add(struct ib_device *dev)
{
	struct parent_client *client;

	/* An InfiniBand link layer would need path records, which vqp does not ask for. */
	if (!rdma_protocol_roce(dev, rdma_start_port(dev)))
		return -EOPNOTSUPP;
	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return -ENOMEM;
	client->dev = dev;
	client->looked_at = jiffies - PARENT_LOOK_JIFFIES;
	INIT_DELAYED_WORK(&client->work, parent_work);
	INIT_IB_EVENT_HANDLER(&client->events, dev, parent_event);
	ib_set_client_data(dev, &parent_ib_client, client);
	mutex_lock(&parent_mutex);
	list_add_tail(&client->link, &parent_clients);
	parent_up(client);
	mutex_unlock(&parent_mutex);
	/*
	 * The handler learns of GIDs that are added from here on. The work looks for those that
	 * were added between parent_up() and the registration.
	 */
	ib_register_event_handler(&client->events);
	mod_delayed_work(system_dfl_wq, &client->work, 0);
	return 0;
}

static struct ib_client parent_ib_client = {
	.name = "vqp",
	.add = parent_add,
	.remove = parent_remove,
};

int __init vqp_parent_init(void)
{
	int ret;

	ret = vqp_gid_init();
	if (ret)
		return ret;
	ret = register_netdevice_notifier(&parent_netdev_nb);
	if (ret)
		return ret;
	ret = ib_register_client(&parent_ib_client);
	if (ret) {
		unregister_netdevice_notifier(&parent_netdev_nb);
		cancel_delayed_work_sync(&parent_look);
	}
	return ret;
}

void vqp_parent_exit(void)
{
	unregister_netdevice_notifier(&parent_netdev_nb);
	cancel_delayed_work_sync(&parent_look);
	ib_unregister_client(&parent_ib_client);
}
