// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages of a bound VQP, each with a VQP that is connected to its sender (a reply). A bound VQP
 * keeps its replies by sender, so that only a sender's first message needs a system call (ACCEPT).
 */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define VQP_MSGS_BUCKETS	16	/* the initial number, a power of two */

static uint32_t msgs_hash(const uint8_t *gid, uint32_t src_qp)
{
	uint64_t word[2], mix;

	memcpy(word, gid, sizeof(word));
	mix = (word[0] ^ word[1] ^ src_qp) * 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(mix >> 32);
}

static struct vqp_qp **msgs_bucket(struct vqp_qp *bound, const uint8_t *gid, uint32_t src_qp)
{
	return &bound->replies[msgs_hash(gid, src_qp) & (bound->nbuckets - 1)];
}

static void msgs_insert(struct vqp_qp *bound, struct vqp_qp *reply)
{
	struct vqp_qp **bucket = msgs_bucket(bound, reply->src_gid, reply->src_qp);

	reply->next_reply = *bucket;
	*bucket = reply;
}

/* Grows the table for one more reply, so that there is about one in each bucket. */
static int msgs_grow(struct vqp_qp *bound)
{
	uint32_t old_nbuckets = bound->nbuckets, i;
	struct vqp_qp **old = bound->replies, *reply, *next;

	if (bound->nreplies < old_nbuckets)
		return 0;
	bound->replies = calloc(old_nbuckets ? old_nbuckets * 2 : VQP_MSGS_BUCKETS, sizeof(*old));
	if (!bound->replies) {
		bound->replies = old;
		return -ENOMEM;
	}
	bound->nbuckets = old_nbuckets ? old_nbuckets * 2 : VQP_MSGS_BUCKETS;
	for (i = 0; i < old_nbuckets; i++) {
		for (reply = old[i]; reply; reply = next) {
			next = reply->next_reply;
			msgs_insert(bound, reply);
		}
	}
	free(old);
	return 0;
}

static struct vqp_qp *msgs_find(struct vqp_qp *bound, const struct vqp_cqe *cqe)
{
	struct vqp_qp *reply;

	if (!bound->nbuckets)
		return NULL;
	reply = *msgs_bucket(bound, cqe->src_gid, cqe->src_qp);
	while (reply && (reply->src_qp != cqe->src_qp || memcmp(reply->src_gid, cqe->src_gid, VQP_GID_BYTES)))
		reply = reply->next_reply;
	return reply;
}

static int msgs_accept(struct vqp_qp *bound, const struct vqp_cqe *cqe, struct vqp_qp **replyp)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = bound->verbs.qp_context,
		.send_cq = bound->verbs.send_cq,
		.recv_cq = bound->verbs.recv_cq,
		.qp_type = bound->verbs.qp_type,
		.cap.max_inline_data = bound->max_inline,
	};
	struct vqp_accept accept = { .qp_num = bound->verbs.qp_num, .src_qp = cqe->src_qp };
	struct vqp_qp *reply;
	int err;

	err = msgs_grow(bound);
	if (err)
		return err;
	reply = vqp_qp_new(bound->verbs.pd, &attr);
	if (!reply)
		return -ENOMEM;
	memcpy(accept.src_gid, cqe->src_gid, VQP_GID_BYTES);
	err = vqp_ioctl(bound->verbs.context, VQP_IOC_ACCEPT, &accept);
	if (err) {
		vqp_qp_free(reply);
		return err;
	}
	reply->verbs.state = IBV_QPS_RTS;
	reply->bound = bound;
	reply->src_qp = cqe->src_qp;
	memcpy(reply->src_gid, cqe->src_gid, VQP_GID_BYTES);
	vqp_qp_link(reply, accept.new_qp_num);
	msgs_insert(bound, reply);
	bound->nreplies++;
	*replyp = reply;
	return 0;
}

/* Finds or makes the reply for `cqe`, or NULL if the receive has failed or its sender is gone. */
static int msgs_reply(struct vqp_qp *bound, const struct vqp_cqe *cqe, struct ibv_qp **replyp)
{
	struct vqp_qp *reply;
	int err = 0;

	*replyp = NULL;
	if (cqe->status != VQP_WC_SUCCESS)
		return 0;
	pthread_mutex_lock(&bound->verbs.mutex);
	reply = msgs_find(bound, cqe);
	if (!reply)
		err = msgs_accept(bound, cqe, &reply);
	pthread_mutex_unlock(&bound->verbs.mutex);
	if (err)
		return err == -ENOENT || err == -EHOSTUNREACH ? 0 : err;
	*replyp = &reply->verbs;
	return 0;
}

int vqp_pop_msgs(struct ibv_qp *ibqp, int count, struct ibv_qp **src_qp, struct ibv_wc *wc)
{
	struct vqp_qp *qp = vqp_container(ibqp, struct vqp_qp, verbs);
	struct vqp_cq *cq = vqp_container(ibqp->recv_cq, struct vqp_cq, verbs);
	const struct vqp_cqe *cqe;
	int i, err;

	for (i = 0; i < count; i++) {
		cqe = vqp_cq_peek(cq);
		if (!cqe || cqe->qp_num != ibqp->qp_num || !(cqe->opcode & VQP_WC_RECV))
			break;
		err = msgs_reply(qp, cqe, &src_qp[i]);
		if (err)
			return i ? i : err;
		vqp_cq_translate(cqe, &wc[i]);
		vqp_cq_pop(cq);
	}
	return i;
}

void vqp_msgs_forget(struct vqp_qp *reply)
{
	struct vqp_qp *bound = reply->bound, **at;

	pthread_mutex_lock(&bound->verbs.mutex);
	for (at = msgs_bucket(bound, reply->src_gid, reply->src_qp); *at != reply; at = &(*at)->next_reply)
		;
	*at = reply->next_reply;
	bound->nreplies--;
	pthread_mutex_unlock(&bound->verbs.mutex);
}

int vqp_msgs_destroy_replies(struct vqp_qp *bound)
{
	uint32_t i;
	int err;

	for (i = 0; i < bound->nbuckets; i++) {
		while (bound->replies[i]) {
			err = vqp_destroy_qp(&bound->replies[i]->verbs);
			if (err)
				return err;
		}
	}
	return 0;
}
