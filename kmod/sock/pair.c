// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <net/sock.h>
#include "base/counters.h"
#include "ns/namespace.h"
#include "sock/budget.h"
#include "sock/pair.h"
#include "sock/stream.h"

/* Both ends of a connection. */
struct vqp_pair {
	struct kref ref;		/* one of each end */
	struct vqp_stream end[2];	/* the client's and the server's */
};

/* ---- struct vqp_stream_ops ---- */

static bool pair_is_writable(struct vqp_stream *s)
{
	const struct vqp_stream *to = s->peer;
	const u32 window = READ_ONCE(to->window), unread = READ_ONCE(to->unread);

	if (READ_ONCE(to->closed))
		return true;
	return !READ_ONCE(to->starved) && unread < window && window - unread >= window / 3;
}

/* The bytes beyond half a window: TCP would have them still, the receiver's half being full. */
static u32 pair_unread(const struct vqp_stream *s)
{
	return READ_ONCE(s->peer->unread);
}

static u32 pair_excess(struct vqp_stream *s)
{
	const struct vqp_stream *to = s->peer;
	const u32 unread = READ_ONCE(to->unread), half = READ_ONCE(to->window) / 2;

	return unread > half && !READ_ONCE(to->closed) ? unread - half : 0;
}

/*
 * The peer has closed its socket, which TCP learns by the answer to the first bytes that are sent:
 * these are lost, and what is sent next fails. They are no more than the peer could have had room
 * for, so that who sends much at once is told that not all has gone.
 */
static int pair_send_nobody(struct vqp_stream *s, struct msghdr *msg)
{
	const u32 bytes = min_t(size_t, msg_data_left(msg), VQP_STREAM_WINDOW);

	iov_iter_advance(&msg->msg_iter, bytes);
	vqp_stream_break(s, EPIPE);
	return bytes;
}

static int pair_send(struct vqp_stream *s, struct msghdr *msg)
{
	u32 n = min_t(size_t, msg_data_left(msg), INT_MAX), copied;
	void *room = vqp_stream_room(s->peer, &n);

	if (room == ERR_PTR(-EPIPE))
		return pair_send_nobody(s, msg);
	if (IS_ERR(room))
		return PTR_ERR(room);
	copied = copy_from_iter(room, n, &msg->msg_iter);
	vqp_stream_fill(s->peer, copied);
	return copied ?: -EFAULT;
}

static void pair_push(struct vqp_stream *s)
{
	vqp_stream_tell(s->peer);
}

static void pair_finish(struct vqp_stream *s)
{
	vqp_stream_end(s->peer);
}

static void pair_consumed(struct vqp_stream *s, bool freed)
{
	if (freed || !READ_ONCE(s->unread))
		WRITE_ONCE(s->starved, false);
	if (pair_is_writable(s->peer))
		vqp_stream_wake_writer(s->peer);
}

static void pair_set_window(struct vqp_stream *s, u32 bytes)
{
	spin_lock_bh(&s->lock);
	WRITE_ONCE(s->window, max_t(u32, bytes, PAGE_SIZE));
	spin_unlock_bh(&s->lock);
	vqp_stream_wake_writer(s->peer);
}

static void pair_close(struct vqp_stream *s, bool reset)
{
	vqp_limit_uncharge(&s->ns->limits[VQP_LIMIT_STREAMS], 1);
	if (reset)
		vqp_stream_break(s->peer, ECONNRESET);
	else
		vqp_stream_end(s->peer);
	vqp_stream_hand_over(s->peer);
	/* A sender that waits for room learns that there is nobody to read. */
	vqp_stream_wake_writer(s->peer);
}

/* Both ends were closed. */
static void pair_release(struct kref *ref)
{
	struct vqp_pair *pair = container_of(ref, struct vqp_pair, ref);

	vqp_ns_put(pair->end[0].ns);
	vqp_ns_put(pair->end[1].ns);
	kfree(pair);
	vqp_count_freed(VQP_OBJ_STREAM);
}

static const struct vqp_stream_ops pair_ops = {
	.kind = VQP_SOCK_NEAR,
	.event = VQP_EV_SOCK_NEAR,
	.tallied = VQP_TALLY_NEAR,
	.send = pair_send,
	.push = pair_push,
	.finish = pair_finish,
	.is_writable = pair_is_writable,
	.unread = pair_unread,
	.excess = pair_excess,
	.consumed = pair_consumed,
	.set_window = pair_set_window,
	.close = pair_close,
	.release = pair_release,
};

/* ---- Making one ---- */

/* The pair's two ends are charged to their namespaces until each is closed. */
static struct vqp_pair *pair_alloc(struct vqp_ns *client_ns, struct vqp_ns *server_ns)
{
	struct vqp_limit *client = &client_ns->limits[VQP_LIMIT_STREAMS];
	struct vqp_limit *server = &server_ns->limits[VQP_LIMIT_STREAMS];
	struct vqp_pair *pair;
	int ret;

	ret = vqp_limit_charge(client, 1);
	if (ret)
		return ERR_PTR(ret);
	ret = vqp_limit_charge(server, 1);
	if (ret)
		goto err_client;
	ret = -ENOMEM;
	pair = kzalloc(sizeof(*pair), GFP_KERNEL_ACCOUNT);
	if (!pair)
		goto err_server;
	kref_init(&pair->ref);
	vqp_stream_init(&pair->end[0], &pair_ops, &pair->ref, &pair->end[1], client_ns);
	vqp_stream_init(&pair->end[1], &pair_ops, &pair->ref, &pair->end[0], server_ns);
	vqp_count_made(VQP_OBJ_STREAM);
	return pair;

err_server:
	vqp_limit_uncharge(server, 1);
err_client:
	vqp_limit_uncharge(client, 1);
	return ERR_PTR(ret);
}

struct vqp_stream *vqp_pair_make(struct vqp_ns *client_ns, struct vqp_ns *server_ns)
{
	struct vqp_stream *client;
	struct vqp_pair *pair;
	int ret;

	/* With a page at a time it would be slow: TCP has memory of its own. */
	if (!vqp_budget_has(client_ns) || !vqp_budget_has(server_ns))
		return ERR_PTR(-ENOBUFS);
	pair = pair_alloc(client_ns, server_ns);
	if (IS_ERR(pair))
		return ERR_CAST(pair);
	client = &pair->end[0];
	kref_get(&pair->ref);	/* one of each end */
	ret = vqp_stream_list(client) ?: vqp_stream_list(client->peer);
	if (ret) {
		vqp_pair_abandon(client);
		return ERR_PTR(ret);
	}
	return client;
}

void vqp_pair_abandon(struct vqp_stream *client)
{
	struct vqp_stream *server = client->peer;

	vqp_stream_close(server, true);
	vqp_stream_close(client, true);
	vqp_stream_put(server);
	vqp_stream_put(client);
}
