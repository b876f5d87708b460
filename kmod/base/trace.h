/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints, for `trace-cmd record -e vqp` and `perf trace -e 'vqp:*'`. docs/debugging.md says
 * how to read them. They may change with any release.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vqp

#if !defined(VQP_BASE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VQP_BASE_TRACE_H

#include <linux/tracepoint.h>
#include <linux/vqp.h>

#define VQP_TRACE_OPCODE(opcode)						\
	__print_symbolic(opcode,						\
		{ VQP_WR_RDMA_WRITE,		"WRITE" },			\
		{ VQP_WR_RDMA_WRITE_WITH_IMM,	"WRITE_WITH_IMM" },		\
		{ VQP_WR_SEND,			"SEND" },			\
		{ VQP_WR_SEND_WITH_IMM,		"SEND_WITH_IMM" },		\
		{ VQP_WR_RDMA_READ,		"READ" },			\
		{ VQP_WR_ATOMIC_CMP_AND_SWP,	"CMP_AND_SWP" },		\
		{ VQP_WR_ATOMIC_FETCH_AND_ADD,	"FETCH_AND_ADD" })

#define VQP_TRACE_CARRIER(carrier)						\
	__print_symbolic(carrier,						\
		{ VQP_CARRIER_NONE,	"none" },				\
		{ VQP_CARRIER_LOOP,	"loop" },				\
		{ VQP_CARRIER_DC,	"dc" },					\
		{ VQP_CARRIER_RC,	"rc" })

#define VQP_TRACE_SOCK_KIND(kind)						\
	__print_symbolic(kind,							\
		{ VQP_SOCK_FRESH,	"unconnected" },			\
		{ VQP_SOCK_LISTENER,	"listener" },				\
		{ VQP_SOCK_NEAR,	"near" },				\
		{ VQP_SOCK_TCP,		"tcp" },				\
		{ VQP_SOCK_FAR,		"far" })

/* A request was posted. */
TRACE_EVENT(vqp_post,
	TP_PROTO(u32 tenant, u32 qp_num, u64 wr_id, u32 opcode, u32 bytes),
	TP_ARGS(tenant, qp_num, wr_id, opcode, bytes),
	TP_STRUCT__entry(
		__field(u32, tenant)
		__field(u32, qp_num)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->tenant = tenant;
		__entry->qp_num = qp_num;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->bytes = bytes;
	),
	TP_printk("tenant=%u qp=%u wr_id=%#llx %s bytes=%u", __entry->tenant, __entry->qp_num,
		  __entry->wr_id, VQP_TRACE_OPCODE(__entry->opcode), __entry->bytes)
);

/* A request is over, with that enum vqp_wc_status. */
TRACE_EVENT(vqp_complete,
	TP_PROTO(u32 tenant, u32 qp_num, u64 wr_id, u32 opcode, u32 status),
	TP_ARGS(tenant, qp_num, wr_id, opcode, status),
	TP_STRUCT__entry(
		__field(u32, tenant)
		__field(u32, qp_num)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->tenant = tenant;
		__entry->qp_num = qp_num;
		__entry->wr_id = wr_id;
		__entry->opcode = opcode;
		__entry->status = status;
	),
	TP_printk("tenant=%u qp=%u wr_id=%#llx %s status=%u", __entry->tenant, __entry->qp_num,
		  __entry->wr_id, VQP_TRACE_OPCODE(__entry->opcode), __entry->status)
);

/* A message was received. */
TRACE_EVENT(vqp_recv,
	TP_PROTO(u32 tenant, u32 qp_num, u64 wr_id, u32 src_qp, u32 bytes),
	TP_ARGS(tenant, qp_num, wr_id, src_qp, bytes),
	TP_STRUCT__entry(
		__field(u32, tenant)
		__field(u32, qp_num)
		__field(u64, wr_id)
		__field(u32, src_qp)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->tenant = tenant;
		__entry->qp_num = qp_num;
		__entry->wr_id = wr_id;
		__entry->src_qp = src_qp;
		__entry->bytes = bytes;
	),
	TP_printk("tenant=%u qp=%u wr_id=%#llx src_qp=%u bytes=%u", __entry->tenant,
		  __entry->qp_num, __entry->wr_id, __entry->src_qp, __entry->bytes)
);

/* A VQP's requests go by another carrier from here on; they waited `pause_us` for that. */
TRACE_EVENT(vqp_carrier,
	TP_PROTO(u32 tenant, u32 qp_num, u32 from, u32 to, u32 pause_us),
	TP_ARGS(tenant, qp_num, from, to, pause_us),
	TP_STRUCT__entry(
		__field(u32, tenant)
		__field(u32, qp_num)
		__field(u32, from)
		__field(u32, to)
		__field(u32, pause_us)
	),
	TP_fast_assign(
		__entry->tenant = tenant;
		__entry->qp_num = qp_num;
		__entry->from = from;
		__entry->to = to;
		__entry->pause_us = pause_us;
	),
	TP_printk("tenant=%u qp=%u %s -> %s pause_us=%u", __entry->tenant, __entry->qp_num,
		  VQP_TRACE_CARRIER(__entry->from), VQP_TRACE_CARRIER(__entry->to),
		  __entry->pause_us)
);

/* A lookup in the meta servers' tables ended, with 0 or -errno. */
TRACE_EVENT(vqp_lookup,
	TP_PROTO(u32 tenant, const u8 *gid, int ret, u64 took_us),
	TP_ARGS(tenant, gid, ret, took_us),
	TP_STRUCT__entry(
		__field(u32, tenant)
		__array(u8, gid, VQP_GID_BYTES)
		__field(int, ret)
		__field(u64, took_us)
	),
	TP_fast_assign(
		__entry->tenant = tenant;
		memcpy(__entry->gid, gid, VQP_GID_BYTES);
		__entry->ret = ret;
		__entry->took_us = took_us;
	),
	TP_printk("tenant=%u gid=%pI6c ret=%d took_us=%llu", __entry->tenant, __entry->gid,
		  __entry->ret, __entry->took_us)
);

/* A packet of dc; `op` is an enum vqp_op of engine/wire.h, and `gid` the other node. */
DECLARE_EVENT_CLASS(vqp_packet,
	TP_PROTO(u32 lane, const u8 *gid, u32 flow, u32 op, u32 psn, u32 bytes),
	TP_ARGS(lane, gid, flow, op, psn, bytes),
	TP_STRUCT__entry(
		__field(u32, lane)
		__array(u8, gid, VQP_GID_BYTES)
		__field(u32, flow)
		__field(u32, op)
		__field(u32, psn)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->lane = lane;
		memcpy(__entry->gid, gid, VQP_GID_BYTES);
		__entry->flow = flow;
		__entry->op = op;
		__entry->psn = psn;
		__entry->bytes = bytes;
	),
	TP_printk("lane=%u node=%pI6c flow=%u op=%u psn=%u bytes=%u", __entry->lane, __entry->gid,
		  __entry->flow, __entry->op, __entry->psn, __entry->bytes)
);

DEFINE_EVENT(vqp_packet, vqp_tx_packet,
	TP_PROTO(u32 lane, const u8 *gid, u32 flow, u32 op, u32 psn, u32 bytes),
	TP_ARGS(lane, gid, flow, op, psn, bytes)
);

DEFINE_EVENT(vqp_packet, vqp_rx_packet,
	TP_PROTO(u32 lane, const u8 *gid, u32 flow, u32 op, u32 psn, u32 bytes),
	TP_ARGS(lane, gid, flow, op, psn, bytes)
);

/* A flow of dc has sent packets again, `resent` in all. */
TRACE_EVENT(vqp_resend,
	TP_PROTO(u32 flow, u32 qp_num, u64 resent, u32 rto_us),
	TP_ARGS(flow, qp_num, resent, rto_us),
	TP_STRUCT__entry(
		__field(u32, flow)
		__field(u32, qp_num)
		__field(u64, resent)
		__field(u32, rto_us)
	),
	TP_fast_assign(
		__entry->flow = flow;
		__entry->qp_num = qp_num;
		__entry->resent = resent;
		__entry->rto_us = rto_us;
	),
	TP_printk("flow=%u qp=%u resent=%llu rto_us=%u", __entry->flow, __entry->qp_num,
		  __entry->resent, __entry->rto_us)
);

/* The congestion window of a flow of dc has changed; in packets. */
TRACE_EVENT(vqp_cwnd,
	TP_PROTO(u32 flow, u32 qp_num, u32 before, u32 cwnd, u32 ssthresh, u32 srtt_us),
	TP_ARGS(flow, qp_num, before, cwnd, ssthresh, srtt_us),
	TP_STRUCT__entry(
		__field(u32, flow)
		__field(u32, qp_num)
		__field(u32, before)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u32, srtt_us)
	),
	TP_fast_assign(
		__entry->flow = flow;
		__entry->qp_num = qp_num;
		__entry->before = before;
		__entry->cwnd = cwnd;
		__entry->ssthresh = ssthresh;
		__entry->srtt_us = srtt_us;
	),
	TP_printk("flow=%u qp=%u cwnd=%u -> %u ssthresh=%u srtt_us=%u", __entry->flow,
		  __entry->qp_num, __entry->before, __entry->cwnd, __entry->ssthresh,
		  __entry->srtt_us)
);

/* How a stream socket connects was decided; `why` is 0, or -errno: why it is of TCP. */
TRACE_EVENT(vqp_sock_connect,
	TP_PROTO(u32 netns, const u8 *remote, u32 remote_port, u32 kind, int why),
	TP_ARGS(netns, remote, remote_port, kind, why),
	TP_STRUCT__entry(
		__field(u32, netns)
		__array(u8, remote, VQP_GID_BYTES)
		__field(u32, remote_port)
		__field(u32, kind)
		__field(int, why)
	),
	TP_fast_assign(
		__entry->netns = netns;
		memcpy(__entry->remote, remote, VQP_GID_BYTES);
		__entry->remote_port = remote_port;
		__entry->kind = kind;
		__entry->why = why;
	),
	TP_printk("netns=%u remote=[%pI6c]:%u kind=%s why=%d", __entry->netns, __entry->remote,
		  __entry->remote_port, VQP_TRACE_SOCK_KIND(__entry->kind), __entry->why)
);

/* A stream socket, with the bytes that its connection has sent and received. */
DECLARE_EVENT_CLASS(vqp_sock,
	TP_PROTO(u32 netns, u32 kind, const u8 *local, u32 local_port, const u8 *remote,
		 u32 remote_port, u64 tx_bytes, u64 rx_bytes),
	TP_ARGS(netns, kind, local, local_port, remote, remote_port, tx_bytes, rx_bytes),
	TP_STRUCT__entry(
		__field(u32, netns)
		__field(u32, kind)
		__array(u8, local, VQP_GID_BYTES)
		__array(u8, remote, VQP_GID_BYTES)
		__field(u32, local_port)
		__field(u32, remote_port)
		__field(u64, tx_bytes)
		__field(u64, rx_bytes)
	),
	TP_fast_assign(
		__entry->netns = netns;
		__entry->kind = kind;
		memcpy(__entry->local, local, VQP_GID_BYTES);
		memcpy(__entry->remote, remote, VQP_GID_BYTES);
		__entry->local_port = local_port;
		__entry->remote_port = remote_port;
		__entry->tx_bytes = tx_bytes;
		__entry->rx_bytes = rx_bytes;
	),
	TP_printk("netns=%u kind=%s local=[%pI6c]:%u remote=[%pI6c]:%u tx=%llu rx=%llu",
		  __entry->netns, VQP_TRACE_SOCK_KIND(__entry->kind), __entry->local,
		  __entry->local_port, __entry->remote, __entry->remote_port, __entry->tx_bytes,
		  __entry->rx_bytes)
);

/* accept(2) gives out a connection; one that TCP has accepted is a socket of TCP from here on. */
DEFINE_EVENT(vqp_sock, vqp_sock_accept,
	TP_PROTO(u32 netns, u32 kind, const u8 *local, u32 local_port, const u8 *remote,
		 u32 remote_port, u64 tx_bytes, u64 rx_bytes),
	TP_ARGS(netns, kind, local, local_port, remote, remote_port, tx_bytes, rx_bytes)
);

/* A socket of the module is closed. */
DEFINE_EVENT(vqp_sock, vqp_sock_close,
	TP_PROTO(u32 netns, u32 kind, const u8 *local, u32 local_port, const u8 *remote,
		 u32 remote_port, u64 tx_bytes, u64 rx_bytes),
	TP_ARGS(netns, kind, local, local_port, remote, remote_port, tx_bytes, rx_bytes)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH base
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
