/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What passes between this node and the target on the wire: vqp's packets, as captured. */
#ifndef VQP_FUZZ_TAP_H
#define VQP_FUZZ_TAP_H

#include <stdbool.h>
#include <linux/types.h>
#include "wire.h"

#define TAP_PACKETS	512		/* the last so many are kept */
#define TAP_BYTES	4096

struct tapped {
	bool outgoing;			/* to the target */
	u32 qpn, qkey;			/* where it goes to */
	u32 bytes;
	u8 data[TAP_BYTES];
	struct vqp_pkt pkt;		/* points into data */
};

struct tap {
	int fd;
	u32 target;			/* IPv4 address, in network order */
	u32 count;			/* ever; at most TAP_PACKETS are there */
	struct tapped packets[TAP_PACKETS];
};

void tap_open(struct tap *tap, const char *interface, u32 target);

/* Take what has come. */
void tap_read(struct tap *tap);

/* Packets with a direction: the n-th last of them, counted from n = 0; NULL if there is none. */
const struct tapped *tap_recent(const struct tap *tap, bool outgoing, u32 n);

#endif
