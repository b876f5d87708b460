// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The target's responder contexts against packets of any content in any order:
 * each request is carried out at most once, what was taken is given back, every answer
 * is a packet that parses, and the table's lists stay whole. A copy of a packet opens no flow that
 * was forgotten, and has no flow go on that is remembered.
 */
#include <errno.h>

#include "clock.h"
#include "fuzz.h"
#include "rx.h"

#define SLOTS		3
#define LIVE		2		/* of the slots */
#define NODES		2
#define FLOWS		3
#define KEYS		(NODES * FLOWS)
#define PAYLOAD		64
#define EPOCH		7
#define FIRST_PSN	0xfffffff0U
#define PSNS		65536
#define LINGER		1000
#define IDLE		5000
#define CLOCK_SPEED	512		/* so that contexts linger for some ticks */
#define COPIES		8		/* packets that are kept to come again */

/* What a receive request of the fake receiver got so far. */
struct taken {
	u32 bytes, got;
};

/* A packet that the table holds. */
struct copy {
	struct vqp_rx_held held;
	u32 key;
};

/* A packet that has opened a flow, or found it open. */
struct seen {
	struct vqp_pkt pkt;
	u32 key;
};

struct key {
	u32 psn;		/* the next to be carried out, if `live` */
	bool live;		/* a context has it */
};

static struct {
	struct vqp_rxtab tab;
	struct vqp_rx slots[SLOTS];
	struct list_head buckets[2];
	struct key keys[KEYS];
	struct vqp_clock clocks[NODES];
	u32 drawn;
	struct fuzz *in;
	const struct vqp_pkt *pkt;
	u32 key;
	u64 now;
	u8 faults;		/* of the callbacks, for this packet */
	bool dead;		/* the namespace */
	u32 opens, closes, begun, ended;
	u32 answers;
	u32 delivered;		/* messages, by this packet and those held behind it */
	u32 held, held_before;	/* packets; before the one that came */
	struct copy *copies[SLOTS * VQP_MASK_BITS];
	struct seen seen[COPIES];	/* the latest ones */
	u32 nseen;
	u64 read_addr;
	u32 read_bytes;		/* the range that was checked for this packet */
} env;

static int ns;
static const u8 data[2 * PAYLOAD];

enum { OPEN_FAILS = 1, RECV_EAGAIN = 2, RECV_ENOENT = 4, DATA_FAILS = 8, WRITE_FAILS = 16, READ_FAILS = 32,
       REPLY_FAILS = 64, HOLD_FAILS = 128 };

static bool fails(u8 fault)
{
	return env.faults & fault;
}

static u32 key_of(const struct vqp_rx *rx)
{
	return (rx->node_gid[0] % NODES) * FLOWS + rx->flow % FLOWS;
}

static u32 draw(void)
{
	return ++env.drawn;
}

static u32 fake_hash(const u8 *gid, u32 src_epoch, u32 flow)
{
	return gid[15] ^ src_epoch ^ flow;
}

static u32 fake_judge(void *reply_to, const struct vqp_pkt *pkt, const u32 *seen, u64 now_us)
{
	fuzz_check(reply_to == &env && pkt == env.pkt && (pkt->flags & VQP_PKT_OPEN) && now_us == env.now);
	return vqp_clock_judge(&env.clocks[env.key / FLOWS], pkt, seen, now_us * CLOCK_SPEED);
}

static void fake_forget(const struct vqp_rx *rx)
{
	fuzz_check(!rx->ns && !rx->recv && rx->state != VQP_RX_FREE);
	vqp_clock_forget(&env.clocks[rx->node_gid[0] % NODES], rx->src_epoch, rx->stamp, rx->last_us * CLOCK_SPEED,
			 env.now * CLOCK_SPEED);
}

static int fake_open(struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	fuzz_check(pkt == env.pkt && (pkt->flags & VQP_PKT_OPEN));
	fuzz_check(rx->flow == pkt->flow && rx->src_epoch == pkt->src_epoch);
	if (env.dead || fails(OPEN_FAILS))
		return -ENOENT;
	rx->ns = &ns;
	env.opens++;
	return 0;
}

static void fake_close(struct vqp_rx *rx)
{
	fuzz_check(rx->ns == &ns && !rx->recv);
	env.closes++;
}

static bool fake_alive(struct vqp_rx *rx)
{
	fuzz_check(rx->ns == &ns);
	return !env.dead;
}

/* Of the flow at hand: the packet that came, or one that is held. */
static const struct vqp_pkt *packet_at(u32 psn)
{
	if (env.pkt->psn == psn)
		return env.pkt;
	for (u32 i = 0; i < env.held; i++) {
		const struct copy *copy = env.copies[i];

		if (copy->key == env.key && copy->held.pkt.psn == psn &&
		    copy->held.pkt.src_epoch == env.pkt->src_epoch)
			return &copy->held.pkt;
	}
	return NULL;
}

/* A request is carried out for the packet that is next. */
static const struct vqp_pkt *check_next(const struct vqp_rx *rx)
{
	const struct vqp_pkt *pkt = packet_at(rx->psn);

	fuzz_check(key_of(rx) == env.key);
	fuzz_check(rx->state == VQP_RX_OPEN && pkt);
	return pkt;
}

static int fake_recv_begin(struct vqp_rx *rx, u32 bytes)
{
	struct taken *taken;

	check_next(rx);
	fuzz_check(!rx->recv);
	if (fails(RECV_EAGAIN))
		return -EAGAIN;
	if (fails(RECV_ENOENT))
		return -ENOENT;
	taken = calloc(1, sizeof(*taken));
	fuzz_check(taken);
	taken->bytes = bytes;
	rx->recv = taken;
	env.begun++;
	return 0;
}

static int fake_recv_data(struct vqp_rx *rx, u32 offset, const void *from, u32 bytes)
{
	struct taken *taken = rx->recv;

	check_next(rx);
	fuzz_check(offset == taken->got && bytes <= taken->bytes - offset);
	fuzz_check(from == data && bytes <= sizeof(data));
	if (fails(DATA_FAILS))
		return -EACCES;
	taken->got += bytes;
	return 0;
}

static void fake_recv_end(struct vqp_rx *rx, const struct vqp_pkt *pkt, u32 bytes, bool ok)
{
	struct taken *taken = rx->recv;

	rx->recv = NULL;
	if (ok) {
		fuzz_check(pkt == check_next(rx) && (pkt->flags & VQP_PKT_LAST));
		fuzz_check(taken->got == taken->bytes);
		fuzz_check(pkt->op == VQP_OP_WRITE || bytes == taken->bytes);
		env.delivered++;
	} else {
		fuzz_check(!pkt && bytes == taken->got);
	}
	env.ended++;
	free(taken);
}

static int fake_write(struct vqp_rx *rx, u32 rkey, u64 addr, const void *from, u32 bytes)
{
	const struct vqp_pkt *pkt = check_next(rx);

	fuzz_check(rkey == pkt->rkey && addr == pkt->addr && addr + bytes >= addr);
	fuzz_check(from == data && bytes <= sizeof(data));
	return fails(WRITE_FAILS) ? -EACCES : 0;
}

static int fake_read_check(struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	const struct vqp_pkt *pkt = packet_at(rx->psn);

	fuzz_check(key_of(rx) == env.key);
	/* a duplicate is answered, too */
	fuzz_check((pkt && rkey == pkt->rkey) || rkey == env.pkt->rkey);
	fuzz_check(bytes && addr + bytes >= addr);
	if (fails(READ_FAILS))
		return -EACCES;
	env.read_addr = addr;
	env.read_bytes = bytes;
	return 0;
}

static int fake_atomic(struct vqp_rx *rx, const struct vqp_pkt *pkt, u64 *before)
{
	fuzz_check(pkt == check_next(rx) && vqp_op_is_atomic(pkt->op) && pkt->addr % VQP_ATOMIC_BYTES == 0);
	if (fails(WRITE_FAILS))
		return -EACCES;
	*before = pkt->psn;
	return 0;
}

/* It tells what this very atomic found. */
static void check_found(const struct vqp_pkt *pkt)
{
	const u8 *at = pkt->payload;
	u64 before = 0;

	for (u32 i = 0; i < VQP_ATOMIC_BYTES; i++)
		before = before << 8 | at[i];
	fuzz_check(pkt->payload_bytes == VQP_ATOMIC_BYTES && !pkt->offset && before == pkt->psn);
}

static int fake_reply(void *reply_to, struct vqp_pkt *pkt, struct vqp_rx *rx, u32 rkey, u64 addr, u32 bytes)
{
	u8 buf[VQP_WIRE_HEADER_MAX + PAYLOAD] = { 0 };
	const u32 headers = vqp_wire_build(buf, pkt);
	const struct vqp_pkt *to = packet_at(pkt->psn);
	struct vqp_pkt parsed;

	fuzz_check(reply_to == &env && pkt->payload_bytes == bytes && bytes <= PAYLOAD);
	fuzz_check(!vqp_wire_parse(buf, headers + bytes, &parsed));
	fuzz_check(to && parsed.flow == to->flow && parsed.turn == to->turn);
	fuzz_check(parsed.src_epoch == EPOCH && parsed.dst_epoch == env.pkt->src_epoch);
	fuzz_check(env.pkt->op != VQP_OP_CLOSE);
	if (pkt->payload) {
		fuzz_check(pkt->op == VQP_OP_READ_RESP && rx);
		check_found(pkt);
	} else if (bytes) {
		fuzz_check(pkt->op == VQP_OP_READ_RESP && rx && rkey == to->rkey);
		fuzz_check(pkt->offset + bytes <= PAYLOAD * VQP_READ_CHUNK_PACKETS);
		fuzz_check(addr >= env.read_addr && addr + bytes <= env.read_addr + env.read_bytes);
	}
	env.answers++;
	fuzz_check(env.answers == 1 || pkt->op == VQP_OP_READ_RESP || env.held_before);
	fuzz_check(env.answers <= (VQP_READ_CHUNK_PACKETS + 1) * (1 + env.held_before));
	return fails(REPLY_FAILS) ? -EAGAIN : 0;
}

static struct vqp_rx_held *fake_hold(const struct vqp_pkt *pkt)
{
	struct copy *copy;

	fuzz_check(pkt == env.pkt && env.held < SLOTS * VQP_MASK_BITS);
	if (fails(HOLD_FAILS))
		return NULL;
	copy = calloc(1, sizeof(*copy));
	fuzz_check(copy);
	copy->held.pkt = *pkt;
	copy->key = env.key;
	env.copies[env.held++] = copy;
	return &copy->held;
}

static void fake_drop(struct vqp_rx_held *held)
{
	u32 i;

	for (i = 0; i < env.held && &env.copies[i]->held != held; i++)
		;
	fuzz_check(i < env.held);
	env.copies[i] = env.copies[--env.held];
	free(list_entry(held, struct copy, held));
}

/* What is held is what the mask says, in order, and behind a gap. */
static void check_held(const struct vqp_rx *rx)
{
	u32 n = 0;

	for (const struct list_head *at = rx->held.next; at != &rx->held; at = at->next, n++) {
		const u32 ahead = list_entry(at, struct vqp_rx_held, link)->pkt.psn - rx->psn;

		fuzz_check(at->next->prev == at && ahead && ahead < VQP_MASK_BITS && vqp_mask_has(&rx->held_mask, ahead));
		fuzz_check(at->prev == &rx->held ||
			   list_entry(at->prev, struct vqp_rx_held, link)->pkt.psn - rx->psn < ahead);
	}
	fuzz_check(n == vqp_mask_count(&rx->held_mask) && (!n || rx->state == VQP_RX_OPEN));
}

static const struct vqp_rx_ops fake_ops = {
	.hash = fake_hash, .judge = fake_judge, .forget = fake_forget, .open = fake_open, .close = fake_close, .alive = fake_alive, .recv_begin = fake_recv_begin,
	.recv_data = fake_recv_data, .recv_end = fake_recv_end, .write = fake_write,
	.read_check = fake_read_check, .atomic = fake_atomic, .reply = fake_reply, .hold = fake_hold, .drop = fake_drop,
};

/* ---- What must hold between two packets ---- */

static u32 count(const struct list_head *head)
{
	const struct list_head *at = head;
	u32 n = 0;

	do {
		fuzz_check(at->next->prev == at);
		at = at->next;
		fuzz_check(++n <= SLOTS + 1);
	} while (at != head);
	return n - 1;
}

static bool has(const struct list_head *head, const struct list_head *entry)
{
	for (const struct list_head *at = head->next; at != head; at = at->next)
		if (at == entry)
			return true;
	return false;
}

static void check_slot(const struct vqp_rx *rx)
{
	const bool live = rx->state == VQP_RX_OPEN || rx->state == VQP_RX_FAILED;
	u32 buckets = 0;

	for (u32 i = 0; i < 2; i++)
		buckets += has(&env.buckets[i], &rx->hash);
	fuzz_check(buckets == (rx->state != VQP_RX_FREE));
	fuzz_check(has(live ? &env.tab.live : &env.tab.spare, &rx->lru));
	fuzz_check(rx->receiving == (rx->recv != NULL) || !live);
	if (live)
		check_held(rx);
	fuzz_check(live == (rx->ns != NULL) || rx->state == VQP_RX_FREE);
	fuzz_check(rx->state == VQP_RX_OPEN || !rx->receiving);
	fuzz_check(rx->state != VQP_RX_FAILED || (rx->nak && rx->nak <= VQP_NAK_MAX));
	if (rx->receiving) {
		const struct taken *taken = rx->recv;

		fuzz_check(taken && rx->msg_op == VQP_OP_SEND && taken->got == rx->msg_done);
	}
	for (const struct vqp_rx *other = rx + 1; other < env.slots + SLOTS; other++)
		fuzz_check(rx->state == VQP_RX_FREE || other->state == VQP_RX_FREE || rx->flow != other->flow ||
			   rx->src_epoch != other->src_epoch || memcmp(rx->node_gid, other->node_gid, 16));
}

static void check_table(void)
{
	bool used = false;

	fuzz_check(count(&env.tab.spare) + count(&env.tab.live) == SLOTS);
	fuzz_check(count(&env.tab.live) == env.tab.nlive && env.tab.nlive <= LIVE);
	for (u32 i = 0; i < 2; i++)
		count(&env.buckets[i]);
	for (u32 i = 0; i < SLOTS; i++)
		check_slot(&env.slots[i]);
	/* free ones come first */
	for (const struct list_head *at = env.tab.spare.next; at != &env.tab.spare; at = at->next) {
		const bool is_free = list_entry(at, struct vqp_rx, lru)->state == VQP_RX_FREE;

		fuzz_check(!is_free || !used);
		used |= !is_free;
	}
	fuzz_check(env.begun - env.ended <= SLOTS && env.opens - env.closes <= SLOTS);
}

/* As far as a flow's sender can tell, PSNs are carried out in order, none twice, until its context was let go. */
static void check_once(const struct vqp_rx *rx)
{
	struct key *key = &env.keys[env.key];

	if (rx->src_epoch != 3)		/* one life of each node is followed */
		return;
	/* It may go on less than 2^31 PSNs further, and carries out the packet that says so. */
	if (key->live)
		fuzz_check(rx->psn - key->psn <= 1U << 31);
	key->psn = rx->psn;
	key->live = true;
}

/* ---- Events ---- */

static void read_sizes(struct fuzz *in, struct vqp_pkt *pkt)
{
	static const u32 sizes[] = { 0, 1, PAYLOAD - 1, PAYLOAD, PAYLOAD + 1, 3 * PAYLOAD, 16 * PAYLOAD, VQP_WIRE_MSG_MAX };

	pkt->msg_bytes = sizes[fuzz_below(in, 8)];
	pkt->offset = fuzz_below(in, 5) * (PAYLOAD / 2);
	pkt->payload_bytes = sizes[fuzz_below(in, 5)];
	if (vqp_op_returns_data(pkt->op))
		pkt->payload_bytes = 0;
}

static struct vqp_pkt read_packet(struct fuzz *in)
{
	static const u8 ops[] = { VQP_OP_SEND, VQP_OP_WRITE, VQP_OP_READ, VQP_OP_CLOSE };
	struct vqp_pkt pkt = { .src_epoch = 3, .dst_epoch = EPOCH, .tenant = 1, .src_lanes = 1, .payload = data };
	const struct key *key = &env.keys[env.key];
	const u8 odd = fuzz_byte(in);

	pkt.op = odd == 1 ? fuzz_byte(in) : ops[odd >> 6];
	if (pkt.op == VQP_OP_READ && odd & 0x20)
		pkt.op = odd & 0x10 ? VQP_OP_CMP_SWP : VQP_OP_FETCH_ADD;
	pkt.flow = env.key % FLOWS;
	pkt.flags = fuzz_byte(in) & VQP_PKT_FLAGS_ALL;
	if (pkt.op == VQP_OP_CLOSE)
		pkt.flags = 0;		/* vqp_wire_parse() sees to that */
	pkt.psn = (key->live ? key->psn : FIRST_PSN) + fuzz_delta(in);
	pkt.open_psn = pkt.flags & VQP_PKT_OPEN ? pkt.psn - fuzz_below(in, 4) : 0;
	pkt.turn = fuzz_byte(in);
	read_sizes(in, &pkt);
	if (odd == 2)
		pkt.src_epoch = fuzz_byte(in);
	if (odd == 3)
		pkt.dst_epoch = fuzz_byte(in);
	if (odd == 4)
		pkt.dst_port = fuzz_byte(in);
	if (pkt.flags & VQP_PKT_OPEN) {
		pkt.stamp = vqp_clock_stamp(0, env.now * CLOCK_SPEED) - (odd == 6 ? fuzz_byte(in) : 0);
		pkt.age = odd == 7 ? fuzz_byte(in) : 0;
		pkt.echo = odd & 8 ? env.drawn : 0;
	}
	pkt.addr = odd == 5 ? ~0ULL - fuzz_byte(in) : 4096;
	pkt.rkey = odd;
	return pkt;
}

static struct vqp_rx *find(const struct vqp_pkt *pkt, const u8 *node_gid)
{
	for (u32 i = 0; i < SLOTS; i++)
		if (env.slots[i].state != VQP_RX_FREE && env.slots[i].flow == pkt->flow &&
		    env.slots[i].src_epoch == pkt->src_epoch && !memcmp(env.slots[i].node_gid, node_gid, 16))
			return &env.slots[i];
	return NULL;
}

/* The context of a flow of the life that is followed, or NULL. */
static struct vqp_rx *find_key(u32 key)
{
	const struct vqp_pkt pkt = { .flow = key % FLOWS, .src_epoch = 3 };
	const u8 node[16] = { key / FLOWS };

	return find(&pkt, node);
}

/* Have the packet arrive. Returns its flow's context, or NULL. */
static struct vqp_rx *deliver(const struct vqp_pkt *pkt)
{
	struct key *key = &env.keys[env.key];
	const u8 node[16] = { env.key / FLOWS };
	struct vqp_rx *rx;

	env.pkt = pkt;
	env.answers = 0;
	env.delivered = 0;
	env.held_before = env.held;
	env.read_bytes = 0;
	vqp_rxtab_input(&env.tab, node, &env, pkt, env.now);
	rx = find(pkt, node);
	/* its context may have been taken for another flow */
	for (u32 i = 0; i < KEYS; i++)
		env.keys[i].live = env.keys[i].live && find_key(i);
	if (env.dead)
		key->live = false;
	else if (rx)
		check_once(rx);
	return rx;
}

/* Has the context noted the packet's stamp? */
static bool has_seen(const struct vqp_rx *rx, const struct vqp_pkt *pkt)
{
	return pkt->flags & VQP_PKT_OPEN && pkt->src_epoch == 3 && rx && rx->last_us == env.now &&
	       !vqp_clock_before(rx->stamp, pkt->stamp);
}

static void packet(struct fuzz *in, u8 how)
{
	struct vqp_pkt pkt;

	env.key = how % KEYS;
	pkt = read_packet(in);
	env.faults = how & 0x40 ? fuzz_byte(in) : 0;
	if (has_seen(deliver(&pkt), &pkt))
		env.seen[env.nseen++ % COPIES] = (struct seen) { pkt, env.key };
}

/* A copy comes of a packet that a context has seen. */
static void copy_comes(struct fuzz *in)
{
	const struct seen seen = env.seen[fuzz_below(in, COPIES)];
	const struct vqp_rx *rx, *before;
	u32 psn = 0;

	if (!seen.pkt.op)
		return;
	env.key = seen.key;
	env.faults = 0;
	before = find_key(env.key);
	if (before)
		psn = before->psn;
	rx = deliver(&seen.pkt);
	fuzz_check(before || !rx);
	if (rx && !seen.pkt.echo)
		fuzz_check(rx->psn - psn <= VQP_MASK_BITS);
}

static bool match(const struct vqp_rx *rx, void *arg)
{
	fuzz_check(rx->receiving);
	return key_of(rx) == *(u32 *)arg;
}

/* A namespace's end takes its flows' history with it. */
static void forget(void)
{
	for (u32 i = 0; i < KEYS; i++)
		env.keys[i].live = false;
}

static void step(struct fuzz *in)
{
	const u8 what = fuzz_byte(in);
	u32 key;

	if (what < 0xc0) {
		packet(in, what);
	} else if (what < 0xc8) {
		copy_comes(in);
	} else if (what < 0xe8) {
		env.now += (what & 1) ? LINGER / 2 : fuzz_number(in, 2);
	} else if (what < 0xf0) {
		key = what % KEYS;
		vqp_rxtab_break(&env.tab, match, &key);
	} else if (what < 0xf8) {
		env.dead = what & 1;
		forget();
	} else {
		vqp_rxtab_purge(&env.tab, what & 1 ? &ns : NULL);
		forget();
	}
	check_table();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t bytes)
{
	struct fuzz in = { input, bytes };

	memset(&env, 0, sizeof(env));
	env.now = 1000000;
	/* The clock of one node is known, and that of the other is not. */
	env.clocks[0] = (struct vqp_clock) {
		.random = draw, .known = true, .epoch = 3, .proven = vqp_clock_stamp(0, env.now * CLOCK_SPEED), .proven_us = env.now * CLOCK_SPEED,
	};
	env.clocks[1].random = draw;
	vqp_rxtab_init(&env.tab, &fake_ops, env.slots, SLOTS, LIVE, env.buckets, 2, PAYLOAD, EPOCH, LINGER, IDLE);
	while (in.left)
		step(&in);
	vqp_rxtab_purge(&env.tab, NULL);
	fuzz_check(env.opens == env.closes && env.begun == env.ended && !env.held);
	fuzz_check(count(&env.tab.spare) == SLOTS && !env.tab.nlive);
	return 0;
}
