/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "verdict.h"

/* The module's requirements of a device (kmod/device/lane.h, kmod/rc/link.h, kmod/rc/qp.c). */
#define LANES		8U
#define LANE_REQUESTS	1025U
#define LANE_CQES	2048U
#define LANE_SGES	2U
#define LINKS		64U	/* 32 links, and as many targets */
#define PAYLOAD_BYTES	4096U
#define SILENCE_MS	4000.0	/* giveup_ms */
#define RNR_LATE_MS	1000.0	/* The timer is 0.64 ms. */

#define RC_OFF	"modprobe vqp rc_max=0: everything goes by dc"
#define NO_RC	"nothing goes from NIC to NIC: everything goes by dc, which takes the processors"
#define NONE_NEEDED "none is needed"
#define OTHER_DEVICE "another device: modprobe vqp parent=DEVICE"

const char *ctl_level_text(enum ctl_level level)
{
	static const char *const texts[] = {
		[CTL_OK] = "ok", [CTL_LIMITED] = "limited", [CTL_FAILS] = "fails", [CTL_UNTRIED] = "not tried",
	};

	return texts[level];
}

static void found(struct ctl_verdict *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void found(struct ctl_verdict *v, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(v->found, sizeof(v->found), format, list);
	va_end(list);
}

static void not_ok(struct ctl_verdict *v, enum ctl_level level, const char *follows, const char *way_out)
{
	v->level = level;
	v->follows = follows;
	v->way_out = way_out;
}

static void untried(struct ctl_verdict *v)
{
	found(v, "-");
	v->level = CTL_UNTRIED;
}

/* Was the trial carried out? If not, that is the verdict. */
static bool was_done(const struct ctl_trial *trial, struct ctl_verdict *v, enum ctl_level level,
		     const char *follows, const char *way_out)
{
	if (trial->done)
		return true;
	if (*trial->error) {
		found(v, "%s", trial->error);
		not_ok(v, level, follows, way_out);
	} else {
		untried(v);
	}
	return false;
}

/* The level of faults of rc, which do not matter if links are off. */
static enum ctl_level rc_level(const struct ctl_finding *f)
{
	return f->rc_off ? CTL_LIMITED : CTL_FAILS;
}

static void judge_port(const struct ctl_finding *f, struct ctl_verdict *v)
{
	found(v, "%s port %u%s%s%s%s: %s, %s", f->device, f->port, *f->driver ? ", driver " : "", f->driver,
	      *f->firmware ? ", firmware " : "", f->firmware, f->roce ? "RoCE" : "no RoCE",
	      f->active ? "active" : "not active");
	if (!f->roce)
		not_ok(v, CTL_FAILS, "vqp does not use this device", OTHER_DEVICE "; rdma link");
	else if (!f->active)
		not_ok(v, CTL_FAILS, "vqp waits until it is active",
		       "ip link set dev NETDEV up; or the other end's cause");
}

static void judge_mtu(const struct ctl_finding *f, struct ctl_verdict *v)
{
	found(v, "%u bytes in a packet", f->mtu);
	if (f->mtu < PAYLOAD_BYTES)
		not_ok(v, CTL_LIMITED, "smaller packets, and more of them; all nodes must have the same",
		       "an Ethernet MTU of at least 4176 on all nodes: ip link set dev NETDEV mtu 4200");
}

static void judge_gid(const struct ctl_finding *f, struct ctl_verdict *v)
{
	if (!f->gids || f->gid == CTL_GID_NONE) {
		found(v, "none of RoCE v2 with an address of this host");
		not_ok(v, CTL_FAILS, "vqp waits until the device has one",
		       "ip address add ADDRESS/LENGTH dev NETDEV; RoCE v2 switched on in the device");
		return;
	}
	found(v, "%u of RoCE v2; number %u: %s", f->gids, f->gid_index, ctl_gid_text(f->gid));
	if (f->gid == CTL_GID_LINK_LOCAL)
		not_ok(v, CTL_LIMITED, "only nodes on the same link are reached",
		       "ip address add ADDRESS/LENGTH dev NETDEV");
}

static void judge_pool(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "vqp cannot make its pool on this device";

	if (!was_done(&f->pool, v, CTL_FAILS, follows, OTHER_DEVICE))
		return;
	found(v, "%u QPs of %u requests, CQs of %u entries, %u SGEs", f->max_qp, f->max_qp_wr, f->max_cqe, f->max_sge);
	if (f->max_qp < LANES || f->max_qp_wr < LANE_REQUESTS || f->max_cqe < LANE_CQES || f->max_sge < LANE_SGES)
		not_ok(v, CTL_FAILS, follows, OTHER_DEVICE);
	else if (f->max_qp < LANES + LINKS)
		not_ok(v, CTL_LIMITED, "fewer peers are reached from NIC to NIC, the others by dc", NONE_NEEDED);
}

static void judge_inline(const struct ctl_finding *f, struct ctl_verdict *v)
{
	found(v, "%u bytes", f->inline_bytes);
}

static void judge_registration(const struct ctl_finding *f, struct ctl_verdict *v)
{
	char memlock[48] = "no limit of locked memory";

	if (f->memlock != UINT64_MAX)
		snprintf(memlock, sizeof(memlock), "%llu KiB may be locked", (unsigned long long)f->memlock >> 10);
	if (!was_done(&f->registration, v, CTL_FAILS, "nothing that needs memory can be tried",
		      "as root, or after ulimit -l unlimited, try again"))
		return;
	found(v, "%llu KiB in %.0f us, %s registration; %s", (unsigned long long)f->registration_bytes >> 10,
	      f->registration_us, f->fast_registration ? "and fast" : "no fast", memlock);
	if (!f->fast_registration)
		not_ok(v, CTL_LIMITED, NO_RC, NONE_NEEDED);
}

static void judge_ud(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "vqp does not work on this device",
		way_out[] = "newer firmware, driver or kernel; " OTHER_DEVICE;

	if (!was_done(&f->ud, v, CTL_FAILS, follows, way_out))
		return;
	if (f->ud_damaged || f->ud_strangers) {
		found(v, "of %u messages %u damaged, %u from another sender", f->ud_messages, f->ud_damaged,
		      f->ud_strangers);
		not_ok(v, CTL_FAILS, follows, way_out);
		return;
	}
	found(v, "%u messages of up to %u bytes: all bytes and senders right", f->ud_messages, f->ud_bytes);
}

static void judge_restart(const struct ctl_finding *f, struct ctl_verdict *v)
{
	if (was_done(&f->restart, v, CTL_LIMITED,
		     "a lane that fails takes the pool with it: VQPs fail, and a new one is made", NONE_NEEDED))
		found(v, "it was flushed, reset, and receives again");
}

static void judge_rc(const struct ctl_finding *f, struct ctl_verdict *v)
{
	if (!was_done(&f->rc, v, CTL_LIMITED, NO_RC, NONE_NEEDED))
		return;
	if (f->rc_damaged) {
		found(v, "%s of %u bytes: other bytes arrived", f->rc_damaged, f->rc_bytes);
		not_ok(v, rc_level(f), "what goes from NIC to NIC arrives damaged", RC_OFF);
		return;
	}
	found(v, "WRITE, READ, WRITE_WITH_IMM of %u bytes, %u SGEs: all bytes right", f->rc_bytes, f->rc_pieces);
}

static void judge_psn(const struct ctl_finding *f, struct ctl_verdict *v)
{
	if (!was_done(&f->psn, v, CTL_LIMITED, "nothing is known of it", NONE_NEEDED))
		return;
	found(v, "%u packets moved it by %u, %u by %u as told after the end", f->psn_packets, f->psn_moved,
	      f->psn_stopped_packets, f->psn_stopped_moved);
	if (f->psn_moved != f->psn_packets || f->psn_stopped_moved != f->psn_stopped_packets)
		not_ok(v, rc_level(f),
		       "links are let go while they are used, and when one fails WRITEs that were done are done again",
		       RC_OFF);
}

static void judge_rnr(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "nothing: links carry no messages that take receives";

	if (!was_done(&f->rnr, v, CTL_LIMITED, follows, NONE_NEEDED))
		return;
	found(v, "receive posted after %.1f ms, message there after %.1f ms", f->rnr_until_ms, f->rnr_after_ms);
	if (f->rnr_after_ms < f->rnr_until_ms || f->rnr_after_ms > f->rnr_until_ms + RNR_LATE_MS)
		not_ok(v, CTL_LIMITED, follows, NONE_NEEDED);
}

static void judge_silence(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "requests to a node that died wait that long before dc takes them, "
				      "or until the link counts as unused: 5 to 10 s";

	if (!was_done(&f->silence, v, CTL_LIMITED, follows, "none is needed; or " RC_OFF))
		return;
	found(v, "given up after %.0f ms", f->silence_ms);
	if (f->silence_ms > SILENCE_MS)
		not_ok(v, CTL_LIMITED, follows, "none is needed; or " RC_OFF);
}

static void judge_order(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "vqp gives memory back before the device has done with it",
		way_out[] = OTHER_DEVICE;

	if (!f->order_checked) {
		untried(v);
		return;
	}
	found(v, "%u of %u came in the order of the requests", f->order_checked - f->order_wrong, f->order_checked);
	if (f->order_wrong)
		not_ok(v, CTL_FAILS, follows, way_out);
}

static void judge_events(const struct ctl_finding *f, struct ctl_verdict *v)
{
	if (!f->events && !f->events_missed) {
		untried(v);
		return;
	}
	found(v, "%u came, %u did not", f->events, f->events_missed);
	if (f->events_missed)
		not_ok(v, CTL_FAILS, "packets lie in the pool until others come", OTHER_DEVICE);
}

static void judge_atomics(const struct ctl_finding *f, struct ctl_verdict *v)
{
	static const char follows[] = "nothing: the target's processor carries them out";

	if (!f->atomics_claimed) {
		found(v, "the device has none");
		return;
	}
	if (!was_done(&f->atomics, v, CTL_LIMITED, follows, NONE_NEEDED))
		return;
	found(v, "FETCH_ADD and CMP_SWP of 8 bytes: %s", f->atomics_wrong ? "another result" : "right");
	if (f->atomics_wrong)
		not_ok(v, CTL_LIMITED, follows, NONE_NEEDED);
}

const struct ctl_check ctl_checks[] = {
	{ "port", "device and port", "RoCE, active", judge_port },
	{ "mtu", "MTU of the port", "4096 bytes; fewer will do", judge_mtu },
	{ "gid", "GIDs", "RoCE v2, an address of this host", judge_gid },
	{ "pool", "size of queues", "8 QPs of 1025, CQs of 2048, 2 SGEs", judge_pool },
	{ "inline", "inline data", "nothing", judge_inline },
	{ "registration", "registration", "2 MiB, fast, for remote access", judge_registration },
	{ "ud", "UD through the device", "each byte, and who sent it", judge_ud },
	{ "restart", "a UD QP starts over", "RESET to RTS with its number", judge_restart },
	{ "rc", "RC through the device", "WRITE and READ, each byte", judge_rc },
	{ "psn", "receive PSN that query_qp tells", "one for each packet received", judge_psn },
	{ "rnr", "receiver not ready", "nothing", judge_rnr },
	{ "silence", "a peer that says nothing", "given up within 4000 ms", judge_silence },
	{ "order", "order of completions", "that of the requests", judge_order },
	{ "events", "events of completions", "one for each time it is asked for", judge_events },
	{ "atomics", "atomics", "nothing", judge_atomics },
	{ 0 },
};
