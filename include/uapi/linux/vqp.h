/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * vqp: virtual RDMA queue pairs for containers. The interface between the
 * kernel module and user space: ioctls and mmaps of /dev/vqp, and the generic
 * netlink family "vqp".
 *
 * Conventions, which docs/abi.md explains:
 *  - Every ioctl argument is an extensible struct: user space passes the size
 *    it was compiled with (it is part of the ioctl number), the kernel treats
 *    missing tail fields as zero and refuses non-zero tail bytes it does not
 *    know (E2BIG). A size below that of the first version is EINVAL.
 *  - Fields that are reserved, and fields that are "out" and not "in/out", must
 *    be zero on input, and so must flags that are not defined (EINVAL).
 *  - Addresses and lengths are bytes; times carry their unit in the name.
 *  - GIDs are 16 bytes in network order; IPv4 is ::ffff:a.b.c.d.
 *  - VQP numbers and keys are virtual and belong to the VQP namespace.
 */
#ifndef _UAPI_LINUX_VQP_H
#define _UAPI_LINUX_VQP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VQP_DEVICE_NAME		"vqp"
#define VQP_DEVICE_PATH		"/dev/vqp"

#define VQP_GID_BYTES		16
#define VQP_MAX_SGE		16
#define VQP_MAX_WR		16384		/* per queue of a VQP */
#define VQP_MAX_CQE		65536		/* per CQ */
#define VQP_MAX_INLINE_BYTES	1024		/* per work request */
#define VQP_MAX_MSG_BYTES	(1ULL << 30)	/* per work request */
#define VQP_MAX_POST_BYTES	(1U << 20)	/* per POST_SEND or POST_RECV */
#define VQP_MAX_ARENA_BYTES	(4U << 20)	/* per mmap of arena memory */

/* ---- Contexts: open("/dev/vqp") ------------------------------------- */

/*
 * A new context is attached to nothing. ATTACH attaches it, for good, to a VQP
 * namespace of the caller's network namespace. Before that it takes QUERY and
 * ATTACH only; all else, mmap included, is EUNATCH.
 * Errors common to all: ESHUTDOWN (the namespace is gone), ENOTTY (unknown
 * ioctl), EFAULT, E2BIG and EINVAL (the argument), ENOMEM, EINTR (the process is
 * being killed).
 */

/*
 * Attach to the VQP namespace with that address, or, if it is all zeros, to the
 * oldest of the caller's network namespace. Again is no error. ENONET: the network namespace
 * has none; EADDRNOTAVAIL: it has none with that address; EISCONN: the context
 * is attached to another; EPERM: the host's own needs CAP_NET_ADMIN.
 */
struct vqp_attach {
	__u8  gid[VQP_GID_BYTES];	/* in: the address, or zeros; out: the address */
	__u32 flags;			/* none is defined */
	__u32 reserved;
};

#define VQP_QUERY_ATTACHED	(1U << 0)	/* tenant and gid are set */
#define VQP_QUERY_PARENT_UP	(1U << 1)	/* a parent RDMA device is present */

struct vqp_query {
	__aligned_u64 features;		/* out: what was added since the first version */
	__aligned_u64 max_msg_bytes;	/* out */
	__u8  gid[VQP_GID_BYTES];	/* out: address of this namespace */
	__u32 tenant;			/* out */
	__u32 flags;			/* out: VQP_QUERY_* */
	__u32 max_wr;			/* out */
	__u32 max_sge;			/* out */
	__u32 max_cqe;			/* out */
	__u32 max_inline_bytes;		/* out */
};

/* Same values as enum ibv_access_flags. Local read is always granted. */
#define VQP_ACCESS_LOCAL_WRITE	(1U << 0)
#define VQP_ACCESS_REMOTE_WRITE	(1U << 1)
#define VQP_ACCESS_REMOTE_READ	(1U << 2)
#define VQP_ACCESS_REMOTE_ATOMIC (1U << 3)

/*
 * Register [addr, addr + length). Memory from an arena of this context is
 * taken as it is; any other memory is pinned and charged to RLIMIT_MEMLOCK.
 * EFAULT, EINVAL (bad flags, remote write or atomic without local write,
 * wrap-around, zero length), ENOMEM (memlock or memory), ENOSPC (no key left),
 * EDQUOT (the namespace's limit on regions, or on bytes).
 */
struct vqp_reg_mr {
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 access;			/* VQP_ACCESS_* */
	__u32 key;			/* out: both lkey and rkey */
};

/* ENOENT: no such key in this context. */
struct vqp_dereg_mr {
	__u32 key;
	__u32 reserved;
};

/*
 * The new CQ is a file descriptor (O_CLOEXEC), to be polled and to be named by
 * CREATE_QP. Its ring is mapped through the context: mmap(NULL, ring_bytes,
 * PROT_READ | PROT_WRITE, MAP_SHARED, context_fd, ring_offset), for as long as
 * the CQ exists. EMFILE, ENFILE, ENOSPC (no number left).
 */
struct vqp_create_cq {
	__u32 cqe;			/* in: wanted; out: granted, a power of two */
	__u32 flags;			/* none is defined */
	__aligned_u64 ring_offset;	/* out: offset of the mmap */
	__aligned_u64 ring_bytes;	/* out: length of the mmap */
	__s32 fd;			/* out */
	__u32 reserved;
};

#define VQP_QP_SQ_SIG_ALL	(1U << 0)	/* every send completes with a CQE */

/*
 * EBADF/EINVAL for CQ fds that are no CQs of this context; ENOSPC: no number
 * left; EDQUOT: the namespace's limit on VQPs.
 */
struct vqp_create_qp {
	__s32 send_cq_fd;
	__s32 recv_cq_fd;
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 flags;			/* VQP_QP_* */
	__u32 qp_num;			/* out */
};

struct vqp_destroy_qp {
	__u32 qp_num;
	__u32 reserved;
};

/*
 * Receive from anyone of the same tenant who connects to this namespace's
 * address and this port. Port 0 picks a free one.
 * EADDRINUSE, EINVAL (already bound or connected), ENOENT.
 */
struct vqp_bind {
	__u32 qp_num;
	__u32 port;			/* in/out, at most 65535 */
};

/*
 * Connect to (gid, port) in the same tenant. Nothing is sent to the target.
 * EISCONN, EHOSTUNREACH (nobody has this address), ENETDOWN (no parent),
 * ETIMEDOUT (no meta server answered), ENOENT, EIO (destroyed meanwhile). The
 * port is checked by the target when the first SEND arrives
 * (VQP_WC_REM_INV_REQ_ERR).
 */
struct vqp_connect {
	__u32 qp_num;
	__u32 port;
	__u8  gid[VQP_GID_BYTES];
};

/*
 * Make a VQP connected back to the sender of a message that qp_num received:
 * src_gid and src_qp are those of its CQE. The new VQP shares the CQs and the
 * queue sizes of qp_num, and has no receive queue of its own traffic: what the
 * sender sends goes on arriving at qp_num.
 * ENOENT, EINVAL (qp_num is not bound), ENOSPC, EDQUOT (as of CREATE_QP), and
 * what CONNECT gives.
 */
struct vqp_accept {
	__u32 qp_num;
	__u32 src_qp;
	__u8  src_gid[VQP_GID_BYTES];
	__u32 new_qp_num;		/* out */
	__u32 reserved;
};

/* Same values as enum ibv_wr_opcode. */
enum vqp_wr_opcode {
	VQP_WR_RDMA_WRITE		= 0,
	VQP_WR_RDMA_WRITE_WITH_IMM	= 1,
	VQP_WR_SEND			= 2,
	VQP_WR_SEND_WITH_IMM		= 3,
	VQP_WR_RDMA_READ		= 4,
	VQP_WR_ATOMIC_CMP_AND_SWP	= 5,
	VQP_WR_ATOMIC_FETCH_AND_ADD	= 6,
};

/* Same values as enum ibv_send_flags. */
#define VQP_SEND_FENCE		(1U << 0)
#define VQP_SEND_SIGNALED	(1U << 1)
#define VQP_SEND_SOLICITED	(1U << 2)
#define VQP_SEND_INLINE		(1U << 3)

struct vqp_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/*
 * One send request. An atomic is on the 8 bytes at remote_addr, a multiple of 8
 * (VQP_WC_REM_INV_REQ_ERR), in memory with VQP_ACCESS_REMOTE_ATOMIC; its SGEs are
 * of 8 bytes in all, and get what was there.
 *
 * What follows it in the buffer: with VQP_SEND_INLINE inline_bytes bytes of
 * payload, padded with zeros to a multiple of 8 (and num_sge is 0); otherwise
 * num_sge entries of struct vqp_sge.
 */
struct vqp_send_wr {
	__aligned_u64 wr_id;
	__u32 opcode;			/* enum vqp_wr_opcode */
	__u32 send_flags;		/* VQP_SEND_* */
	__aligned_u64 remote_addr;	/* one-sided only */
	__u32 rkey;			/* one-sided only */
	__be32 imm_data;		/* *_WITH_IMM only */
	__aligned_u64 compare_add;	/* atomics only: what to compare with, or to add */
	__aligned_u64 swap;		/* CMP_AND_SWP only */
	__u32 num_sge;
	__u32 inline_bytes;
	__aligned_u64 reserved;
};

/* One receive request, followed by num_sge entries of struct vqp_sge. */
struct vqp_recv_wr {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/*
 * Post a list of requests, laid out one behind the other from `wrs`.
 * Each begins with a struct vqp_send_wr or vqp_recv_wr of wr_bytes bytes, and
 * its SGEs have sge_bytes bytes each: the sizes of the structs that user space
 * was compiled with. The kernel treats them as it does arguments: a size below
 * that of the first version, or no multiple of 8, is EINVAL; a tail that it does
 * not know must be zero (E2BIG).
 * `posted` says how many were taken, also when the call fails; the request
 * at that index is the bad one. Nothing from it on was posted.
 * EINVAL (opcode, flags, layout, sizes), EACCES (lkey, range or its access),
 * ENOMEM (queue full), ENOTCONN (POST_SEND), EMSGSIZE, EFAULT, ENOENT,
 * EIO (VQP in the error state).
 */
struct vqp_post {
	__u32 qp_num;
	__u32 flags;			/* none is defined */
	__u32 wr_count;
	__u16 wr_bytes;			/* sizeof(struct vqp_send_wr), or vqp_recv_wr */
	__u16 sge_bytes;		/* sizeof(struct vqp_sge) */
	__aligned_u64 wrs;
	__u32 wrs_bytes;		/* of the whole list */
	__u32 posted;			/* out */
};

enum vqp_qp_state {
	VQP_QP_INIT		= 0,	/* created */
	VQP_QP_BOUND		= 1,
	VQP_QP_CONNECTED	= 2,
	VQP_QP_ERROR		= 3,
};

enum vqp_carrier {
	VQP_CARRIER_NONE	= 0,
	VQP_CARRIER_LOOP	= 1,
	VQP_CARRIER_DC		= 2,
	VQP_CARRIER_RC		= 3,
};

struct vqp_query_qp {
	__u32 qp_num;
	__u32 state;			/* out: enum vqp_qp_state */
	__u32 carrier;			/* out: enum vqp_carrier */
	__u32 port;			/* out: bound port, or 0 */
	__u8  remote_gid[VQP_GID_BYTES];/* out: if connected */
	__u32 remote_port;		/* out: if connected by port */
	__u32 remote_qp;		/* out: if connected by pop_msgs */
	__u32 sends_pending;		/* out: requests */
	__u32 recvs_pending;		/* out: requests */
};

#define VQP_IOC_MAGIC		0xE7
#define VQP_IOC_QUERY		_IOWR(VQP_IOC_MAGIC, 0x00, struct vqp_query)
#define VQP_IOC_REG_MR		_IOWR(VQP_IOC_MAGIC, 0x01, struct vqp_reg_mr)
#define VQP_IOC_DEREG_MR	_IOWR(VQP_IOC_MAGIC, 0x02, struct vqp_dereg_mr)
#define VQP_IOC_CREATE_CQ	_IOWR(VQP_IOC_MAGIC, 0x03, struct vqp_create_cq)
#define VQP_IOC_CREATE_QP	_IOWR(VQP_IOC_MAGIC, 0x04, struct vqp_create_qp)
#define VQP_IOC_DESTROY_QP	_IOWR(VQP_IOC_MAGIC, 0x05, struct vqp_destroy_qp)
#define VQP_IOC_BIND		_IOWR(VQP_IOC_MAGIC, 0x06, struct vqp_bind)
#define VQP_IOC_CONNECT		_IOWR(VQP_IOC_MAGIC, 0x07, struct vqp_connect)
#define VQP_IOC_ACCEPT		_IOWR(VQP_IOC_MAGIC, 0x08, struct vqp_accept)
#define VQP_IOC_POST_SEND	_IOWR(VQP_IOC_MAGIC, 0x09, struct vqp_post)
#define VQP_IOC_POST_RECV	_IOWR(VQP_IOC_MAGIC, 0x0a, struct vqp_post)
#define VQP_IOC_QUERY_QP	_IOWR(VQP_IOC_MAGIC, 0x0b, struct vqp_query_qp)
#define VQP_IOC_ATTACH		_IOWR(VQP_IOC_MAGIC, 0x0c, struct vqp_attach)

/*
 * Arena memory: mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
 * context_fd, 0) with length a multiple of the page size and at most
 * VQP_MAX_ARENA_BYTES gives zeroed kernel memory that REG_MR takes without
 * pinning. It is charged to the memory cgroup, not to RLIMIT_MEMLOCK.
 * EINVAL, ENOMEM, EDQUOT (the namespace's limit on bytes).
 */

/* ---- CQs ------------------------------------------------------------- */

/* Same values as enum ibv_wc_status. */
enum vqp_wc_status {
	VQP_WC_SUCCESS			= 0,
	VQP_WC_LOC_LEN_ERR		= 1,
	VQP_WC_LOC_QP_OP_ERR		= 2,
	VQP_WC_LOC_EEC_OP_ERR		= 3,
	VQP_WC_LOC_PROT_ERR		= 4,
	VQP_WC_WR_FLUSH_ERR		= 5,
	VQP_WC_MW_BIND_ERR		= 6,
	VQP_WC_BAD_RESP_ERR		= 7,
	VQP_WC_LOC_ACCESS_ERR		= 8,
	VQP_WC_REM_INV_REQ_ERR		= 9,
	VQP_WC_REM_ACCESS_ERR		= 10,
	VQP_WC_REM_OP_ERR		= 11,
	VQP_WC_RETRY_EXC_ERR		= 12,
	VQP_WC_RNR_RETRY_EXC_ERR	= 13,
};

/* Same values as enum ibv_wc_opcode. */
enum vqp_wc_opcode {
	VQP_WC_SEND		= 0,
	VQP_WC_RDMA_WRITE	= 1,
	VQP_WC_RDMA_READ	= 2,
	VQP_WC_COMP_SWAP	= 3,
	VQP_WC_FETCH_ADD	= 4,
	VQP_WC_RECV		= 128,
	VQP_WC_RECV_RDMA_WITH_IMM = 129,
};

#define VQP_WC_WITH_IMM		(1U << 1)	/* as IBV_WC_WITH_IMM */

struct vqp_cqe {
	__aligned_u64 wr_id;
	__u32 status;			/* enum vqp_wc_status */
	__u32 opcode;			/* enum vqp_wc_opcode */
	__u32 byte_len;
	__u32 flags;			/* VQP_WC_WITH_IMM */
	__be32 imm_data;
	__u32 qp_num;
	__u32 src_qp;			/* receives: the sender's VQP number */
	__u32 reserved0;
	__u8  src_gid[VQP_GID_BYTES];	/* receives: the sender's address */
	__aligned_u64 reserved1;
};

/*
 * A CQ's ring: this header, then `entries` CQEs from byte VQP_CQ_CQE_OFFSET.
 * The kernel writes the CQE at (tail % entries), then releases tail; user space
 * acquires tail, reads the CQE at (head % entries), then releases head. Both
 * run freely modulo 2^32. The CQ is full when tail - head == entries. poll(2)
 * reports EPOLLIN while tail != head, and EPOLLERR once the CQ overflowed.
 */
struct vqp_cq_ring {
	__u32 head;			/* written by user space */
	__u32 pad0[15];
	__u32 tail;			/* written by the kernel */
	__u32 overflow;			/* written by the kernel: CQEs lost */
	__u32 pad1[14];
	__u32 entries;			/* constant */
	__u32 pad2[15];
};

#define VQP_CQ_CQE_OFFSET	192

/* ---- Generic netlink family "vqp" ------------------------------------ */

/*
 * All commands need CAP_NET_ADMIN in the initial user namespace, except the
 * GET ones, which need it in none but must come from the initial network
 * namespace. A command refuses attributes that are none of its own, and
 * reserved header bytes and flags of netlink that are not 0 (EINVAL).
 */
#define VQP_GENL_NAME		"vqp"
#define VQP_GENL_VERSION	1

#define VQP_NAME_MAX		128	/* bytes of a namespace's name with its NUL */
#define VQP_META_MAX		8	/* meta servers a node knows */
#define VQP_LANES_MAX		8	/* UD QPs of a node that peers may send to */

enum vqp_cmd {
	VQP_CMD_UNSPEC,
	/*
	 * Create a VQP namespace: NETNS_FD, TENANT (not 0), GID; NAME and limits
	 * (MAX_*) optional. The same again succeeds, and sets the limits it
	 * gives, but with EXCLUSIVE it is EEXIST; EEXIST if that netns has one
	 * of another tenant, EADDRINUSE if (tenant, gid) is taken by another
	 * netns of this node.
	 */
	VQP_CMD_NS_ADD,
	VQP_CMD_NS_DEL,		/* by NETNS_FD all it has, or by TENANT and GID; ENOENT */
	/* dump: TENANT, GID, NAME, NETNS_INO, VQPS, MRS, CONTEXTS, PINNED_BYTES, MAX_* */
	VQP_CMD_NS_GET,
	/*
	 * dump: TENANT, GID, QP_NUM, QP_STATE, CARRIER, PORT, REMOTE_GID, REMOTE_PORT,
	 * SENDS_PENDING, RECVS_PENDING, TX_MSGS, RX_MSGS
	 */
	VQP_CMD_VQP_GET,
	VQP_CMD_PEER_GET,	/* dump: NODE_GID, EPOCH, QKEY, TX_PACKETS, RX_PACKETS */
	VQP_CMD_STATUS_GET,	/* do: node-wide, see attributes from PARENT on */
	VQP_CMD_META_SET,	/* replace the list of meta servers: META* (nested) */
	VQP_CMD_META_GET,	/* dump: META* */
	VQP_CMD_CACHE_FLUSH,	/* forget cached DCT metadata: all, or of TENANT and GID */
	VQP_CMD_CACHE_GET,	/* dump: TENANT, GID, NODE_GID */
	/*
	 * Change limits, by NETNS_FD of all it has, or by TENANT and GID: those
	 * MAX_* that are given. ENOENT; the host's own has none. Below what is
	 * used a limit only keeps more from being made.
	 */
	VQP_CMD_NS_SET,
	__VQP_CMD_MAX,
};

#define VQP_CMD_MAX (__VQP_CMD_MAX - 1)

/* Instead of a limit (MAX_*): there is none. */
#define VQP_UNLIMITED	0xffffffffffffffffULL

/* Least rate of a namespace, in bytes per second. */
#define VQP_RATE_MIN	65536

/* Who gives way at a node's senders. */
enum vqp_priority {
	VQP_PRIORITY_LOW = 1,
	VQP_PRIORITY_NORMAL,	/* a namespace of which nothing was said */
	VQP_PRIORITY_HIGH,
};

enum vqp_attr {
	VQP_ATTR_UNSPEC,
	VQP_ATTR_PAD,
	VQP_ATTR_NETNS_FD,	/* u32 */
	VQP_ATTR_TENANT,	/* u32 */
	VQP_ATTR_GID,		/* binary, 16 bytes */
	VQP_ATTR_NAME,		/* string */
	VQP_ATTR_NETNS_INO,	/* u32 */
	VQP_ATTR_VQPS,		/* u32 */
	VQP_ATTR_MRS,		/* u32 */
	VQP_ATTR_CONTEXTS,	/* u32 */
	VQP_ATTR_PINNED_BYTES,	/* u64: pages that regions pin, each anew, and pages of arenas */
	VQP_ATTR_QP_NUM,	/* u32 */
	VQP_ATTR_QP_STATE,	/* u32, enum vqp_qp_state */
	VQP_ATTR_CARRIER,	/* u32, enum vqp_carrier */
	VQP_ATTR_PORT,		/* u32 */
	VQP_ATTR_REMOTE_GID,	/* binary, 16 bytes */
	VQP_ATTR_REMOTE_PORT,	/* u32 */
	VQP_ATTR_SENDS_PENDING,	/* u32 */
	VQP_ATTR_RECVS_PENDING,	/* u32 */
	VQP_ATTR_TX_MSGS,	/* u64 */
	VQP_ATTR_RX_MSGS,	/* u64 */
	VQP_ATTR_NODE_GID,	/* binary, 16 bytes: GID of a node's parent */
	VQP_ATTR_EPOCH,		/* u32: changes whenever that node's module starts anew */
	VQP_ATTR_QKEY,		/* u32 */
	VQP_ATTR_LANE_QPN,	/* u32, repeated, at most VQP_LANES_MAX */
	VQP_ATTR_TX_PACKETS,	/* u64 */
	VQP_ATTR_RX_PACKETS,	/* u64 */
	/*
	 * STATUS_GET: PARENT (absent if there is none), NODE_GID, EPOCH, QKEY, LANE_QPN*, MTU,
	 * POOL_BYTES, COUNTER*
	 */
	VQP_ATTR_PARENT,	/* string: RDMA device name */
	VQP_ATTR_MTU,		/* u32: bytes of a UD payload */
	VQP_ATTR_POOL_BYTES,	/* u64: memory of the fixed pool */
	/* nested, repeated: COUNTER_NAME, and COUNTER_MADE, COUNTER_FREED or COUNTER_VALUE */
	VQP_ATTR_COUNTER,
	VQP_ATTR_COUNTER_NAME,	/* string */
	VQP_ATTR_COUNTER_MADE,	/* u64 */
	VQP_ATTR_COUNTER_FREED,	/* u64 */
	VQP_ATTR_COUNTER_VALUE,	/* u64 */
	/*
	 * One meta server: the node it runs on (NODE_GID, EPOCH, QKEY,
	 * LANE_QPN*) and its table in that node's own namespace (META_KEY,
	 * META_ADDR, META_BUCKETS).
	 */
	VQP_ATTR_META,		/* nested, repeated */
	VQP_ATTR_META_KEY,	/* u32: rkey of the table */
	VQP_ATTR_META_ADDR,	/* u64: remote address of the table */
	VQP_ATTR_META_BUCKETS,	/* u32: a power of two */
	/*
	 * Limits of a namespace, beyond which its functions get EDQUOT: u64, at most
	 * 2^63 - 1, or VQP_UNLIMITED, which each is unless something else was said.
	 * With 0 there can be none at all.
	 */
	VQP_ATTR_MAX_VQPS,	/* of VQPS */
	VQP_ATTR_MAX_MRS,	/* of MRS */
	VQP_ATTR_MAX_BYTES,	/* of PINNED_BYTES */
	VQP_ATTR_MAX_RATE,	/* bytes per second, at least VQP_RATE_MIN; more waits */
	VQP_ATTR_PRIORITY,	/* u8, enum vqp_priority */
	VQP_ATTR_EXCLUSIVE,	/* flag, of NS_ADD: the namespace is to be new */
	__VQP_ATTR_MAX,
};

#define VQP_ATTR_MAX (__VQP_ATTR_MAX - 1)

#endif /* _UAPI_LINUX_VQP_H */
