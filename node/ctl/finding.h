/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What vqpctl selftest has found out about a device. What it means, verdict.c says. */
#ifndef VQPCTL_FINDING_H
#define VQPCTL_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "gid.h"

/* Of one thing that was tried. Not done and no error: what comes before it has failed. */
struct ctl_trial {
	bool done;
	char error[128];
};

struct ctl_finding {
	char device[64];
	char driver[32];		/* "" if nothing names it */
	char firmware[64];		/* likewise */
	uint32_t port;
	bool roce;			/* Ethernet, and not iWARP */
	bool active;
	uint32_t mtu;			/* bytes of a packet's payload */
	enum ctl_gid gid;		/* of the one that vqp would use */
	uint32_t gid_index;
	uint32_t gids;			/* of RoCE v2 */

	uint32_t max_qp, max_qp_wr, max_cqe, max_sge;
	struct ctl_trial pool;		/* queue pairs were made that are as large as the module's */
	uint32_t inline_bytes;		/* that a UD queue pair is given */

	bool fast_registration;		/* by a work request, as the module registers */
	struct ctl_trial registration;	/* with rights to read and write remotely */
	uint64_t registration_bytes;
	double registration_us;
	uint64_t memlock;		/* bytes that may be locked; UINT64_MAX: no limit */

	struct ctl_trial ud;
	uint32_t ud_messages, ud_bytes;
	uint32_t ud_damaged;		/* of them: another length, or another byte somewhere */
	uint32_t ud_strangers;		/* of them: not from the address or the queue pair that sent */
	struct ctl_trial restart;	/* a UD queue pair was reset, and receives again */

	bool rc_off;			/* the module makes no links: rc_max=0 */
	struct ctl_trial rc;
	uint32_t rc_bytes, rc_pieces;	/* of each request: and the places of memory it gathers */
	const char *rc_damaged;		/* which request's bytes were others; NULL: none */
	struct ctl_trial psn;
	uint32_t psn_packets, psn_moved;	/* that were received, and by how much it moved */
	uint32_t psn_stopped_packets, psn_stopped_moved;	/* the same, once the queue pair was in the error state */
	struct ctl_trial rnr;
	double rnr_until_ms, rnr_after_ms;	/* when the receive came, and when the message had arrived */
	struct ctl_trial silence;
	double silence_ms;		/* until requests to a peer that says nothing failed */

	bool atomics_claimed;
	struct ctl_trial atomics;
	bool atomics_wrong;		/* another result, or other bytes in memory */

	uint32_t order_checked, order_wrong;	/* completions */
	uint32_t events, events_missed;	/* of completion queues */
};

#endif
