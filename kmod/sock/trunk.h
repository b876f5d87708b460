/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trunk is what leads from a namespace to an address on another node: a VQP of the kernel's,
 * which all connections between the two share, and which takes frames to the hub (hub.h) there. The
 * other direction has a trunk of its own.
 *
 * It is made when a connection first wants it, and a work of its own opens it: the address may have
 * to be looked up, and the node to be resolved. One that failed is not tried again for a second. A
 * namespace has TRUNKS_MAX at most; one without connections makes room.
 *
 * A VQP delivers each frame once and in order, or fails. Then the frames that may not have arrived
 * are kept in order (trunk_again.c), new ones wait, and the trunk is opened anew while there is
 * anything to be sent, with the kept frames first. Some of them arrive twice, which does no harm.
 * How long that goes on is the connections' business. If the node where they are says that it does
 * not know the address, or began anew, all are broken.
 *
 * The first frame of a trunk is BYE, by which the peer learns that connections are broken which an
 * earlier trunk had.
 *
 * Frames with bytes of a stream, or that tell of a parcel (parcel.h), are posted by the program
 * that sends them, and the first of an end by the thread that makes it. All others are by the
 * trunk's work, which asks the connections that are due for them. A trunk also READs the parcels of
 * its peer (fetch.h).
 *
 * Locks, outermost first: vqp.lock, under which frames and READs complete; vqp_stream.lock;
 * vqp_trunk.lock; that of a shelf. All are taken with bottom halves off.
 */
#ifndef VQP_SOCK_TRUNK_H
#define VQP_SOCK_TRUNK_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/vqp.h>
#include <linux/workqueue.h>
#include "engine/stream_frame.h"
#include "queue/send.h"

struct vqp;
struct vqp_ns;
struct vqp_shelf;

/* For so long a trunk goes on trying for connections that are closed, and for answers. */
#define VQP_TRUNK_ORPHAN_JIFFIES	(60 * HZ)

struct vqp_trunk_user;

/* What the trunk does with its users, which are connections. */
struct vqp_trunk_user_ops {
	void (*hold)(struct vqp_trunk_user *user);
	void (*put)(struct vqp_trunk_user *user);	/* any context */
	/*
	 * A frame of the user's with so many bytes of its stream has arrived, or is given up. Any
	 * context, bottom halves off.
	 */
	void (*sent)(struct vqp_trunk_user *user, u32 bytes);
	/*
	 * Is what the peer is to have from it still worth sending? `late`: the trunk has led
	 * nowhere for so long that only a user matters which a program has. Under trunk->lock.
	 */
	bool (*lasts)(const struct vqp_trunk_user *user, bool late);
	/* The trunk is not full any more. Process context, as the others are. */
	void (*room)(struct vqp_trunk_user *user);
	/* Post what the peer is to be told. 0; -EAGAIN: there is no room for all; -ENOMEM. */
	int (*tell)(struct vqp_trunk_user *user);
	/*
	 * The peer has ended the connection, or has no such any more; or the trunk is over, or what
	 * is to be told is given up.
	 */
	void (*broken)(struct vqp_trunk_user *user);
};

struct vqp_trunk_user {
	const struct vqp_trunk_user_ops *ops;
	u32 peer;			/* the peer's number of it; 0: it is not known yet */
	/*
	 * In trunk->users, ->due and ->waiting, each with a reference, or empty; under trunk->lock.
	 * The user that waits for room looks at wait_link without it.
	 */
	struct list_head link, due_link, wait_link;
};

enum vqp_trunk_state {
	VQP_TRUNK_IDLE,			/* It has no VQP yet, or none at present. */
	VQP_TRUNK_OPENING,		/* Its work `open` is to open it. */
	VQP_TRUNK_UP,
	VQP_TRUNK_FAILED,		/* Its VQP has failed, and its work is to end that. */
	VQP_TRUNK_OVER,			/* Its namespace has gone, or it made room. */
};

struct vqp_trunk {
	struct kref ref;		/* of the table, connections, frames and queued works */
	struct hlist_node node;		/* in the table, under its lock */
	struct list_head ns_link;	/* in ns->trunks, under the same */
	struct vqp_ns *ns;		/* referenced */
	u8 gid[VQP_GID_BYTES];		/* the remote address; constant */
	struct work_struct work;	/* posts frames, and ends what has failed */
	struct delayed_work open;	/* opens it; while it is UP, queues `work` a moment later */
	spinlock_t lock;		/* guards all below */
	u8 state;			/* enum vqp_trunk_state */
	struct vqp *vqp;		/* UP or FAILED, or OPENING when there is one; else NULL */
	u32 frame_bytes;		/* UP: so many bytes of a stream make one packet */
	/* IDLE: it is opened for who comes not before, and for who waits not before, in jiffies. */
	unsigned long retry_at, resume_at;
	u32 number;			/* before those of all its connections; constant */
	bool greeted;			/* The peer knows that connections before that are over. */
	bool answered;			/* The VQP has brought a frame. */
	bool refused;			/* The peer has no hub. */
	struct vqp_dct home;		/* the node that had the latest frame; no lanes: none */
	u8 tries;			/* how often it failed since a frame has arrived */
	unsigned long failed_at;	/* the first time of these, in jiffies */
	/* Connects to that port are refused until then, and to any until then, in jiffies. */
	u16 refused_port;
	unsigned long refused_until, silent_until;
	struct list_head users;		/* struct vqp_trunk_user.link */
	struct list_head due;		/* struct vqp_trunk_user.due_link */
	struct list_head waiting;	/* struct vqp_trunk_user.wait_link: for room */
	struct list_head replies;	/* struct vqp_frame_send.send.msg.link: to be posted */
	u32 nreplies;
	/* Likewise, in order: what failed, or was not posted, with the VQPs that there were. */
	struct list_head again;
	struct list_head resend;	/* before those: what a VQP is being given; of its opener */
	u32 nframes;			/* what is posted, or in these lists */
	struct vqp_shelf *shelf;	/* where parcels are put (shelf.h), referenced; or NULL */
	unsigned long shelf_at;		/* None is, before this time, in jiffies. */
	struct list_head fetches;	/* parcels that `fetch` is to READ (fetch.h), in order */
	u32 nfetches;			/* these, and what is being READ */
	struct work_struct fetch;
	struct vqp *fetcher;		/* the VQP that READs; of that work alone */
};

/* A frame on its way, and the memory of its bytes. */
struct vqp_frame_send {
	struct vqp_trunk *trunk;	/* referenced */
	struct vqp_trunk_user *user;	/* referenced; NULL: it is no connection's */
	u32 bytes;			/* of the connection's stream */
	bool waits;			/* A program posts it, and waits if the trunk is full. */
	bool charged;			/* A page of the budget is charged for it. */
	u8 type;			/* enum vqp_frame_type */
	struct vqp_send send;		/* It ends in a flexible array, and so comes last. */
	/* The frame itself follows. */
};

/* What a trunk is wanted for. */
enum vqp_trunk_use {
	/* To answer what comes to nothing: a half of what may be opened is left for the others. */
	VQP_TRUNK_TO_ANSWER,
	VQP_TRUNK_TO_CONNECT,
	VQP_TRUNK_TO_SERVE,		/* The peer wants it: it is tried again at once. */
};

/* Before there are namespaces, and after the last has ended. */
int __init vqp_trunk_init(void);
void vqp_trunk_exit(void);

/*
 * The trunk from ns to that address, referenced; it is opened if need be. ERR_PTR(): -EHOSTDOWN: it
 * failed a short time ago, or many are being opened; -ENOSPC: there are too many; -ENOMEM. Process
 * context.
 */
struct vqp_trunk *vqp_trunk_get(struct vqp_ns *ns, const u8 *gid, enum vqp_trunk_use use);
/* The one that there is, referenced, or NULL. */
struct vqp_trunk *vqp_trunk_find(struct vqp_ns *ns, const u8 *gid);
void vqp_trunk_put(struct vqp_trunk *trunk);	/* any context */

/*
 * ns is dead, or, if it is NULL, the module ends: tell the peers, and end its trunks, or all.
 * Process context; waits for peers.
 */
void vqp_trunks_end(struct vqp_ns *ns);

/* All trunks have ended: wait until their shelves have, which devices may READ until then. */
void vqp_trunks_flush(void);

/* Drop the shelves that trunks have not used for a while. Returns whether any is left. */
bool vqp_trunks_tidy(void);

/*
 * A number that no connection of this node and no BYE has had for long, and which is after all of
 * them. It is random enough that those of an earlier life of the node mean nothing.
 */
u32 vqp_trunk_number(void);

/*
 * A frame with room for so many bytes behind its header, be they of the stream or a parcel; or
 * NULL. Process context.
 */
struct vqp_frame_send *vqp_trunk_frame(struct vqp_trunk *trunk, struct vqp_trunk_user *user,
				       u32 bytes);
void vqp_trunk_frame_free(struct vqp_frame_send *f);	/* one that was not posted; any context */

static inline u8 *vqp_frame_of(struct vqp_frame_send *f)
{
	return (u8 *)(f + 1);
}

/*
 * Post a frame. 0: ops->sent() follows; -EAGAIN: the trunk is full of frames, or is not up;
 * ops->room() follows if the frame `waits`; -EIO: it is over. Process context, without locks.
 */
int __must_check vqp_trunk_post(struct vqp_frame_send *f, const struct vqp_frame *frame);

/* A new user, which is none of a trunk's yet. */
static inline void vqp_trunk_user_init(struct vqp_trunk_user *user,
				       const struct vqp_trunk_user_ops *ops)
{
	user->ops = ops;
	INIT_LIST_HEAD(&user->link);
	INIT_LIST_HEAD(&user->due_link);
	INIT_LIST_HEAD(&user->wait_link);
}

/* Has it found the trunk full, and was not told of room yet? Any context. */
static inline bool vqp_trunk_user_waits(const struct vqp_trunk_user *user)
{
	return !list_empty(&user->wait_link);
}

/*
 * Have a connection be one of the trunk's, which may break it; the trunk takes a reference.
 * -EHOSTDOWN: it leads nowhere at present.
 */
int __must_check vqp_trunk_join(struct vqp_trunk *trunk, struct vqp_trunk_user *user);
void vqp_trunk_leave(struct vqp_trunk *trunk, struct vqp_trunk_user *user);
/*
 * Break the connections of the trunk whose numbers at the peer are before that, or all if it is 0.
 * Process context.
 */
void vqp_trunk_break(struct vqp_trunk *trunk, u32 before);

/* Have the trunk's work ask the connection what it has to tell. Any context. */
void vqp_trunk_due(struct vqp_trunk *trunk, struct vqp_trunk_user *user);

/* Send a frame that is no connection's. If too many wait, or without memory, it is lost. */
void vqp_trunk_reply(struct vqp_trunk *trunk, const struct vqp_frame *frame);

/* What there is to tell of the VQP that a trunk has now; zeros: it has none. */
struct vqp_trunk_info {
	u8 node_gid[VQP_GID_BYTES];	/* of the node that it leads to */
	u32 flow;			/* the number of its flow */
	u32 srtt_us;			/* its smoothed round-trip time; 0: none is known */
	u64 resent;			/* packets that the flow has sent again */
};

void vqp_trunk_look(struct vqp_trunk *trunk, struct vqp_trunk_info *info);	/* any context */

/* Was a connect to that port refused a short time ago, or has the peer not answered one to any? */
bool vqp_trunk_is_refused(struct vqp_trunk *trunk, u16 port);
/* A connect has failed with `err`: -ECONNREFUSED is about its port alone. */
void vqp_trunk_note_refused(struct vqp_trunk *trunk, u16 port, int err);

#endif
