/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The findings of vqpctl selftest about a device. verdict.c judges them. */
#ifndef VQPCTL_FINDING_H
#define VQPCTL_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "gid.h"

/* The outcome of one trial. If it is not done and has no error, an earlier trial has failed. */
struct ctl_trial {
	bool done;
	char error[128];
};

struct ctl_finding {
	char device[64];
	char driver[32];		/* "" if it is not known */
	char firmware[64];		/* "" if it is not known */
	uint32_t port;
	bool roce;			/* The link layer is Ethernet, and the device not iWARP. */
	bool active;
	uint32_t mtu;			/* the bytes of a packet's payload */
	enum ctl_gid gid;		/* the rank of the GID that vqp would use */
	uint32_t gid_index;
	uint32_t gids;			/* the number of GIDs of RoCE v2 */

	uint32_t max_qp, max_qp_wr, max_cqe, max_sge;
	struct ctl_trial pool;		/* queue pairs as large as the module's are made */
	uint32_t inline_bytes;		/* the inline data that a UD queue pair gets */

	bool fast_registration;		/* A work request can register memory, as the module does. */
	struct ctl_trial registration;	/* memory is registered for remote reads and writes */
	uint64_t registration_bytes;
	double registration_us;
	uint64_t memlock;		/* the bytes that may be locked; UINT64_MAX if unlimited */

	struct ctl_trial ud;
	uint32_t ud_messages, ud_bytes;
	uint32_t ud_damaged;		/* those of them with another length or other bytes */
	uint32_t ud_strangers;		/* those of them with another sender's address or queue pair */
	struct ctl_trial restart;	/* a UD queue pair is reset, and receives again */

	bool rc_off;			/* The module makes no links, because rc_max is 0. */
	struct ctl_trial rc;
	uint32_t rc_bytes, rc_pieces;	/* the bytes and SGEs of each request */
	const char *rc_damaged;		/* the request whose bytes were damaged, or NULL */
	struct ctl_trial psn;
	uint32_t psn_packets, psn_moved;	/* the packets received, and the move of the PSN */
	/* The same for a queue pair that was in the error state when it was asked. */
	uint32_t psn_stopped_packets, psn_stopped_moved;
	struct ctl_trial rnr;
	double rnr_until_ms, rnr_after_ms;	/* when the receive was posted, and the message arrived */
	struct ctl_trial silence;
	double silence_ms;		/* the time until requests to a silent peer failed */

	bool atomics_claimed;
	struct ctl_trial atomics;
	bool atomics_wrong;		/* The result or the memory was wrong. */

	uint32_t order_checked, order_wrong;	/* completions, and those out of order */
	uint32_t events, events_missed;	/* the events of completion queues */
};

#endif
