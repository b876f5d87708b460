/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A TCP connection that always has something to send: a competitor. Both ends are here.
 *
 * The data is full segments, and windows count segments. The receiver acknowledges each segment;
 * the acknowledgement says which one has come, as SACK and time stamps do. The network keeps a
 * connection's segments in order, so that a segment is lost when one that was sent after it has
 * come (RACK, RFC 8985, with a reordering window of 0). Lost segments are sent again within the
 * window (RFC 6675). If nothing comes, the latest segment is sent again after two round trips
 * (RFC 8985, tail loss probe), and after a timeout as RFC 6298 says, but with Linux' minimum of
 * 200 ms, all is.
 *
 * Not modelled: delayed acknowledgements, pacing, HyStart, PRR, the receiver's window, and the
 * handshake, which is taken to have measured a round trip of 1 ms.
 *
 * How the window grows and shrinks is a struct tcp_model: Reno (RFC 5681), Cubic (RFC 9438) and
 * DCTCP (RFC 8257), each in a file of its own.
 */
#ifndef VQP_SIM_TCP_H
#define VQP_SIM_TCP_H

#include "meter.h"
#include "packet.h"

#define TCP_WINDOW_MAX		16384	/* segments; a power of two */
#define TCP_MSS			4096
/* Ethernet with preamble, FCS and gap; IPv4; TCP with time stamps */
#define TCP_OVERHEAD		(38 + 20 + 32)

struct network;
struct tcp;

struct tcp_model {
	const char *name;
	bool ect;			/* Its segments may be marked. */
	void (*init)(struct tcp *tcp);
	/* n segments have come, and nothing is known to be lost: let the window grow. */
	void (*grow)(struct tcp *tcp, u32 n);
	/* Segments were lost, or all were: set ssthresh. */
	void (*cut)(struct tcp *tcp, bool timeout);
	/* n segments have come, of which so many were marked; or NULL. Before grow(). */
	void (*note_marks)(struct tcp *tcp, u32 n, u32 marked);
};

extern const struct tcp_model tcp_reno, tcp_cubic, tcp_dctcp;

/* The state of Cubic, with the names of RFC 9438. Times are in seconds, windows in segments. */
struct cubic {
	bool begun;			/* A stage of congestion avoidance has begun. */
	u64 epoch_ns;			/* when it has */
	double w_max;			/* the window before the latest cut */
	double k;			/* The window is w_max again after this time. */
	double w_est;			/* the window that Reno would have */
	double cwnd_prior;		/* the window at the latest cut */
	bool timed_out;			/* The latest cut was a timeout. */
};

/* The state of DCTCP, with the names of RFC 8257. */
struct dctcp {
	double alpha;			/* the share of marked segments, smoothed */
	u64 window_end;			/* The window in which marks are counted ends here. */
	u32 acked, marked;		/* segments in it */
	u64 cut_end;			/* Marks of segments before it count for the latest cut. */
};

/* A segment that is not acknowledged, in struct tcp.segments. */
struct tcp_unacked {
	u64 sending;			/* its latest transmission */
	u64 sent_ns;
	bool here;			/* It has come, though not all before it have. */
	bool lost;			/* and not sent again yet */
};

/* A transmission: which segment it was. */
struct tcp_sending {
	u64 number;
	u64 sending;
};

struct tcp {
	const struct tcp_model *model;
	struct network *network;
	u32 from, to;			/* numbers of hosts */
	u32 label;			/* chooses its path */
	struct meter meter;

	/* The sender. Segments are known by their place in the data, transmissions by theirs. */
	double cwnd, ssthresh;
	u64 una;			/* the first segment that is not acknowledged */
	u64 next;			/* the first one that was never sent */
	u64 sendings;			/* transmissions so far */
	u64 latest;			/* that is known to have come; with `any` */
	bool any;
	u32 pipe;			/* segments that are in the network */
	u32 nlost;			/* segments that are lost and not sent again yet */
	u64 lost_from;			/* None of these is before it. */
	bool recovering;		/* until `una` has reached `recovered` */
	u64 recovered;
	struct tcp_unacked *segments;	/* of `una` to `next`, by number modulo TCP_WINDOW_MAX */
	/* the transmissions that may turn out to be lost, oldest first: a ring */
	struct tcp_sending *order;
	u64 order_first, order_end;
	double srtt_ns, rttvar_ns;
	u64 timer_ns;			/* when the timer is due, or 0 */
	u64 wake_ns;			/* when the next event for the timer comes, or 0 */
	bool probing;			/* A probe was sent, and nothing has come since. */
	u32 backoffs;			/* timeouts in a row */
	u64 cuts, timeouts;
	union {
		struct cubic cubic;
		struct dctcp dctcp;
	};

	/* The receiver. */
	u64 expected;			/* the first segment that has not come */
	bool *came;			/* of those after it, by number modulo TCP_WINDOW_MAX */
};

/* Of a connection that is zeroed. */
void tcp_init(struct tcp *tcp, struct network *network, const struct tcp_model *model, u32 from,
	      u32 to, u32 label);
void tcp_end(struct tcp *tcp);

/* Begin at at_ns. */
void tcp_start(struct tcp *tcp, u64 at_ns);

/* A segment or an acknowledgement has arrived. */
void tcp_take(const struct packet *packet);

/* What models use. */
u64 tcp_now_ns(const struct tcp *tcp);
static inline bool tcp_in_slow_start(const struct tcp *tcp)
{
	return tcp->cwnd < tcp->ssthresh;
}

/* Slow start: the window grows by what has come. Returns what is left of n behind ssthresh. */
u32 tcp_slow_start(struct tcp *tcp, u32 n);

#endif
