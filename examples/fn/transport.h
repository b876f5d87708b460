/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end of a transfer over RDMA: from nothing to a registered, connected queue pair, and back to
 * nothing. Three builds implement it: transport_vqp.c, and transport_verbs.c linked in two ways.
 * They share the data path (transport.c), because it is that of the verbs.
 *
 * Functions return 0, or -1 with the reason in t->error. transport_close() releases everything,
 * whatever has failed.
 */
#ifndef FN_TRANSPORT_H
#define FN_TRANSPORT_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_TARGET_MAX	128

/*
 * The pauses between polls of the completion queue, by a sender and by a receiver. A process that
 * spins instead would keep the only processor of a small node from the kernel's part of the
 * transfer. The receiver, whose latency does not count, pauses longer.
 */
#define TRANSPORT_NAP_US		50
#define TRANSPORT_RECEIVER_NAP_US	5000

struct transport {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;	/* the region of data; NULL if the message goes inline */
	void *data;		/* the message's bytes */
	size_t bytes;
	void *owned;		/* memory of the transport; NULL if it is the caller's */
	size_t owned_bytes;
	int handshake_fd;	/* for verbs: the UDP socket of the handshake, or -1 */
	char error[192];
};

/*
 * Opens a sender's device and completion queue, and registers its payload. The payload belongs to
 * the caller, and does not change until transport_close().
 */
int transport_open(struct transport *t, void *payload, size_t bytes);

/*
 * Opens a receiver for one message of at most `bytes` bytes: device, completion queue, registered
 * buffer, queue pair and posted receive. `target` is what a sender must know to connect.
 */
int transport_listen(struct transport *t, size_t bytes, char target[TRANSPORT_TARGET_MAX]);

/* Connects the sender's queue pair, which can send afterwards. */
int transport_connect(struct transport *t, const char *target);

/* Sends the payload. Returns when the receiver has acknowledged all of it. */
int transport_send(struct transport *t, int timeout_ms);

/* Waits for the message, which is the first t->bytes bytes of t->data then. */
int transport_receive(struct transport *t, int timeout_ms);

/* Destroys the queue pair, so that transport_connect() may make another. */
void transport_disconnect(struct transport *t);

void transport_close(struct transport *t);

/* Returns the time of this node's monotonic clock. */
uint64_t transport_now_ns(void);

/* ---- For the implementations ---- */

/* Sets t->error to `what` and the text of errno. Returns -1. */
int transport_fail(struct transport *t, const char *what);

int transport_post_receive(struct transport *t);

/* Returns 1 and *wc for a completion; 0 if there is none yet; -1 if it or polling has failed. */
int transport_poll(struct transport *t, struct ibv_wc *wc);

/* Polls, with pauses of nap_us, until there is a completion, *wc. */
int transport_await(struct transport *t, struct ibv_wc *wc, long nap_us, int timeout_ms);

#endif /* FN_TRANSPORT_H */
