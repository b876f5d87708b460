// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include "tap.h"

#define ROCE_PORT	4791
#define BTH_BYTES	12
#define DETH_BYTES	8
#define ICRC_BYTES	4
#define OPCODE_UD_SEND	0x64
#define BUFFER_BYTES	(8 << 20)

void tap_open(struct tap *tap, const char *interface, u32 target)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		/* Outgoing packets are shown to those only who see all. */
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	int bytes = BUFFER_BYTES;

	tap->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (tap->fd < 0 || setsockopt(tap->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(tap->fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "cannot listen on %s", interface);
	tap->target = target;
}

static u32 be24(const u8 *at)
{
	return (u32)at[0] << 16 | (u32)at[1] << 8 | at[2];
}

static u32 be32(const u8 *at)
{
	return (u32)at[0] << 24 | be24(at + 1);
}

/* An IP packet; false unless it is one of vqp's. */
static bool tap_dissect(const struct tap *tap, const u8 *buf, size_t bytes, struct tapped *out)
{
	const struct iphdr *ip = (const void *)buf;
	const size_t headers = sizeof(struct udphdr) + BTH_BYTES + DETH_BYTES + ICRC_BYTES;
	const struct udphdr *udp;
	const u8 *bth;
	size_t length;

	if (bytes < sizeof(*ip) || ip->protocol != IPPROTO_UDP || (ip->saddr != tap->target && ip->daddr != tap->target))
		return false;
	length = 4UL * ip->ihl;
	udp = (const void *)(buf + length);
	bth = (const u8 *)(udp + 1);
	if (bytes < length + headers + 3 || udp->dest != htons(ROCE_PORT) || bth[0] != OPCODE_UD_SEND)
		return false;
	length = bytes - length - headers - (bth[1] >> 4 & 3);
	if (length > TAP_BYTES)
		return false;
	out->outgoing = ip->daddr == tap->target;
	out->qpn = be24(bth + 5);
	out->qkey = be32(bth + BTH_BYTES);
	out->bytes = (u32)length;
	memcpy(out->data, bth + BTH_BYTES + DETH_BYTES, length);
	return !vqp_wire_parse(out->data, out->bytes, &out->pkt);
}

void tap_read(struct tap *tap)
{
	u8 buf[TAP_BYTES + 256];
	ssize_t n;

	while ((n = recv(tap->fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		if (tap_dissect(tap, buf, (size_t)n, &tap->packets[tap->count % TAP_PACKETS]))
			tap->count++;
}

const struct tapped *tap_recent(const struct tap *tap, bool outgoing, u32 n)
{
	u32 kept = tap->count < TAP_PACKETS - 1 ? tap->count : TAP_PACKETS - 1, i;
	const struct tapped *found = NULL, *at;

	for (i = 1; i <= kept; i++) {
		at = &tap->packets[(tap->count - i) % TAP_PACKETS];
		if (at->outgoing != outgoing)
			continue;
		found = at;
		if (!n--)
			break;
	}
	return found;
}
