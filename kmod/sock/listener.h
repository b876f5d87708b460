/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of listeners, by network namespace and port. A listener is a listening TCP socket, the
 * inner one, and an entry here, so that its port is as taken as any of TCP. An entry counts only
 * while the inner socket listens at its port.
 */
#ifndef VQP_SOCK_LISTENER_H
#define VQP_SOCK_LISTENER_H

#include <linux/init.h>
#include <linux/types.h>

struct sock;
struct vqp_ns;
struct vqp_sock;
struct vqp_stream;

/* Before there is a socket. */
void __init vqp_listener_table_init(void);

/* For a new socket. */
void vqp_listener_init(struct vqp_sock *vs);

/*
 * The inner socket listens: so does this one, unless its network namespace has VQP_LISTENERS_MAX of
 * them, and all connections come by TCP. Again is no error. Under lock_sock().
 */
void vqp_listener_add(struct vqp_sock *vs, int backlog);

/* It listens no more, and what nobody has accepted is reset. Under lock_sock(), or alone. */
void vqp_listener_remove(struct vqp_sock *vs);

/*
 * Give the server's end of a connection to the listener of its names in ns: whoever waits there is
 * woken. 0; -ECONNREFUSED: nobody listens; -EAGAIN: its backlog is full, unless the connection was
 * `promised` when it was not. Process context.
 */
int vqp_listener_offer(const struct vqp_ns *ns, struct vqp_stream *server, bool promised);

/* Is there one that has these names? What offer says later counts. Process context. */
bool vqp_listener_exists(const struct vqp_ns *ns, const u8 *gid, u16 port);
/* And has its backlog room for one more than was promised? */
bool vqp_listener_has_room(const struct vqp_ns *ns, const u8 *gid, u16 port, u32 promised);

/* The oldest connection that nobody has accepted, or NULL. */
struct vqp_stream *vqp_listener_take(struct vqp_sock *vs);
/* It was not accepted: it is the oldest again, or is reset where nobody listens any more. */
void vqp_listener_return(struct vqp_sock *vs, struct vqp_stream *s);

/* Is there one? A guess. */
bool vqp_listener_has(const struct vqp_sock *vs);

#endif
