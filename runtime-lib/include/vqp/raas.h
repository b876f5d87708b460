/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The six calls of the RDMAvisor paper ("RDMA as a Service", figure 3), on top of vqp's stream
 * sockets. Who knows nothing of RDMA gives 0 for the flags: the way of each byte is chosen for it.
 *
 * The descriptors are those of sockets: read(2), poll(2), shutdown(2) and close(2) do with them what
 * they do with those of TCP, and another end may be any program with such a socket or, as long as the
 * flags do not keep it out, with one of TCP. vqp-sockets(7) says when a connection is by vqp.
 *
 * All functions return a negative errno value when they fail: those of the system call of that name,
 * and those that are named below. None raises SIGPIPE. Each may be called from any thread. A call
 * that a signal has interrupted returns -EINTR; it has done nothing then, but that a connection which
 * was being made is given up.
 */
#ifndef VQP_RAAS_H
#define VQP_RAAS_H

#include <vqp/vqp.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * FLAGS (section 2.2). They say what must be, and the call fails where it cannot be so; they may be
 * combined, as in VQP_RAAS_RC | VQP_RAAS_SEND. Unknown ones are refused with -EINVAL.
 */

/*
 * The connection is reliable and by vqp, within the node or to another one. In all calls. Without it
 * a connection is of TCP where it cannot be by vqp. UC and UD, which the paper names as well, are not
 * those of a stream; vqp/vqp.h has messages.
 */
#define VQP_RAAS_RC	0x01

/*
 * What carries the bytes, in vqp_raas_send() alone, at most one of them. A connection by vqp to
 * another node carries all by SENDs today; one within the node carries them through memory, without
 * any of these, and one of TCP by none. What the connection does not have fails with -EOPNOTSUPP.
 */
#define VQP_RAAS_SEND	0x02
#define VQP_RAAS_WRITE	0x04
#define VQP_RAAS_READ	0x08

/*
 * An address and a port. GIDs stand for addresses of all kinds (section 2.2): vqp_parse_gid() makes
 * one of a literal IPv4 or IPv6 address. Nodes are not reached by LIDs.
 */
struct vqp_raas_target {
	union ibv_gid gid;		/* To listen, all zero: any address of this container. */
	uint16_t port;			/* in host byte order; to listen, 0: a free one, which
					 * getsockname(2) tells */
};

/*
 * Connect to a target. Returns the descriptor of the connection, which is the caller's to close(2),
 * closes itself at exec, and blocks. flags: 0 or VQP_RAAS_RC. -EPROTONOSUPPORT: with VQP_RAAS_RC: no
 * VQP namespace of this container has sockets on; -EOPNOTSUPP: with VQP_RAAS_RC: it would be one of
 * TCP, which the peer has seen come and go by then.
 */
int vqp_raas_connect(const struct vqp_raas_target *target, int flags);

/*
 * Listen at this container's address and port, with SO_REUSEADDR and the longest backlog that the
 * system allows. Returns the descriptor, as above. flags: 0 or VQP_RAAS_RC; with the latter it fails
 * with -EPROTONOSUPPORT where nobody could connect by vqp; it is vqp_raas_accept() that keeps out
 * who comes by TCP.
 */
int vqp_raas_listen(const struct vqp_raas_target *target, int flags);

/*
 * Wait for the next connection of a listener. Returns its descriptor, as above. flags: 0 or
 * VQP_RAAS_RC: connections of TCP are closed, and the next one is waited for.
 */
int vqp_raas_accept(int fd, int flags);

/*
 * Send `len` bytes of `buf`, which is the caller's again when the function returns: their number,
 * which is less than `len` only if something came in between: a signal, an end, or that the
 * descriptor does not block. flags: any of the above. -EINVAL: len is negative; -EOPNOTSUPP: the
 * connection has not what they demand, and nothing was sent; -EPIPE: the peer receives no more.
 */
int vqp_raas_send(int fd, const void *buf, int len, int flags);

/*
 * Wait for bytes, and have at most `len` of them in `buf`. Returns their number, or 0 when the peer
 * has ended its direction. flags: 0 or VQP_RAAS_RC. -EINVAL: len is negative; -EOPNOTSUPP: it is not
 * by vqp.
 */
int vqp_raas_recv(int fd, void *buf, int len, int flags);

/*
 * The same into memory that the caller has registered before, with any context of this process, by
 * vqp_reg_mr() with IBV_ACCESS_LOCAL_WRITE: one region has all of [*buf_addr, *buf_addr + len). It
 * stays the caller's, and so does its registration. *buf_addr stays what it is: where the bytes are.
 * -EFAULT: it is not registered so.
 *
 * What is spared by it (section 2.2): that the bytes wait in memory of the node's until they are
 * picked up. That is not so yet. Whatever the kind of the connection, the bytes come into pages of
 * the kernel's, and are copied from there as vqp_raas_recv() does: once within the node, besides the
 * copy that the sender makes into these pages; from another node once, besides what the kernels copy.
 * So it costs no more copies than vqp_raas_recv() today, and none fewer. A program that uses it keeps
 * to the contract by which a later version can have the bytes written to where they are wanted.
 */
int vqp_raas_recv_zero_copy(int fd, void **buf_addr, int len, int flags);

#ifdef __cplusplus
}
#endif

#endif /* VQP_RAAS_H */
