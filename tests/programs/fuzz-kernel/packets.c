// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fuzz-packets: send forged packets to another node's vqp, while this node's
 * own kernel talks to it; from that conversation come the keys. Or send it a
 * READ in that kernel's name, and say what comes of it. Runs as root.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "forge.h"
#include "ud.h"

#define BURST		16	/* packets, between looks at what came */
#define SILENCE_S	20	/* that long without a packet of the kernel's to learn from */
#define READ_FLOW	0x50000000U	/* from here on; kernels count up from little */
#define READ_WAIT_US	100000	/* for an answer */

struct options {
	uint64_t seed;
	unsigned long seconds, pause_us;
	const char *interface;
	u8 from[VQP_GID_BYTES], to[VQP_GID_BYTES];
	bool stranger, read;
	u32 tenant;
	u16 listener;
	struct target target;
};

static struct options options = { .seconds = 10, .pause_us = 1000, .interface = "data0", .tenant = 9 };
static struct tap tap;
static struct ud ud;
static struct forge forge;
static unsigned long sent[FORGE_KINDS], acks, naks[VQP_NAK_MAX + 1], responses;

static void learn_keys(void)
{
	time_t began = time(NULL);

	while (!tap_recent(&tap, true, 0)) {
		if (time(NULL) - began > SILENCE_S)
			errx(1, "this node's kernel sends nothing to the target");
		usleep(10000);
		tap_read(&tap);
	}
}

/* The next packet of the target's. False: none has come. */
static bool take_packet(struct vqp_pkt *pkt)
{
	const u8 *at;
	u32 bytes = ud_receive(&ud, &at);

	if (!bytes)
		return false;
	/* The kernel's own packets are beyond reproach. */
	if (vqp_wire_parse(at, bytes, pkt))
		errx(1, "the target sent a malformed packet of %u bytes", bytes);
	forge_take(&forge, pkt);
	return true;
}

static void take_answers(void)
{
	struct vqp_pkt pkt;

	while (take_packet(&pkt)) {
		acks += pkt.op == VQP_OP_ACK;
		naks[pkt.nak] += pkt.op == VQP_OP_NAK;
		responses += pkt.op == VQP_OP_READ_RESP;
	}
}

static void send_burst(void)
{
	struct forged forged;
	int i;

	for (i = 0; i < BURST; i++) {
		forge_next(&forge, &forged);
		ud_send(&ud, forged.qpn, forged.qkey, forged.buf, forged.bytes);
		sent[forged.kind]++;
	}
}

/* The answer to a READ of the flows from `first` up to `last`: what it says, or NULL if none has come. */
static const char *read_answer(u32 first, u32 last)
{
	const char *said = NULL;
	struct vqp_pkt pkt;

	while (take_packet(&pkt)) {
		if (pkt.flow < first || pkt.flow > last)
			continue;
		if (pkt.op == VQP_OP_READ_RESP)
			said = "read";
		else if (pkt.op == VQP_OP_NAK && pkt.nak == VQP_NAK_ACCESS)
			said = "refused";
	}
	return said;
}

/* A flow is taken on its own lane alone, and may be challenged: the next one is on another, and knows the echo. */
static void read_once(void)
{
	const u32 first = READ_FLOW + rnd_below(&forge.rnd, 1U << 24);
	const char *said = NULL;
	time_t began = time(NULL);
	struct forged forged;
	u32 flow;

	for (flow = first; !said; flow++) {
		if (time(NULL) - began > SILENCE_S)
			errx(1, "the target answers no READ");
		tap_read(&tap);
		forge_kernel_read(&forge, flow, &forged);
		ud_send(&ud, forged.qpn, forged.qkey, forged.buf, forged.bytes);
		usleep(READ_WAIT_US);
		said = read_answer(first, flow);
	}
	puts(said);
}

static void report(void)
{
	int i;

	printf("fuzz-packets: seed %" PRIu64 ", %u packets:", options.seed, ud.sent);
	for (i = 0; i < FORGE_KINDS; i++)
		printf(" %lu %s", sent[i], forge_names[i]);
	printf("\nfuzz-packets: answered by %lu ACKs, %lu READ responses, NAKs from SEQ to EPOCH:", acks, responses);
	for (i = 1; i <= VQP_NAK_MAX; i++)
		printf(" %lu", naks[i]);
	printf("\n");
}

static void usage(FILE *out)
{
	fputs("Usage: fuzz-packets --to ADDRESS --from ADDRESS --target ADDRESS:PORT:KEY:ADDR:BYTES [OPTION...]\n"
	      "  --to ADDRESS     of the other node\n"
	      "  --from ADDRESS   of this node, to send from\n"
	      "  --target ...     a VQP there, and memory it offers\n"
	      "  --stranger       --from is not the address of this node's kernel: disturb nobody\n"
	      "  --read           one READ in the name of this node's kernel; prints \"read\" or \"refused\"\n"
	      "  --listener PORT  a stream socket listens there at the target's address: forge frames to its hub alone\n"
	      "  --tenant N       of the target (default 9)\n"
	      "  --seed N         of all that is chosen (default: the time)\n"
	      "  --seconds N      end after so long (default 10)\n"
	      "  --pause US       after each burst of 16 (default 1000)\n"
	      "  --interface NAME where the nodes are linked (default data0)\n", out);
}

static void parse_address(const char *text, u8 *gid)
{
	if (!target_gid(text, gid))
		errx(2, "no address: %s", text);
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "to", required_argument, NULL, 't' },
		{ "from", required_argument, NULL, 'f' },
		{ "target", required_argument, NULL, 'g' },
		{ "stranger", no_argument, NULL, 'x' },
		{ "read", no_argument, NULL, 'r' },
		{ "listener", required_argument, NULL, 'l' },
		{ "tenant", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 'd' },
		{ "pause", required_argument, NULL, 'p' },
		{ "interface", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	options.seed = (uint64_t)time(NULL);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 't': parse_address(optarg, options.to); break;
		case 'f': parse_address(optarg, options.from); break;
		case 'g': target_parse(optarg, &options.target); break;
		case 'x': options.stranger = true; break;
		case 'r': options.read = true; break;
		case 'l': options.listener = (u16)strtoul(optarg, NULL, 0); break;
		case 'n': options.tenant = (u32)strtoul(optarg, NULL, 0); break;
		case 's': options.seed = strtoull(optarg, NULL, 0); break;
		case 'd': options.seconds = strtoul(optarg, NULL, 0); break;
		case 'p': options.pause_us = strtoul(optarg, NULL, 0); break;
		case 'i': options.interface = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind < argc || !options.to[15] || !options.from[15] || !options.target.known) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	time_t began;
	u32 target;

	parse_options(argc, argv);
	memcpy(&target, options.to + 12, sizeof(target));
	tap_open(&tap, options.interface, target);
	learn_keys();
	forge.rnd.state = options.seed;
	forge.tap = &tap;
	forge.target = &options.target;
	forge.stranger = options.stranger;
	forge.tenant = options.tenant;
	forge.listener = options.listener;
	forge.epoch = rnd_u32(&forge.rnd) | 1;
	forge.qkey = rnd_u32(&forge.rnd) >> 1;
	forge_init(&forge);
	ud_open(&ud, options.from, options.to, forge.qkey);
	forge.qpn = ud.qp->qp_num;
	if (options.read) {
		read_once();
		return 0;
	}
	for (began = time(NULL); (unsigned long)(time(NULL) - began) < options.seconds; ) {
		tap_read(&tap);
		take_answers();
		send_burst();
		usleep((useconds_t)options.pause_us);
	}
	report();
	if (!options.stranger && !acks)
		errx(1, "the target has acknowledged nothing");
	return 0;
}
