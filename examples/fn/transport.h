/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One end of a transfer over RDMA: from nothing to a registered, connected
 * queue pair, and back to nothing. Three builds implement it: transport_vqp.c,
 * and transport_verbs.c linked in two ways. The data path (transport.c) is one
 * for all, because it is that of the verbs.
 *
 * Functions return 0, or -1 with t->error saying what failed and why. Whatever
 * failed, transport_close() puts everything away.
 */
#ifndef FN_TRANSPORT_H
#define FN_TRANSPORT_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_TARGET_MAX	128

/*
 * Between a sender's looks at its completion queue, and a receiver's. Who spins
 * instead keeps the only processor of a small node from the kernel's half of
 * the transfer, and so does the receiver whom nobody waits for.
 */
#define TRANSPORT_NAP_US		50
#define TRANSPORT_RECEIVER_NAP_US	5000

struct transport {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;	/* of data; NULL if the message goes inline */
	void *data;		/* the message's bytes */
	size_t bytes;
	void *owned;		/* memory that goes with the transport; NULL: the caller's */
	size_t owned_bytes;
	int handshake_fd;	/* verbs: the UDP socket of the handshake; -1: none */
	char error[192];
};

/*
 * A sender's device, completion queue and registered payload. The payload is
 * the caller's, and stays as it is until transport_close().
 */
int transport_open(struct transport *t, void *payload, size_t bytes);

/*
 * A receiver for one message of at most `bytes` bytes: device, completion
 * queue, registered buffer, queue pair, posted receive. `target` is what a
 * sender must know to connect.
 */
int transport_listen(struct transport *t, size_t bytes, char target[TRANSPORT_TARGET_MAX]);

/* The sender's queue pair, ready to send. */
int transport_connect(struct transport *t, const char *target);

/* Send the payload; returns when the other side has acknowledged all of it. */
int transport_send(struct transport *t, int timeout_ms);

/* Wait for the message: its bytes are then the first t->bytes bytes of t->data. */
int transport_receive(struct transport *t, int timeout_ms);

/* Give up the queue pair, so that transport_connect() may make another. */
void transport_disconnect(struct transport *t);

void transport_close(struct transport *t);

/* This node's monotonic clock. */
uint64_t transport_now_ns(void);

/* ---- For the implementations ---- */

/* Record `what` and errno's text. Returns -1. */
int transport_fail(struct transport *t, const char *what);

int transport_post_receive(struct transport *t);

/* 1 and *wc: a completion; 0: none yet; -1: it is a failure, or polling failed. */
int transport_poll(struct transport *t, struct ibv_wc *wc);

/* Poll, napping for nap_us in between, until *wc is a completion. */
int transport_await(struct transport *t, struct ibv_wc *wc, long nap_us, int timeout_ms);

#endif /* FN_TRANSPORT_H */
