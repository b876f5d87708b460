/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Carriers: how the requests of a VQP reach their target. A connected VQP is attached to one that
 * can carry out any request: dc, or loop where the target is on this node. Beside dc there are
 * accelerators, which carry out only the requests that they want: rc and the zero-copy send of
 * large messages. This is all that ties carriers to the queue.
 *
 * Requests are handed out in order, and a carrier is given one only when no other carrier has an
 * earlier one. So a VQP changes carriers between two requests, and none is lost, done twice or
 * overtaken.
 */
#ifndef VQP_QUEUE_CARRIER_H
#define VQP_QUEUE_CARRIER_H

#include <linux/init.h>
#include <linux/types.h>

struct vqp;
struct vqp_send;

/*
 * A carrier that can carry out any request has taken at most so many that are not completed. It is
 * more than the wire has under way. Of requests that fail, at most so many are completed at a time.
 * This bounds the time for which a call, or a softirq, has a VQP's lock.
 */
#define VQP_CARRIER_DEPTH	256

/* A carrier may lack what it has no use for, unless the comment says otherwise. */
struct vqp_carrier_ops {
	/* The enum vqp_carrier that users are told while it has the latest request, or 0. */
	u32 id;
	/* Nothing more is handed out until this carrier has given back all that it holds. */
	bool alone;

	/* Process context; these two begin and end the carrier's part of a VQP. */
	void (*init)(struct vqp *vqp);
	void (*release)(struct vqp *vqp);

	/* ---- These are called under vqp.lock. ---- */

	/*
	 * Accelerators have this: should it take `send`, the oldest of vqp.unsent? If it cannot
	 * now, it may see to it that it can take a later one.
	 */
	bool (*wants)(struct vqp *vqp, struct vqp_send *send);
	/*
	 * Take `send` off vqp.unsent; every carrier has this. 0; or -EAGAIN: not now, the carrier
	 * calls vqp_send_resume() when it can. Another error of an accelerator: not this one.
	 */
	int (*take)(struct vqp *vqp, struct vqp_send *send);
	/* An accelerator has taken what it wanted for now. */
	void (*flush)(struct vqp *vqp);
	/* A thread is about to hand out requests of vqp, on this processor. */
	void (*prepare)(struct vqp *vqp);
	/* Carry out what was taken; it may complete at once. Without this, kick() begins it. */
	void (*run)(struct vqp *vqp);

	/* ---- Carriers that VQPs are attached to have these, also under vqp.lock. ---- */

	/* It has no request. */
	bool (*idle)(const struct vqp *vqp);
	/*
	 * It has VQP_CARRIER_DEPTH requests, and is given none, nor is an accelerator asked. After
	 * it has completed some it calls vqp_send_resume().
	 */
	bool (*full)(const struct vqp *vqp);
	/* The target is not where it was, and nothing is done about that yet. */
	bool (*lost)(const struct vqp *vqp);
	/* Complete all that it has: the oldest with `status`, the others with WR_FLUSH_ERR. */
	void (*abort)(struct vqp *vqp, u32 status);
	/* Another carrier takes over: give all requests back to the head of vqp.unsent. */
	void (*leave)(struct vqp *vqp);
	/* Nothing more is carried out, and the target may let go of its state. */
	void (*close)(struct vqp *vqp);

	/* ---- These are called without a lock. ---- */

	/* Carry out what was taken in this thread. Process context. */
	void (*perform)(struct vqp *vqp);
	/*
	 * There is room, or reason, to go on. Any context; under vqp.lock if the carrier has no
	 * run().
	 */
	void (*kick)(struct vqp *vqp);
	/*
	 * vqp is being destroyed, and takes no requests. detach() waits until nothing of the
	 * carrier uses vqp but its work item; forget() is called when that has ended, too.
	 */
	void (*detach)(struct vqp *vqp);
	void (*forget)(struct vqp *vqp);
	/* vqp has failed: put back its receives that messages in progress hold. */
	void (*break_recvs)(struct vqp *vqp);
};

/* Register a carrier for good, before there are VQPs; accelerators want in this order. */
void __init vqp_carrier_register(const struct vqp_carrier_ops *ops);

/* Call one of these of each carrier that has it. */
void vqp_carriers_init(struct vqp *vqp);
void vqp_carriers_release(struct vqp *vqp);
void vqp_carriers_detach(struct vqp *vqp);
void vqp_carriers_forget(struct vqp *vqp);
void vqp_carriers_break_recvs(struct vqp *vqp);

/* The accelerator that wants `send`, or NULL. Under vqp.lock. */
const struct vqp_carrier_ops *vqp_carrier_wanting(struct vqp *vqp, struct vqp_send *send);

/*
 * Attach vqp to `ops`: what another carrier has goes back to vqp.unsent, and the caller calls
 * vqp_send_resume() when `ops` is ready. Under vqp.lock.
 */
void vqp_carrier_attach(struct vqp *vqp, const struct vqp_carrier_ops *ops);

/* vqp has failed. Under vqp.lock. */
void vqp_carrier_close(struct vqp *vqp);

/*
 * A part of a request is under way with `ops`, or no more. While there is one nothing of vqp is
 * aborted, and no other carrier is given anything. Under vqp.lock.
 */
void vqp_carrier_hold(struct vqp *vqp, const struct vqp_carrier_ops *ops);
void vqp_carrier_unhold(struct vqp *vqp);

/* No carrier but `ops` has a request. Under vqp.lock. */
bool vqp_carrier_is_alone(const struct vqp *vqp, const struct vqp_carrier_ops *ops);

#endif
