// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/inet.h>
#include <linux/irq_poll.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include "base/compat.h"
#include "base/dct_cache.h"
#include "base/node.h"
#include "device/lane.h"
#include "device/parent.h"
#include "device/peer.h"
#include "ns/namespace.h"

static char *parent_name;
module_param_named(parent, parent_name, charp, 0444);
MODULE_PARM_DESC(parent, "RDMA device to use (default: the first usable one)");

static char *parent_address;
module_param_named(address, parent_address, charp, 0444);
MODULE_PARM_DESC(address, "the node's address, if the device has it (default: its first IPv4 one)");

static unsigned int giveup_ms = 4000;
module_param(giveup_ms, uint, 0444);
MODULE_PARM_DESC(giveup_ms, "a peer that is silent this long is dead (default: 4000, at most 25000)");

#define PARENT_WINDOW_PACKETS	64
/* Two ticks at 250 Hz. A shorter RTO would often expire while the answer is on its way. */
#define PARENT_RTO_MIN_US	(8U * 1000)
#define PARENT_RTO_MAX_US	(500U * 1000)
#define PARENT_CLOSE_US		(200U * 1000)
#define PARENT_GIVEUP_MAX_MS	(VQP_FORGET_US / 1000)

/* Sixteen flows with full windows do not overrun the receives of a lane. */
static_assert(16 * PARENT_WINDOW_PACKETS <= VQP_LANE_RX_SLOTS);

/* An RDMA device of the host, each of which may become the parent. */
struct parent_client {
	struct list_head link;		/* in parent_clients, under parent_mutex */
	struct ib_device *dev;
	struct ib_event_handler events;
	struct work_struct work;	/* It checks the parent, and uses dev if there is none. */
};

/* Serializes the making and the end of a parent. Readers use RCU, or SRCU where they sleep. */
static DEFINE_MUTEX(parent_mutex);
static LIST_HEAD(parent_clients);	/* under parent_mutex */
static struct vqp_parent __rcu *parent_now;
static LIST_HEAD(parent_users);		/* complete before the first device is added */
static u32 parent_lives;		/* the number of parents made, under parent_mutex */
DEFINE_STATIC_SRCU(parent_srcu);
/* The parameter `address` as a GID; or ::, which is no device's GID, if it is not set. */
static struct in6_addr parent_wanted __ro_after_init;

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

/*
 * The rank of a GID as the node's address; 0 if it cannot be used. An IPv4 address ranks before an
 * IPv6 address, because operators read it more easily. A link-local address, which does not reach
 * beyond the network link, ranks last.
 */
static int parent_rate_gid(const struct ib_gid_attr *attr)
{
	const struct in6_addr *addr = (const struct in6_addr *)attr->gid.raw;
	struct net_device *ndev;
	bool host;

	if (attr->gid_type == IB_GID_TYPE_ROCE)
		return 0;
	/* The table has the addresses of containers, too, on macvlans of the device's interface. */
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	host = !IS_ERR(ndev) && net_eq(dev_net(ndev), &init_net);
	rcu_read_unlock();
	if (!host)
		return 0;
	if (ipv6_addr_equal(addr, &parent_wanted))
		return 4;
	if (ipv6_addr_v4mapped(addr))
		return 3;
	return ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL ? 1 : 2;
}

static bool parent_port_active(struct ib_device *dev, u32 port, struct ib_port_attr *pa)
{
	return !ib_query_port(dev, port, pa) && pa->state == IB_PORT_ACTIVE;
}

/* Choose the port and GID with the best rank. Returns 0; or -EADDRNOTAVAIL if there is none yet. */
static int parent_choose_gid(struct vqp_parent *parent)
{
	struct ib_device *dev = parent->dev;
	const struct ib_gid_attr *attr;
	int best = 0, rate, i;
	struct ib_port_attr pa;
	u32 port;

	rdma_for_each_port(dev, port) {
		if (!parent_port_active(dev, port, &pa))
			continue;
		for (i = 0; i < pa.gid_tbl_len; i++) {
			attr = rdma_get_gid_attr(dev, port, i);
			if (IS_ERR(attr))
				continue;
			rate = parent_rate_gid(attr);
			if (rate > best) {
				best = rate;
				parent->port = port;
				parent->gid_index = i;
				parent->mtu = min_t(u32, ib_mtu_enum_to_int(pa.active_mtu),
						    PAGE_SIZE);
				memcpy(parent->dct.node_gid, attr->gid.raw, VQP_GID_BYTES);
			}
			rdma_put_gid_attr(attr);
		}
	}
	return best ? 0 : -EADDRNOTAVAIL;
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
	ret = parent_choose_gid(parent);
	if (ret)
		goto free;
	parent->cfg = (struct vqp_tx_cfg) {
		.payload_bytes = (parent->mtu - VQP_WIRE_HEADER_MAX) & ~7U,
		.window_packets = PARENT_WINDOW_PACKETS,
		.rto_min_us = PARENT_RTO_MIN_US,
		.rto_max_us = PARENT_RTO_MAX_US,
		.giveup_us = min(giveup_ms, PARENT_GIVEUP_MAX_MS) * 1000,
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
	list_for_each_entry(user, &parent_users, link)
		if (user->up)
			user->up(parent);
	rcu_assign_pointer(parent_now, parent);
	vqp_ns_set_host_gid(parent->dct.node_gid);
	/* A lane may have failed for good before `recheck` was set. */
	if (READ_ONCE(parent->broken))
		queue_work(system_dfl_wq, parent->recheck);
	pr_info("parent %s port %u, %pI6c, mtu %u, %u lanes, %llu KiB\n",
		dev_name(&dev->dev), parent->port, parent->dct.node_gid, parent->mtu,
		parent->nlanes, parent->pool_bytes >> 10);
}

/* Was the parent made with another address than `address` names, which has become usable since? */
static bool parent_is_outdone(const struct vqp_parent *parent)
{
	const struct ib_gid_attr *attr;
	struct ib_port_attr pa;
	bool outdone;

	if (ipv6_addr_any(&parent_wanted) ||
	    !memcmp(&parent_wanted, parent->dct.node_gid, VQP_GID_BYTES))
		return false;
	attr = rdma_find_gid(parent->dev, (const union ib_gid *)&parent_wanted,
			     IB_GID_TYPE_ROCE_UDP_ENCAP, NULL);
	if (IS_ERR(attr))
		return false;
	outdone = parent_rate_gid(attr) && parent_port_active(parent->dev, attr->port_num, &pa);
	rdma_put_gid_attr(attr);
	return outdone;
}

/* Do all lanes work, and is the parent's address still an address of the device, and the best? */
static bool parent_valid(struct vqp_parent *parent)
{
	const struct ib_gid_attr *attr;
	bool valid;

	attr = rdma_get_gid_attr(parent->dev, parent->port, parent->gid_index);
	if (IS_ERR(attr))
		return false;
	valid = !READ_ONCE(parent->broken) && parent_rate_gid(attr) &&
		!memcmp(attr->gid.raw, parent->dct.node_gid, VQP_GID_BYTES) &&
		!parent_is_outdone(parent);
	rdma_put_gid_attr(attr);
	return valid;
}

static void parent_work(struct work_struct *work)
{
	struct parent_client *client = container_of(work, struct parent_client, work);
	struct vqp_parent *parent;

	mutex_lock(&parent_mutex);
	parent = rcu_dereference_protected(parent_now, lockdep_is_held(&parent_mutex));
	if (parent && parent->dev == client->dev && !parent_valid(parent))
		parent_down();
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
		queue_work(system_dfl_wq, parent->recheck);
}

static void parent_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct parent_client *client = container_of(handler, struct parent_client, events);

	if (event->event == IB_EVENT_GID_CHANGE || event->event == IB_EVENT_PORT_ACTIVE)
		queue_work(system_dfl_wq, &client->work);
}

static void parent_remove(struct ib_device *dev, void *data)
{
	struct parent_client *client = data, *other;
	struct vqp_parent *parent;

	ib_unregister_event_handler(&client->events);
	mutex_lock(&parent_mutex);
	list_del_init(&client->link);
	mutex_unlock(&parent_mutex);
	/* Off the list, the work is queued only by lanes of this device, until parent_down(). */
	cancel_work_sync(&client->work);
	mutex_lock(&parent_mutex);
	parent = rcu_dereference_protected(parent_now, lockdep_is_held(&parent_mutex));
	if (parent && parent->dev == dev)
		parent_down();
	list_for_each_entry(other, &parent_clients, link)
		queue_work(system_dfl_wq, &other->work);
	mutex_unlock(&parent_mutex);
	cancel_work_sync(&client->work);
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
	INIT_WORK(&client->work, parent_work);
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
	queue_work(system_dfl_wq, &client->work);
	return 0;
}

static struct ib_client parent_ib_client = {
	.name = "vqp",
	.add = parent_add,
	.remove = parent_remove,
};

static int __init parent_read_address(void)
{
	__be32 v4;

	if (!parent_address)
		return 0;
	if (in4_pton(parent_address, -1, (u8 *)&v4, -1, NULL)) {
		ipv6_addr_set_v4mapped(v4, &parent_wanted);
		return 0;
	}
	if (in6_pton(parent_address, -1, parent_wanted.s6_addr, -1, NULL))
		return 0;
	pr_err("address=%s is no address\n", parent_address);
	return -EINVAL;
}

int __init vqp_parent_init(void)
{
	return parent_read_address() ?: ib_register_client(&parent_ib_client);
}

void vqp_parent_exit(void)
{
	ib_unregister_client(&parent_ib_client);
}
