/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * vqp: virtual RDMA queue pairs for containers. This is the interface between the kernel module and
 * user space: the ioctls and mmaps of /dev/vqp, and the generic netlink family "vqp".
 *
 * Conventions, which docs/abi.md explains:
 *  - Each ioctl argument is an extensible struct. User space passes the size that it was compiled
 *    with, as part of the ioctl number. The kernel treats missing fields at the end as zero, and
 *    refuses bytes at the end that it does not know and that are not zero (E2BIG). A size below
 *    that of the first version is EINVAL.
 *  - Fields that are reserved, and fields that are "out" and not "in/out", must be zero on input,
 *    and so must flags that are not defined (EINVAL).
 *  - Addresses and lengths are in bytes, and names of times have their unit.
 *  - A GID is 16 bytes in network order. An IPv4 address is ::ffff:a.b.c.d.
 *  - VQP numbers and keys are virtual, and belong to the VQP namespace.
 */
#ifndef _UAPI_LINUX_VQP_H
#define _UAPI_LINUX_VQP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VQP_DEVICE_NAME		"vqp"
#define VQP_DEVICE_PATH		"/dev/vqp"

/* A stream socket: socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_VQP) */
#define IPPROTO_VQP		258

/*
 * getsockopt(fd, IPPROTO_VQP, VQP_SO_KIND): int, enum vqp_sock_kind. What a listener has accepted
 * by TCP is none of these sockets, and has no such option.
 */
#define VQP_SO_KIND		1

/* What such a socket is. */
enum vqp_sock_kind {
	VQP_SOCK_FRESH,			/* not connected, and not listening */
	VQP_SOCK_LISTENER,
	VQP_SOCK_NEAR,			/* a connection within the node */
	VQP_SOCK_TCP,			/* It stays so, be it connected or not. */
	VQP_SOCK_FAR,			/* a connection to another node, by vqp */
};

/* Whether programs that ask for TCP get such sockets where these are on. */
enum vqp_hook {
	VQP_HOOK_IDLE,			/* No namespace has sockets on, for some seconds. */
	VQP_HOOK_ARMED,			/* They do. */
	VQP_HOOK_REFUSED,		/* This kernel allows no hook. */
	VQP_HOOK_OFF,			/* The module's parameter `hook` is N. */
};

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
 * A new context is not attached. ATTACH attaches it, for good, to a VQP namespace of the caller's
 * network namespace. Before that the context takes QUERY and ATTACH only, and all else, mmap
 * included, is EUNATCH.
 *
 * Errors common to all ioctls: ESHUTDOWN (the namespace has gone), ENOTTY (unknown ioctl), EFAULT,
 * E2BIG and EINVAL (the argument), ENOMEM, and EINTR (the process is being killed).
 */

/*
 * Attach to the VQP namespace with address gid, or, if gid is all zeros, to the oldest one of the
 * caller's network namespace. To attach to the same namespace again is no error. ENONET if the
 * network namespace has no VQP namespace; EADDRNOTAVAIL if it has none with that address; EISCONN
 * if the context is attached to another; EPERM if it is the host's own, for which the caller and
 * whoever opened the device need CAP_NET_ADMIN.
 */
struct vqp_attach {
	__u8  gid[VQP_GID_BYTES];	/* in: the address, or zeros; out: the address */
	__u32 flags;			/* none is defined */
	__u32 reserved;
};

#define VQP_QUERY_ATTACHED	(1U << 0)	/* tenant and gid are set. */
#define VQP_QUERY_PARENT_UP	(1U << 1)	/* The node has a parent device. */

struct vqp_query {
	__aligned_u64 features;		/* out: a bit for each addition since the first version */
	__aligned_u64 max_msg_bytes;	/* out */
	__u8  gid[VQP_GID_BYTES];	/* out: the address of the namespace */
	__u32 tenant;			/* out */
	__u32 flags;			/* out: VQP_QUERY_* */
	__u32 max_wr;			/* out */
	__u32 max_sge;			/* out */
	__u32 max_cqe;			/* out */
	__u32 max_inline_bytes;		/* out */
};

/* The values are those of enum ibv_access_flags. Local reads are always allowed. */
#define VQP_ACCESS_LOCAL_WRITE	(1U << 0)
#define VQP_ACCESS_REMOTE_WRITE	(1U << 1)
#define VQP_ACCESS_REMOTE_READ	(1U << 2)
#define VQP_ACCESS_REMOTE_ATOMIC (1U << 3)

/*
 * Register the memory from addr to addr + length. Memory of an arena of this context is used as it
 * is, and other memory is pinned and counts for RLIMIT_MEMLOCK. EFAULT; EINVAL for unknown flags,
 * for remote writes or atomics without local writes, for a length of 0, or for a range that wraps;
 * ENOMEM for want of memory, or beyond RLIMIT_MEMLOCK; ENOSPC if no key is left; EDQUOT beyond the
 * namespace's limits on regions or bytes.
 */
struct vqp_reg_mr {
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 access;			/* VQP_ACCESS_* */
	__u32 key;			/* out: both lkey and rkey */
};

/* ENOENT if no region of this context has the key. */
struct vqp_dereg_mr {
	__u32 key;
	__u32 reserved;
};

/*
 * Make a CQ. It is a file descriptor (O_CLOEXEC), which is polled and which CREATE_QP names. The
 * ring is mapped through the context, as long as the CQ exists, by mmap(NULL, ring_bytes,
 * PROT_READ | PROT_WRITE, MAP_SHARED, context_fd, ring_offset). EMFILE; ENFILE; ENOSPC if no number
 * is left.
 */
struct vqp_create_cq {
	__u32 cqe;			/* in: the least size; out: the size, a power of two */
	__u32 flags;			/* none is defined */
	__aligned_u64 ring_offset;	/* out: the offset for mmap */
	__aligned_u64 ring_bytes;	/* out: the length for mmap */
	__s32 fd;			/* out */
	__u32 reserved;
};

#define VQP_QP_SQ_SIG_ALL	(1U << 0)	/* Each send request completes with a CQE. */

/*
 * Make a VQP. EBADF or EINVAL if a descriptor is no CQ of this context; ENOSPC if no number is
 * left; EDQUOT beyond the namespace's limit on VQPs.
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
 * Bind a VQP: it receives from all VQPs of the tenant that connect to this namespace's address and
 * this port. Port 0 picks a free port. EADDRINUSE; EINVAL if the VQP is bound or connected; ENOENT.
 */
struct vqp_bind {
	__u32 qp_num;
	__u32 port;			/* in/out, at most 65535 */
};

/*
 * Connect a VQP to a port at address gid of the same tenant. Nothing is sent to the target, which
 * checks the port when the first SEND arrives (VQP_WC_REM_INV_REQ_ERR). EISCONN; EHOSTUNREACH if no
 * node has the address; ENETDOWN without a parent; ETIMEDOUT if no meta server answers; ENOENT; EIO
 * if the VQP fails meanwhile.
 */
struct vqp_connect {
	__u32 qp_num;
	__u32 port;
	__u8  gid[VQP_GID_BYTES];
};

/*
 * Make a VQP that is connected back to the sender of a message that qp_num received; src_gid and
 * src_qp are those of the message's CQE. The new VQP has the CQs and the send queue size of qp_num,
 * and no receive queue: messages of the sender go on arriving at qp_num. ENOENT; EINVAL if qp_num
 * is not bound; and the errors of CREATE_QP and CONNECT.
 */
struct vqp_accept {
	__u32 qp_num;
	__u32 src_qp;
	__u8  src_gid[VQP_GID_BYTES];
	__u32 new_qp_num;		/* out */
	__u32 reserved;
};

/* The values are those of enum ibv_wr_opcode. */
enum vqp_wr_opcode {
	VQP_WR_RDMA_WRITE		= 0,
	VQP_WR_RDMA_WRITE_WITH_IMM	= 1,
	VQP_WR_SEND			= 2,
	VQP_WR_SEND_WITH_IMM		= 3,
	VQP_WR_RDMA_READ		= 4,
	VQP_WR_ATOMIC_CMP_AND_SWP	= 5,
	VQP_WR_ATOMIC_FETCH_AND_ADD	= 6,
};

/* The values are those of enum ibv_send_flags. */
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
 * A send request. With VQP_SEND_INLINE it is followed by inline_bytes bytes of payload, padded with
 * zeros to a multiple of 8, and num_sge is 0; otherwise by num_sge entries of struct vqp_sge.
 *
 * An atomic operation is on the 8 bytes at remote_addr, which is a multiple of 8
 * (VQP_WC_REM_INV_REQ_ERR), in memory with VQP_ACCESS_REMOTE_ATOMIC. Its SGEs have 8 bytes in all,
 * and get the value from before the operation.
 */
struct vqp_send_wr {
	__aligned_u64 wr_id;
	__u32 opcode;			/* enum vqp_wr_opcode */
	__u32 send_flags;		/* VQP_SEND_* */
	__aligned_u64 remote_addr;	/* for one-sided requests */
	__u32 rkey;			/* for one-sided requests */
	__be32 imm_data;		/* for *_WITH_IMM */
	__aligned_u64 compare_add;	/* for atomics: the value to compare with, or to add */
	__aligned_u64 swap;		/* for CMP_AND_SWP */
	__u32 num_sge;
	__u32 inline_bytes;
	__aligned_u64 reserved;
};

/* A receive request, which is followed by num_sge entries of struct vqp_sge. */
struct vqp_recv_wr {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/*
 * Post a list of requests, which lie one behind the other from `wrs` on. Each begins with a struct
 * vqp_send_wr or vqp_recv_wr of wr_bytes bytes, and its SGEs have sge_bytes bytes each: the sizes
 * of the structs that user space was compiled with. The kernel treats these structs as it does
 * arguments: a size below that of the first version, or no multiple of 8, is EINVAL, and bytes at
 * the end that it does not know must be zero (E2BIG).
 *
 * `posted` is the number of requests that were posted, also when the call fails. The request with
 * that index is the one that failed, and those behind it were not looked at. EINVAL (opcode, flags,
 * layout, sizes); EACCES (lkey, range or access); ENOMEM if the queue is full; ENOTCONN
 * (POST_SEND); EMSGSIZE; EFAULT; ENOENT; EIO if the VQP has failed.
 */
struct vqp_post {
	__u32 qp_num;
	__u32 flags;			/* none is defined */
	__u32 wr_count;
	__u16 wr_bytes;			/* sizeof(struct vqp_send_wr), or vqp_recv_wr */
	__u16 sge_bytes;		/* sizeof(struct vqp_sge) */
	__aligned_u64 wrs;
	__u32 wrs_bytes;		/* the length of the whole list */
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
	__u32 port;			/* out: the bound port, or 0 */
	__u8  remote_gid[VQP_GID_BYTES];/* out: the target, if the VQP is connected */
	__u32 remote_port;		/* out: the target's port, if CONNECT gave it */
	__u32 remote_qp;		/* out: the target's number, if ACCEPT gave it */
	__u32 sends_pending;		/* out: the requests in the send queue */
	__u32 recvs_pending;		/* out: the requests in the receive queue */
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
 * Arenas: mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, context_fd, 0), where length is a
 * multiple of the page size and at most VQP_MAX_ARENA_BYTES, maps zeroed kernel memory, which
 * REG_MR need not pin. It is charged to the memory cgroup, and does not count for RLIMIT_MEMLOCK.
 * EINVAL; ENOMEM; EDQUOT beyond the namespace's limit on bytes.
 */

/* ---- CQs ------------------------------------------------------------- */

/* The values are those of enum ibv_wc_status. */
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

/* The values are those of enum ibv_wc_opcode. */
enum vqp_wc_opcode {
	VQP_WC_SEND		= 0,
	VQP_WC_RDMA_WRITE	= 1,
	VQP_WC_RDMA_READ	= 2,
	VQP_WC_COMP_SWAP	= 3,
	VQP_WC_FETCH_ADD	= 4,
	VQP_WC_RECV		= 128,
	VQP_WC_RECV_RDMA_WITH_IMM = 129,
};

#define VQP_WC_WITH_IMM		(1U << 1)	/* IBV_WC_WITH_IMM */

struct vqp_cqe {
	__aligned_u64 wr_id;
	__u32 status;			/* enum vqp_wc_status */
	__u32 opcode;			/* enum vqp_wc_opcode */
	__u32 byte_len;
	__u32 flags;			/* VQP_WC_WITH_IMM */
	__be32 imm_data;
	__u32 qp_num;
	__u32 src_qp;			/* for receives: the number of the sender's VQP */
	__u32 reserved0;
	__u8  src_gid[VQP_GID_BYTES];	/* for receives: the sender's address */
	__aligned_u64 reserved1;
};

/*
 * The ring of a CQ: this header, and `entries` CQEs from byte VQP_CQ_CQE_OFFSET on. The kernel
 * writes the CQE at tail % entries and then stores tail with release semantics. User space loads
 * tail with acquire semantics, reads the CQE at head % entries, and then stores head with release
 * semantics. Both count modulo 2^32, and the CQ is full when tail - head == entries. poll(2)
 * reports EPOLLIN while tail != head, and EPOLLERR once the CQ has overflowed.
 */
struct vqp_cq_ring {
	__u32 head;			/* written by user space */
	__u32 pad0[15];
	__u32 tail;			/* written by the kernel */
	__u32 overflow;			/* written by the kernel: not 0 if CQEs were lost */
	__u32 pad1[14];
	__u32 entries;			/* constant */
	__u32 pad2[15];
};

#define VQP_CQ_CQE_OFFSET	192

/* ---- Generic netlink family "vqp" ------------------------------------ */

/*
 * The GET commands need no capability, but must come from the initial network namespace. All others
 * need CAP_NET_ADMIN in the initial user namespace. A command refuses attributes that it does not
 * take, and reserved bytes and flags of netlink headers that are not 0 (EINVAL).
 */
#define VQP_GENL_NAME		"vqp"
#define VQP_GENL_VERSION	1

#define VQP_NAME_MAX		128	/* bytes of a namespace's name, with the NUL */
#define VQP_META_MAX		8	/* the most meta servers of a node */
#define VQP_LANES_MAX		8	/* the most lanes of a node */

enum vqp_cmd {
	VQP_CMD_UNSPEC,
	/*
	 * Make a VQP namespace, by NETNS_FD, TENANT (not 0) and GID; NAME, EXCLUSIVE and terms
	 * (MAX_*, PRIORITY, SOCKETS) are optional. If the namespace exists in that network
	 * namespace, its terms are set, or, with EXCLUSIVE, the command fails with EEXIST. EEXIST
	 * also if the network namespace has one of another tenant; EADDRINUSE if the tenant's
	 * address is in another network namespace of this node.
	 */
	VQP_CMD_NS_ADD,
	/*
	 * Delete all VQP namespaces of NETNS_FD, or the one of TENANT and GID: with NETNS_INO or
	 * NAME only if it has these, and is not another one that has come to the address. ENOENT.
	 * Nothing finds it any more when the command is answered. Without NO_WAIT it has also
	 * ended by then: no peer reaches the memory of its functions, which a peer that is silent
	 * delays by up to some seconds.
	 */
	VQP_CMD_NS_DEL,
	/*
	 * dump: TENANT, GID, NAME, NETNS_INO, VQPS, MRS, CONTEXTS, PINNED_BYTES, the terms, and of
	 * its stream sockets STREAMS, TRUNKS, STREAM_BYTES and COUNTER (repeated)
	 */
	VQP_CMD_NS_GET,
	/*
	 * dump: TENANT, GID, QP_NUM, QP_STATE, CARRIER, PORT, REMOTE_GID, REMOTE_PORT,
	 * SENDS_PENDING, RECVS_PENDING, TX_MSGS, RX_MSGS
	 */
	VQP_CMD_VQP_GET,
	VQP_CMD_PEER_GET,	/* dump: NODE_GID, EPOCH, QKEY, TX_PACKETS, RX_PACKETS */
	VQP_CMD_STATUS_GET,	/* do: the attributes of the node, from PARENT on, and HOOK */
	VQP_CMD_META_SET,	/* replace the list of meta servers: META, repeated */
	VQP_CMD_META_GET,	/* dump: META */
	VQP_CMD_CACHE_FLUSH,	/* forget cached DCT metadata: all, or that of TENANT and GID */
	VQP_CMD_CACHE_GET,	/* dump: TENANT, GID, NODE_GID */
	/*
	 * Set those terms (MAX_*, PRIORITY, SOCKETS) that are given, of all VQP namespaces of
	 * NETNS_FD, or of the one of TENANT and GID. The host's own has no terms. ENOENT. A limit
	 * below what is used keeps more from being made, and takes nothing away.
	 */
	VQP_CMD_NS_SET,
	/*
	 * dump of the stream sockets: TENANT, GID (the local address), NETNS_INO, SOCK_KIND,
	 * TCP_STATE, PORT, REMOTE_GID, REMOTE_PORT, TX_BYTES, RX_BYTES, RECV_QUEUE, SEND_QUEUE,
	 * WINDOW, RESENT (VQP_SOCK_FAR and VQP_SOCK_TCP), NODE_GID and FLOW (VQP_SOCK_FAR, while
	 * something leads to the peer). Those that listeners accepted by TCP are sockets of TCP,
	 * and not among them. As the commands that change something, it needs CAP_NET_ADMIN.
	 */
	VQP_CMD_SOCK_GET,
	__VQP_CMD_MAX,
};

#define VQP_CMD_MAX (__VQP_CMD_MAX - 1)

/* The value of a MAX_* attribute without a limit. */
#define VQP_UNLIMITED	0xffffffffffffffffULL

/* The least rate of a namespace, in bytes per second. */
#define VQP_RATE_MIN	65536

/* The priority of a namespace's packets among those that a node sends. */
enum vqp_priority {
	VQP_PRIORITY_LOW = 1,
	VQP_PRIORITY_NORMAL,	/* the default */
	VQP_PRIORITY_HIGH,
};

/* The most VQP_ATTR_SOCKETS_RULE of a namespace. */
#define VQP_SOCKETS_RULES_MAX	64

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
	/* u64: the pages of arenas, and those that regions pin, once for each region */
	VQP_ATTR_PINNED_BYTES,
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
	VQP_ATTR_NODE_GID,	/* binary, 16 bytes: the GID of a node's parent */
	VQP_ATTR_EPOCH,		/* u32: another after each load of that node's module */
	VQP_ATTR_QKEY,		/* u32 */
	VQP_ATTR_LANE_QPN,	/* u32, repeated, at most VQP_LANES_MAX */
	VQP_ATTR_TX_PACKETS,	/* u64 */
	VQP_ATTR_RX_PACKETS,	/* u64 */
	/*
	 * STATUS_GET has PARENT, NODE_GID, EPOCH, QKEY, LANE_QPN (repeated), MTU and POOL_BYTES if
	 * there is a parent, and COUNTER (repeated).
	 */
	VQP_ATTR_PARENT,	/* string: the name of the RDMA device */
	VQP_ATTR_MTU,		/* u32: bytes of a UD payload */
	VQP_ATTR_POOL_BYTES,	/* u64: the memory of the fixed pool */
	/* nested, repeated: COUNTER_NAME, and COUNTER_MADE and COUNTER_FREED, or COUNTER_VALUE */
	VQP_ATTR_COUNTER,
	VQP_ATTR_COUNTER_NAME,	/* string */
	VQP_ATTR_COUNTER_MADE,	/* u64 */
	VQP_ATTR_COUNTER_FREED,	/* u64 */
	VQP_ATTR_COUNTER_VALUE,	/* u64 */
	/*
	 * A meta server: the node that it runs on (NODE_GID, EPOCH, QKEY, and LANE_QPN, repeated)
	 * and its table in that node's own namespace (META_KEY, META_ADDR, META_BUCKETS).
	 */
	VQP_ATTR_META,		/* nested, repeated */
	VQP_ATTR_META_KEY,	/* u32: the rkey of the table */
	VQP_ATTR_META_ADDR,	/* u64: the remote address of the table */
	VQP_ATTR_META_BUCKETS,	/* u32: a power of two */
	/*
	 * The limits of a namespace, beyond which its functions get EDQUOT. Each is a u64 of at
	 * most 2^63 - 1, where 0 allows none, or VQP_UNLIMITED, which is the default.
	 */
	VQP_ATTR_MAX_VQPS,	/* the most VQPS */
	VQP_ATTR_MAX_MRS,	/* the most MRS */
	VQP_ATTR_MAX_BYTES,	/* the most PINNED_BYTES */
	/* u64: the rate at which the namespace sends, in bytes per second, at least VQP_RATE_MIN */
	VQP_ATTR_MAX_RATE,
	VQP_ATTR_PRIORITY,	/* u8, enum vqp_priority */
	VQP_ATTR_EXCLUSIVE,	/* flag: NS_ADD fails if the namespace exists. */
	VQP_ATTR_NO_WAIT,	/* flag: NS_DEL does not wait until the namespace has ended. */
	/*
	 * u8: 1: stream sockets of IPPROTO_VQP may go by vqp; 0, the default: they are TCP. With 1
	 * come rules, or none, which replace those that there were.
	 */
	VQP_ATTR_SOCKETS,
	/*
	 * nested, repeated, at most VQP_SOCKETS_RULES_MAX: ports at which one end of a connection
	 * listens (PORT and PORT_LAST, from 1 to 65535), or a prefix of the peer's address (GID and
	 * PREFIX_BITS). With EXCEPT it says what is out. Without, it says what is in: ports that no
	 * such rule has are out if there is one of ports, and likewise peers.
	 */
	VQP_ATTR_SOCKETS_RULE,
	VQP_ATTR_PORT_LAST,	/* u32: the last of the ports that begin with PORT */
	VQP_ATTR_PREFIX_BITS,	/* u8: the bits of GID that count, from the first on; at most 128 */
	VQP_ATTR_EXCEPT,	/* flag */
	VQP_ATTR_HOOK,		/* u32, enum vqp_hook; STATUS_GET */
	VQP_ATTR_SOCK_KIND,	/* u32, enum vqp_sock_kind */
	VQP_ATTR_TCP_STATE,	/* u32: the state that TCP has, or would have; <netinet/tcp.h> */
	VQP_ATTR_TX_BYTES,	/* u64 */
	VQP_ATTR_RX_BYTES,	/* u64 */
	VQP_ATTR_RECV_QUEUE,	/* u32: unread bytes; of a listener, what is to be accepted */
	VQP_ATTR_SEND_QUEUE,	/* u32: bytes that the peer has not; of a listener, the backlog */
	VQP_ATTR_WINDOW,	/* u32: the most unread bytes */
	/* u64: packets sent again: of VQP_SOCK_FAR by FLOW, else by the connection */
	VQP_ATTR_RESENT,
	/* u32: what takes the bytes of a far connection, and of all between the two addresses */
	VQP_ATTR_FLOW,
	VQP_ATTR_STREAMS,	/* u32: connections of stream sockets by vqp */
	VQP_ATTR_TRUNKS,	/* u32: addresses on other nodes that these lead to, or led to */
	VQP_ATTR_STREAM_BYTES,	/* u64: what these hold of the memory that all share */
	__VQP_ATTR_MAX,
};

#define VQP_ATTR_MAX (__VQP_ATTR_MAX - 1)

#endif /* _UAPI_LINUX_VQP_H */
