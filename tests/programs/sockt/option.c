// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Options: what is set is read back; what is not set is as TCP has it. */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "sockt.h"

/* linux/tcp.h and netinet/tcp.h do not go together */
#define STATE_ESTABLISHED 1
#define STATE_CLOSE 7
#define STATE_LISTEN 10

static const struct option {
	const char *name;
	int level, number, value;
	int reads;	/* what is read then; 0: the same */
} table[] = {
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1, 0 },
	{ "TCP_CORK", IPPROTO_TCP, TCP_CORK, 1, 0 },
	{ "TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 61, 0 },
	{ "TCP_KEEPINTVL", IPPROTO_TCP, TCP_KEEPINTVL, 11, 0 },
	{ "TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, 5, 0 },
	{ "TCP_SYNCNT", IPPROTO_TCP, TCP_SYNCNT, 3, 0 },
	{ "TCP_LINGER2", IPPROTO_TCP, TCP_LINGER2, 20, 0 },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 30000, 0 },
	{ "TCP_QUICKACK", IPPROTO_TCP, TCP_QUICKACK, 1, 0 },
	{ "TCP_MAXSEG", IPPROTO_TCP, TCP_MAXSEG, 1000, -1 },	/* how much it is, is known when it is connected */
	{ "TCP_WINDOW_CLAMP", IPPROTO_TCP, TCP_WINDOW_CLAMP, 100000, 0 },
	{ "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16384, 0 },
	{ "TCP_INQ", IPPROTO_TCP, TCP_INQ, 1, 0 },
	{ "TCP_THIN_LINEAR_TIMEOUTS", IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1, 0 },
	{ "TCP_SAVE_SYN", IPPROTO_TCP, TCP_SAVE_SYN, 1, 0 },
	{ "TCP_FASTOPEN_CONNECT", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1, 0 },
	{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1, 0 },
	{ "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1, 0 },
	{ "SO_REUSEPORT", SOL_SOCKET, SO_REUSEPORT, 1, 0 },
	{ "SO_OOBINLINE", SOL_SOCKET, SO_OOBINLINE, 1, 0 },
	{ "SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, 100, 0 },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 20000, 40000 },
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 20000, 40000 },
	{ "SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, 3, 0 },
	{ "SO_DONTROUTE", SOL_SOCKET, SO_DONTROUTE, 1, 0 },
	{ "SO_BROADCAST", SOL_SOCKET, SO_BROADCAST, 1, 0 },
	{ "SO_TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP, 1, 0 },
	{ "SO_BUSY_POLL", SOL_SOCKET, SO_BUSY_POLL, 10, 0 },
	{ "SO_INCOMING_CPU", SOL_SOCKET, SO_INCOMING_CPU, 0, -1 },	/* of the last packet */
	{ "SO_MAX_PACING_RATE", SOL_SOCKET, SO_MAX_PACING_RATE, 1000000, 0 },
};

static const struct option ip_table[] = {
	{ "IP_TOS", IPPROTO_IP, IP_TOS, 0x10, 0 },
	{ "IP_TTL", IPPROTO_IP, IP_TTL, 33, 0 },
	{ "IP_RECVERR", IPPROTO_IP, IP_RECVERR, 1, 0 },
	{ "IP_BIND_ADDRESS_NO_PORT", IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1, 0 },
	{ "IP_MTU_DISCOVER", IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, 0 },
};

static const struct option ipv6_table[] = {
	{ "IPV6_TCLASS", IPPROTO_IPV6, IPV6_TCLASS, 0x10, 0 },
	{ "IPV6_UNICAST_HOPS", IPPROTO_IPV6, IPV6_UNICAST_HOPS, 33, 0 },
	{ "IPV6_V6ONLY", IPPROTO_IPV6, IPV6_V6ONLY, 1, 0 },
};

/* Set each of a list, and read it back; those of `after` can be set when it is connected. */
static int read_back(const struct option *o, size_t count, int fd, bool connected)
{
	int wrong = 0;

	for (; count--; o++) {
		socklen_t len = sizeof(int);
		int value = -1, want = o->reads ? o->reads : o->value;

		if (connected && (o->number == TCP_FASTOPEN_CONNECT || o->number == IPV6_V6ONLY ||
				  o->number == IP_BIND_ADDRESS_NO_PORT))
			continue;
		if (setsockopt(fd, o->level, o->number, &o->value, sizeof(o->value)) ||
		    getsockopt(fd, o->level, o->number, &value, &len)) {
			printf("# %s: %s\n", o->name, strerrorname_np(errno));
			wrong++;
		} else if (value != want && o->reads >= 0) {
			printf("# %s: %d, not %d\n", o->name, value, want);
			wrong++;
		}
	}
	return wrong;
}

static int read_back_all(struct sockt *t, int fd, bool connected)
{
	return read_back(table, ARRAY_SIZE(table), fd, connected) +
		(t->family == AF_INET ? read_back(ip_table, ARRAY_SIZE(ip_table), fd, connected) :
		 read_back(ipv6_table, ARRAY_SIZE(ipv6_table), fd, connected));
}

static void set(struct sockt *t)
{
	int listener = sock_listen(t, 1);

	WANT_EQ(read_back_all(t, sock_new(t, 0), false), 0);
	WANT_EQ(read_back_all(t, sock_pair(t, CLIENT, 0), true), 0);
	far_do(t, "connect 1 %d", sock_port(listener));
	WANT_EQ(read_back_all(t, sock_accept(listener), true), 0);
}

/* What an option says that nobody has set, or an errno */
static int untouched(int fd, const struct option *o)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(fd, o->level, o->number, &value, &len) ? -errno : value;
}

static int compare(const struct option *o, size_t count, int fd, int tcp)
{
	int wrong = 0;

	for (; count--; o++) {
		int is = untouched(fd, o), want = untouched(tcp, o);

		if (is == want)
			continue;
		printf("# %s: %d, of TCP: %d\n", o->name, is, want);
		wrong++;
	}
	return wrong;
}

static void defaults(struct sockt *t)
{
	int tcp = NEED(socket(t->family, SOCK_STREAM, IPPROTO_TCP)), fd = sock_new(t, 0), wrong;

	wrong = compare(table, ARRAY_SIZE(table), fd, tcp);
	if (t->family == AF_INET)
		wrong += compare(ip_table, ARRAY_SIZE(ip_table), fd, tcp);
	else
		wrong += compare(ipv6_table, ARRAY_SIZE(ipv6_table), fd, tcp);
	WANT_EQ(wrong, 0);
}

/* What is set before is still set when it is connected, and accepted sockets have their listener's. */
static void kept(struct sockt *t)
{
	static const struct option some[] = {
		{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1, 0 },
		{ "TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 61, 0 },
		{ "TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, 5, 0 },
		{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 30000, 0 },
		{ "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, 16384, 0 },
		{ "TCP_SYNCNT", IPPROTO_TCP, TCP_SYNCNT, 3, 0 },
		{ "TCP_LINGER2", IPPROTO_TCP, TCP_LINGER2, 20, 0 },
		{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1, 0 },
		{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 20000, 40000 },
		{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 20000, 40000 },
	};
	int client = sock_new(t, 0), listener = sock_new(t, 0), server;
	size_t i;

	WANT_EQ(read_back(some, ARRAY_SIZE(some), client, false), 0);
	WANT_EQ(read_back(some, ARRAY_SIZE(some), listener, false), 0);
	NEED(sock_connect(client, sock_far(t, (int)far_do(t, "listen 0 1"))));
	NEED(sock_bind(listener, sock_near(t, 0)));
	NEED(listen(listener, 1));
	far_do(t, "connect 1 %d", sock_port(listener));
	server = sock_accept(listener);
	for (i = 0; i < ARRAY_SIZE(some); i++) {
		int want = some[i].reads ? some[i].reads : some[i].value;

		if (untouched(client, &some[i]) != want || untouched(server, &some[i]) != want)
			check_fail(__FILE__, __LINE__, "%s is %d of the client and %d of what was accepted, not %d",
				   some[i].name, untouched(client, &some[i]), untouched(server, &some[i]), want);
	}
}

static void identity(struct sockt *t)
{
	int listener = sock_listen(t, 1), fd = sock_pair(t, CLIENT, 0), accepted = sock_pair(t, SERVER, 1), i;
	int fds[] = { sock_new(t, 0), listener, fd, accepted };

	for (i = 0; i < (int)ARRAY_SIZE(fds); i++) {
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_TYPE), SOCK_STREAM);
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_DOMAIN), t->family);
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_PROTOCOL), t->shown);
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_ACCEPTCONN), i == 1);
		WANT_EQ(sock_get(fds[i], SOL_SOCKET, SO_ERROR), 0);
	}
}

static void refused(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0), value = 1;
	socklen_t len = sizeof(value);

	WANT_ERR(setsockopt(fd, IPPROTO_TCP, 9999, &value, sizeof(value)), ENOPROTOOPT);
	WANT_ERR(getsockopt(fd, IPPROTO_TCP, 9999, &value, &len), ENOPROTOOPT);
	WANT_ERR(setsockopt(fd, SOL_SOCKET, 9999, &value, sizeof(value)), ENOPROTOOPT);
	WANT_ERR(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, 1), EINVAL);
	WANT_ERR(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, NULL, 4), EFAULT);
	WANT_ERR(setsockopt(fd, IPPROTO_UDP, 1, &value, sizeof(value)), ENOPROTOOPT);
	value = -1;
	WANT_ERR(setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof(value)), EINVAL);
	value = 0;
	WANT_ERR(setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &value, sizeof(value)), EINVAL);
	WANT_ERR(ioctl(fd, 0x54ff, &value), ENOTTY);
	/* a short buffer has a part */
	len = 1;
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &len));
	WANT_EQ(len, 1);
}

static void info(struct sockt *t)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	int fd = sock_new(t, 0), listener = sock_listen(t, 3);

	NEED(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	WANT_EQ(info.tcpi_state, STATE_CLOSE);
	NEED(getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &len));
	WANT_EQ(info.tcpi_state, STATE_LISTEN);
	fd = sock_pair(t, CLIENT, 0);
	DONE(io_send(fd, NEAR_BASE, 5000, 0, 0));
	far_do(t, "recv 0 %llu 5000 0", NEAR_BASE);
	len = sizeof(info);
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	WANT(len > offsetof(struct tcp_info, tcpi_total_retrans));
	WANT_EQ(info.tcpi_state, STATE_ESTABLISHED);
	WANT(info.tcpi_snd_mss > 0);
	/* as old programs ask */
	len = 8;
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	WANT_EQ(len, 8);
}

static void congestion(struct sockt *t)
{
	char name[16] = "", back[16] = "";
	socklen_t len = sizeof(name);
	int fd = sock_new(t, 0);

	NEED(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	WANT(name[0]);
	NEED(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
	len = sizeof(back);
	NEED(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, back, &len));
	WANT_EQ(strcmp(back, "reno"), 0);
	WANT_ERR(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "nosuch", 6), ENOENT);
	fd = sock_pair(t, CLIENT, 0);
	NEED(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4));
}

static void segment(struct sockt *t)
{
	int fd = sock_pair(t, CLIENT, 0);

	WANT(sock_get(fd, IPPROTO_TCP, TCP_MAXSEG) >= 500);
}

static void device(struct sockt *t)
{
	char name[16] = "?";
	socklen_t len = sizeof(name);
	int fd = sock_new(t, 0);

	NEED(getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	WANT_EQ(len, 0);
	WANT_ERR(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nosuch0", 8), ENODEV);
}

static void cookie(struct sockt *t)
{
	uint64_t a = 0, b = 0, again = 0;
	socklen_t len = sizeof(a);
	int one = sock_new(t, 0), two = sock_new(t, 0);

	NEED(getsockopt(one, SOL_SOCKET, SO_COOKIE, &a, &len));
	NEED(getsockopt(two, SOL_SOCKET, SO_COOKIE, &b, &len));
	NEED(getsockopt(one, SOL_SOCKET, SO_COOKIE, &again, &len));
	WANT(a && b && a != b && a == again);
}

const struct sockt_case option_cases[] = {
	{ "option-set", "each is read back; before, when connected, when accepted", set },
	{ "option-defaults", "as a TCP socket has them", defaults },
	{ "option-kept", "through connect(), and from listener to accepted", kept },
	{ "option-identity", "SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN, SO_ERROR", identity },
	{ "option-wrong", "ENOPROTOOPT, EINVAL, EFAULT, ENOTTY", refused },
	{ "option-info", "TCP_INFO", info },
	{ "option-congestion", "TCP_CONGESTION", congestion },
	{ "option-segment", "TCP_MAXSEG of a connection", segment },
	{ "option-device", "SO_BINDTODEVICE", device },
	{ "option-cookie", "SO_COOKIE", cookie },
	{ 0 }
};
