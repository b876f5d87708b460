// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <net/genetlink.h>
#include "api/api.h"
#include "base/dct_cache.h"
#include "device/peer.h"
#include "meta/server.h"
#include "netlink/answer.h"
#include "netlink/dump.h"
#include "ns/namespace.h"
#include "ns/sockets.h"
#include "ns/tally.h"
#include "queue/vqp.h"
#include "sock/table.h"

/*
 * A dump in parts. cb->args[0] is the number of items dumped, or of the next one; and args[1] the
 * place inside one.
 */
struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

static void *dump_begin(struct dump *d, u8 cmd)
{
	void *hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
				&vqp_netlink_family, NLM_F_MULTI, cmd);

	/* If the table has changed since the dump began, the reader is told to start again. */
	if (hdr)
		genl_dump_check_consistent(d->cb, hdr);
	return hdr;
}

/* End the message of one item. Returns -EMSGSIZE if the item did not fit. */
static int dump_end(struct dump *d, void *hdr, bool fits)
{
	if (!fits) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	return 0;
}

static bool dump_put_ns_id(struct sk_buff *skb, u32 tenant, const u8 *gid)
{
	return !nla_put_u32(skb, VQP_ATTR_TENANT, tenant) &&
	       !nla_put(skb, VQP_ATTR_GID, VQP_GID_BYTES, gid);
}

static u64 dump_used(const struct vqp_ns *ns, enum vqp_limited what)
{
	return atomic64_read(&ns->limits[what].used);
}

static u64 dump_max(const struct vqp_ns *ns, enum vqp_limited what)
{
	return READ_ONCE(ns->limits[what].max);
}

static bool dump_put_rule(struct sk_buff *skb, const struct vqp_sockets_rule *rule)
{
	struct nlattr *nest = nla_nest_start(skb, VQP_ATTR_SOCKETS_RULE);
	bool fits;

	if (!nest || (rule->except && nla_put_flag(skb, VQP_ATTR_EXCEPT)))
		return false;
	if (rule->port)
		fits = !nla_put_u32(skb, VQP_ATTR_PORT, rule->port) &&
		       !nla_put_u32(skb, VQP_ATTR_PORT_LAST, rule->last);
	else
		fits = !nla_put(skb, VQP_ATTR_GID, VQP_GID_BYTES, rule->gid) &&
		       !nla_put_u8(skb, VQP_ATTR_PREFIX_BITS, rule->bits);
	nla_nest_end(skb, nest);
	return fits;
}

/* With all rules that there can be, a namespace fits into the smallest message of a dump. */
static bool dump_put_sockets(struct sk_buff *skb, const struct vqp_ns *ns)
{
	const struct vqp_sockets *sockets;
	bool fits;
	u32 i;

	rcu_read_lock();
	sockets = rcu_dereference(ns->sockets);
	fits = !nla_put_u8(skb, VQP_ATTR_SOCKETS, !!sockets);
	for (i = 0; fits && sockets && i < sockets->nrules; i++)
		fits = dump_put_rule(skb, &sockets->rules[i]);
	rcu_read_unlock();
	return fits;
}

static bool dump_put_tally(struct sk_buff *skb, const struct vqp_ns *ns)
{
	struct vqp_tally sum;
	int i, ret = 0;

	vqp_tally_sum(ns->tally, &sum);
	for (i = 0; i < VQP_TALLY_MAX && !ret; i++)
		ret = vqp_answer_put_counter(skb, vqp_tally_names[i], NULL, NULL, &sum.counts[i]);
	return !ret;
}

/* What its stream sockets have now, and what they have done. */
static bool dump_put_use(struct sk_buff *skb, const struct vqp_ns *ns)
{
	const u64 bytes = (u64)atomic_read(&ns->stream_pages) * PAGE_SIZE;

	return !nla_put_u32(skb, VQP_ATTR_STREAMS, dump_used(ns, VQP_LIMIT_STREAMS)) &&
	       !nla_put_u32(skb, VQP_ATTR_TRUNKS, READ_ONCE(ns->ntrunks)) &&
	       !nla_put_u64_64bit(skb, VQP_ATTR_STREAM_BYTES, bytes, VQP_ATTR_PAD) &&
	       dump_put_tally(skb, ns);
}

static int dump_one_ns(struct vqp_ns *ns, void *arg)
{
	struct dump *d = arg;
	void *hdr = dump_begin(d, VQP_CMD_NS_GET);

	return !hdr ? -EMSGSIZE : dump_end(d, hdr,
		dump_put_ns_id(d->skb, ns->tenant, ns->gid) &&
		!nla_put_string(d->skb, VQP_ATTR_NAME, ns->name) &&
		!nla_put_u32(d->skb, VQP_ATTR_NETNS_INO, ns->netns_ino) &&
		!nla_put_u32(d->skb, VQP_ATTR_VQPS, dump_used(ns, VQP_LIMIT_VQPS)) &&
		!nla_put_u32(d->skb, VQP_ATTR_MRS, dump_used(ns, VQP_LIMIT_MRS)) &&
		!nla_put_u32(d->skb, VQP_ATTR_CONTEXTS, atomic_read(&ns->nowners)) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_PINNED_BYTES, dump_used(ns, VQP_LIMIT_BYTES),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_VQPS, dump_max(ns, VQP_LIMIT_VQPS),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_MRS, dump_max(ns, VQP_LIMIT_MRS),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_BYTES, dump_max(ns, VQP_LIMIT_BYTES),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_MAX_RATE, vqp_throttle_max(&ns->throttle),
				   VQP_ATTR_PAD) &&
		!nla_put_u8(d->skb, VQP_ATTR_PRIORITY, READ_ONCE(ns->priority)) &&
		dump_put_sockets(d->skb, ns) && dump_put_use(d->skb, ns));
}

int vqp_dump_namespaces(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_ns_walk(cb->args[0], &cb->seq, dump_one_ns, &d);
	return skb->len;
}

static int dump_one_vqp(struct dump *d, struct vqp_ns *ns, struct vqp *vqp)
{
	void *hdr = dump_begin(d, VQP_CMD_VQP_GET);
	struct vqp_query_qp q;

	if (!hdr)
		return -EMSGSIZE;
	vqp_query(vqp, &q);
	return dump_end(d, hdr,
		dump_put_ns_id(d->skb, ns->tenant, ns->gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_QP_NUM, q.qp_num) &&
		!nla_put_u32(d->skb, VQP_ATTR_QP_STATE, q.state) &&
		!nla_put_u32(d->skb, VQP_ATTR_CARRIER, q.carrier) &&
		!nla_put_u32(d->skb, VQP_ATTR_PORT, q.port) &&
		!nla_put(d->skb, VQP_ATTR_REMOTE_GID, VQP_GID_BYTES, q.remote_gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_REMOTE_PORT, q.remote_port) &&
		!nla_put_u32(d->skb, VQP_ATTR_SENDS_PENDING, q.sends_pending) &&
		!nla_put_u32(d->skb, VQP_ATTR_RECVS_PENDING, q.recvs_pending) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_MSGS, READ_ONCE(vqp->tx_msgs),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_MSGS, READ_ONCE(vqp->rx_msgs),
				   VQP_ATTR_PAD));
}

static int dump_ns_vqps(struct vqp_ns *ns, void *arg)
{
	struct dump *d = arg;
	unsigned long qp_num;
	struct vqp *vqp;
	int ret;

	xa_for_each_start(&ns->vqps, qp_num, vqp, d->cb->args[1]) {
		vqp = vqp_find(ns, qp_num, 0);
		if (!vqp)
			continue;
		ret = dump_one_vqp(d, ns, vqp);
		vqp_put(vqp);
		if (ret) {
			d->cb->args[1] = qp_num;
			return ret;
		}
	}
	d->cb->args[1] = 0;
	return 0;
}

int vqp_dump_vqps(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_ns_walk(cb->args[0], &cb->seq, dump_ns_vqps, &d);
	return skb->len;
}

static int dump_one_peer(struct vqp_peer *peer, void *arg)
{
	struct dump *d = arg;
	void *hdr = dump_begin(d, VQP_CMD_PEER_GET);

	return !hdr ? -EMSGSIZE : dump_end(d, hdr,
		!nla_put(d->skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, peer->gid) &&
		!nla_put_u32(d->skb, VQP_ATTR_EPOCH, READ_ONCE(peer->epoch)) &&
		(!vqp_answer_may_have_keys(d->cb->skb) ||
		 !nla_put_u32(d->skb, VQP_ATTR_QKEY, READ_ONCE(peer->qkey))) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_PACKETS, READ_ONCE(peer->tx_packets),
				   VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_PACKETS, READ_ONCE(peer->rx_packets),
				   VQP_ATTR_PAD));
}

int vqp_dump_peers(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_peer_walk(cb->args[0], dump_one_peer, &d);
	return skb->len;
}

static bool dump_put_meta(struct sk_buff *skb, const struct vqp_meta_table *t, bool keys)
{
	struct nlattr *nest = nla_nest_start(skb, VQP_ATTR_META);

	if (!nest || vqp_answer_put_dct(skb, &t->dct, keys) ||
	    (keys && nla_put_u32(skb, VQP_ATTR_META_KEY, t->key)) ||
	    nla_put_u64_64bit(skb, VQP_ATTR_META_ADDR, t->addr, VQP_ATTR_PAD) ||
	    nla_put_u32(skb, VQP_ATTR_META_BUCKETS, t->buckets))
		return false;
	nla_nest_end(skb, nest);
	return true;
}

static int dump_one_meta(const struct vqp_meta_table *table, void *arg)
{
	struct dump *d = arg;
	void *hdr = dump_begin(d, VQP_CMD_META_GET);

	if (!hdr)
		return -EMSGSIZE;
	return dump_end(d, hdr, dump_put_meta(d->skb, table, vqp_answer_may_have_keys(d->cb->skb)));
}

int vqp_dump_metas(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_meta_walk(cb->args[0], dump_one_meta, &d);
	return skb->len;
}

static int dump_one_cached(u32 tenant, const u8 *gid, const struct vqp_dct *dct, void *arg)
{
	struct dump *d = arg;
	void *hdr = dump_begin(d, VQP_CMD_CACHE_GET);

	return !hdr ? -EMSGSIZE : dump_end(d, hdr,
		dump_put_ns_id(d->skb, tenant, gid) &&
		!nla_put(d->skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, dct->node_gid));
}

int vqp_dump_cache(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_dct_cache_walk(cb->args[0], dump_one_cached, &d);
	return skb->len;
}

/* The packets that went again: a far connection's trunk is shared, a connection of TCP is not. */
static bool dump_put_resent(struct sk_buff *skb, const struct vqp_sock_info *info)
{
	const struct vqp_trunk_info *trunk = &info->trunk;

	if (info->kind == VQP_SOCK_TCP)
		return !nla_put_u64_64bit(skb, VQP_ATTR_RESENT, info->resent, VQP_ATTR_PAD);
	if (!trunk->flow)
		return true;
	return !nla_put(skb, VQP_ATTR_NODE_GID, VQP_GID_BYTES, trunk->node_gid) &&
	       !nla_put_u32(skb, VQP_ATTR_FLOW, trunk->flow) &&
	       !nla_put_u64_64bit(skb, VQP_ATTR_RESENT, trunk->resent, VQP_ATTR_PAD);
}

static int dump_one_sock(const struct vqp_sock_info *info, void *arg)
{
	struct dump *d = arg;
	void *hdr = dump_begin(d, VQP_CMD_SOCK_GET);

	return !hdr ? -EMSGSIZE : dump_end(d, hdr,
		dump_put_ns_id(d->skb, info->tenant, info->names.local) &&
		!nla_put_u32(d->skb, VQP_ATTR_NETNS_INO, info->netns_ino) &&
		!nla_put_u32(d->skb, VQP_ATTR_SOCK_KIND, info->kind) &&
		!nla_put_u32(d->skb, VQP_ATTR_TCP_STATE, info->tcp_state) &&
		!nla_put_u32(d->skb, VQP_ATTR_PORT, info->names.local_port) &&
		!nla_put(d->skb, VQP_ATTR_REMOTE_GID, VQP_GID_BYTES, info->names.remote) &&
		!nla_put_u32(d->skb, VQP_ATTR_REMOTE_PORT, info->names.remote_port) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_TX_BYTES, info->tx_bytes, VQP_ATTR_PAD) &&
		!nla_put_u64_64bit(d->skb, VQP_ATTR_RX_BYTES, info->rx_bytes, VQP_ATTR_PAD) &&
		!nla_put_u32(d->skb, VQP_ATTR_RECV_QUEUE, info->recv_queue) &&
		!nla_put_u32(d->skb, VQP_ATTR_SEND_QUEUE, info->send_queue) &&
		!nla_put_u32(d->skb, VQP_ATTR_WINDOW, info->window) &&
		dump_put_resent(d->skb, info));
}

/* Sockets come and go all the time: one that does so during the dump may be in it or not. */
int vqp_dump_socks(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump d = { skb, cb };

	cb->args[0] = vqp_sock_walk(cb->args[0], dump_one_sock, &d);
	return skb->len;
}
