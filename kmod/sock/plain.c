// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include "base/compat.h"
#include "sock/plain.h"

bool vqp_option_is_copied(int name)
{
	switch (name) {
	case SO_DEBUG:
	case SO_REUSEADDR:
	case SO_REUSEPORT:
	case SO_DONTROUTE:
	case SO_BROADCAST:
	case SO_KEEPALIVE:
	case SO_OOBINLINE:
	case SO_LINGER:
	case SO_PRIORITY:
	case SO_MARK:
	case SO_BINDTODEVICE:
	case SO_BINDTOIFINDEX:
	case SO_SNDBUF:
	case SO_SNDBUFFORCE:
	case SO_RCVBUF:
	case SO_RCVBUFFORCE:
	case SO_RCVLOWAT:
	case SO_PEEK_OFF:
	case SO_RCVTIMEO_OLD:
	case SO_RCVTIMEO_NEW:
	case SO_SNDTIMEO_OLD:
	case SO_SNDTIMEO_NEW:
	case SO_MAX_PACING_RATE:
	case SO_BUSY_POLL:
		return true;
	}
	return false;
}

static bool socket_option_is_plain(int name)
{
	switch (name) {
	case SO_NO_CHECK:
	case SO_PASSCRED:
	case SO_PASSSEC:
	case SO_TIMESTAMP_OLD:
	case SO_TIMESTAMP_NEW:
	case SO_TIMESTAMPNS_OLD:
	case SO_TIMESTAMPNS_NEW:
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMPING_NEW:
	case SO_ZEROCOPY:
	case SO_PREFER_BUSY_POLL:
	case SO_BUSY_POLL_BUDGET:
	case SO_INCOMING_CPU:
	case SO_TXREHASH:
	case SO_BUF_LOCK:
	case SO_CNX_ADVICE:
	case SO_RXQ_OVFL:
	case SO_WIFI_STATUS:
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_DETACH_REUSEPORT_BPF:
		return true;
	}
	return false;
}

static bool tcp_option_is_plain(int name)
{
	switch (name) {
	case TCP_MAXSEG:
	case TCP_QUICKACK:
	case TCP_WINDOW_CLAMP:
	case TCP_CONGESTION:
	case TCP_THIN_LINEAR_TIMEOUTS:
	case TCP_THIN_DUPACK:
	case TCP_DEFER_ACCEPT:
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
	case TCP_TIMESTAMP:
	case TCP_TX_DELAY:
	case TCP_ULP:
		return true;
	}
	return false;
}

static bool ip_option_is_plain(int name)
{
	switch (name) {
	case IP_TOS:
	case IP_TTL:
	case IP_MTU_DISCOVER:
	case IP_RECVERR:
	case IP_RECVTOS:
	case IP_RECVTTL:
	case IP_FREEBIND:
	case IP_BIND_ADDRESS_NO_PORT:
	case IP_LOCAL_PORT_RANGE:
	case IP_PKTINFO:
		return true;
	}
	return false;
}

static bool ip6_option_is_plain(int name)
{
	switch (name) {
	case IPV6_V6ONLY:
	case IPV6_TCLASS:
	case IPV6_UNICAST_HOPS:
	case IPV6_MTU_DISCOVER:
	case IPV6_RECVERR:
	case IPV6_RECVTCLASS:
	case IPV6_RECVHOPLIMIT:
	case IPV6_RECVPKTINFO:
	case IPV6_FREEBIND:
	case IPV6_AUTOFLOWLABEL:
		return true;
	}
	return false;
}

bool vqp_option_is_plain(int level, int name)
{
	switch (level) {
	case SOL_SOCKET:
		return vqp_option_is_copied(name) || socket_option_is_plain(name);
	case SOL_TCP:
		return tcp_option_is_plain(name);
	case SOL_IP:
		return ip_option_is_plain(name);
	case SOL_IPV6:
		return ip6_option_is_plain(name);
	}
	return false;
}
