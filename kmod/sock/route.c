// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/security.h>
#include <net/inet_sock.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "sock/inner.h"
#include "sock/route.h"
#include "sock/sock.h"
#include "sock/stream.h"

static struct in6_addr *in6_of(u8 *gid)
{
	return (struct in6_addr *)gid;
}

static __be32 in4_of(const u8 *gid)
{
	return ((const struct in6_addr *)gid)->s6_addr32[3];
}

static bool is_v4(const u8 *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

bool vqp_route_parse(const struct sock *sk, const void *addr, int bytes, struct vqp_names *names)
{
	const struct sockaddr_in6 *sin6 = addr;
	const struct sockaddr_in *sin = addr;
	__be32 v4;

	if (bytes < (int)sizeof(*sin) || sin->sin_family != sk->sk_family)
		return false;
	if (sk->sk_family == AF_INET) {
		ipv6_addr_set_v4mapped(sin->sin_addr.s_addr, in6_of(names->remote));
		names->remote_port = ntohs(sin->sin_port);
	} else {
		if (bytes < SIN6_LEN_RFC2133)
			return false;
		memcpy(names->remote, &sin6->sin6_addr, sizeof(names->remote));
		names->remote_port = ntohs(sin6->sin6_port);
	}
	if (!names->remote_port)
		return false;
	if (!is_v4(names->remote))
		return (ipv6_addr_type(in6_of(names->remote)) &
			(IPV6_ADDR_UNICAST | IPV6_ADDR_LINKLOCAL)) == IPV6_ADDR_UNICAST;
	v4 = in4_of(names->remote);
	return v4 && !ipv4_is_multicast(v4) && !ipv4_is_lbcast(v4) && !ipv4_is_loopback(v4);
}

/* What bind(2) has given. False: TCP is to deal with it. */
static bool route_bound(const struct sock *sk, struct vqp_names *names)
{
	const struct socket *inner = vqp_inner_of(vqp_sk(sk));
	const struct sock *isk;

	memset(names->local, 0, sizeof(names->local));
	names->local_port = 0;
	isk = inner ? inner->sk : sk;
	/* Another family's address than the peer's is refused by TCP, in its own words. */
	if (isk->sk_family == AF_INET6 && is_v4(names->remote) && ipv6_only_sock(isk))
		return false;
	if (!inner)
		return true;
	if (isk->sk_family == AF_INET6) {
		memcpy(names->local, &isk->sk_v6_rcv_saddr, sizeof(names->local));
		if (!ipv6_addr_any(&isk->sk_v6_rcv_saddr) &&
		    is_v4(names->local) != is_v4(names->remote))
			return false;
	} else if (inet_sk(isk)->inet_rcv_saddr) {
		ipv6_addr_set_v4mapped(inet_sk(isk)->inet_rcv_saddr, in6_of(names->local));
	}
	names->local_port = inet_sk(isk)->inet_num;
	return true;
}

/* False also where IPsec transforms what goes there, since only packets can be. */
static bool route_find4(struct sock *sk, struct vqp_names *names)
{
	struct flowi4 fl4 = {
		.daddr = in4_of(names->remote),
		.saddr = in4_of(names->local),
		.fl4_dport = htons(names->remote_port),
		.fl4_sport = htons(names->local_port),
		.flowi4_uid = sock_net_uid(sock_net(sk), sk),
		.flowi4_oif = sk->sk_bound_dev_if,
		.flowi4_mark = sk->sk_mark,
		.flowi4_proto = IPPROTO_TCP,
	};
	struct rtable *rt;
	bool plain;

	security_sk_classify_flow(sk, flowi4_to_flowi_common(&fl4));
	rt = ip_route_output_flow(sock_net(sk), &fl4, sk);
	if (IS_ERR(rt))
		return false;
	plain = !dst_xfrm(&rt->dst);
	ip_rt_put(rt);
	ipv6_addr_set_v4mapped(fl4.saddr, in6_of(names->local));
	return plain;
}

static bool route_find6(struct sock *sk, struct vqp_names *names)
{
	struct flowi6 fl6 = {
		.daddr = *in6_of(names->remote),
		.saddr = *in6_of(names->local),
		.fl6_dport = htons(names->remote_port),
		.fl6_sport = htons(names->local_port),
		.flowi6_uid = sock_net_uid(sock_net(sk), sk),
		.flowi6_oif = sk->sk_bound_dev_if,
		.flowi6_mark = sk->sk_mark,
		.flowi6_proto = IPPROTO_TCP,
	};
	struct dst_entry *dst;
	bool plain;

	security_sk_classify_flow(sk, flowi6_to_flowi_common(&fl6));
	dst = ip6_dst_lookup_flow(sock_net(sk), sk, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	plain = !dst_xfrm(dst);
	dst_release(dst);
	*in6_of(names->local) = fl6.saddr;
	return plain;
}

bool vqp_route_find(struct sock *sk, struct vqp_names *names)
{
	if (!route_bound(sk, names))
		return false;
	return is_v4(names->remote) ? route_find4(sk, names) : route_find6(sk, names);
}

void vqp_route_name(struct sock *sk, const struct vqp_names *names)
{
	struct inet_sock *inet = inet_sk(sk);
	const bool v4 = is_v4(names->local);

	inet->inet_saddr = v4 ? in4_of(names->local) : 0;
	inet->inet_rcv_saddr = inet->inet_saddr;
	inet->inet_daddr = v4 ? in4_of(names->remote) : 0;
	memcpy(&sk->sk_v6_rcv_saddr, names->local, sizeof(names->local));
	memcpy(&sk->sk_v6_daddr, names->remote, sizeof(names->remote));
	inet->inet_num = names->local_port;
	inet->inet_sport = htons(names->local_port);
	inet->inet_dport = htons(names->remote_port);
}
