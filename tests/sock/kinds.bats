#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:240
# Stream sockets of the protocol IPPROTO_VQP: which connections go by vqp and which by TCP, and what
# ends with what. What a program sees of a socket is not tried here, and who asks for TCP gets TCP: the
# hook has a suite of its own.
#
#   sock-a 10.91.0.1 fd91::1 ── veth ── socks (bridge) ── veth ── sock-b 10.91.0.2 fd91::2

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/kinds.bash

setup_file() {
	vqp_up
	on 1 'hook N; boxes'
}

teardown() {
	on 1 'stop_socks && stop_all && give_all on && nothing_left'
}

teardown_file() {
	on 1 'no_boxes; hook Y'
}

@test "near: both ends' namespaces have sockets on" {
	on 1 'sock sock-b serve 10.91.0.2 7000; kinds 2 0 sock sock-a talk 10.91.0.2 7000'
}

@test "near: 3 MB each way, which is more than a window" {
	on 1 'sock sock-b serve 0.0.0.0 7000; kinds 2 0 sock sock-a talk 10.91.0.2 7000 3000000'
}

@test "near: IPv6, and IPv4 to a listener of both" {
	on 1 'sock sock-b serve :: 7000
		kinds 2 0 sock sock-a talk fd91::2 7000
		kinds 2 0 sock sock-a talk 10.91.0.2 7000'
}

@test "near: to an address of its own" {
	on 1 'sock sock-a serve 0.0.0.0 7000; kinds 2 0 sock sock-a talk 10.91.0.1 7000'
}

@test "no sockets: they are off, there is no VQP namespace, or it is the node itself" {
	on 1 'give sock-a 1 off; sock sock-a no_socket
		vqpctl ns del --netns sock-a; sock sock-a no_socket
		/vqp/tests/sock/kinds.py no_socket'
}

@test "TCP: sockets are off at the peer, or have been turned off since the socket was made" {
	on 1 'sock sock-b serve 0.0.0.0 7000
		give sock-b 2 off; kinds 0 2 sock sock-a talk 10.91.0.2 7000
		give sock-b 2 on; sock sock-a talk_once 10.91.0.2 7000 /run/vqp/go
		give sock-a 1 off; kinds 0 2 go /run/vqp/go'
}

@test "near: a connection, be it accepted or not, goes on when sockets are turned off" {
	on 1 'sock sock-b serve 0.0.0.0 7000 258 "" /run/vqp/go-b
		kinds 1 0 sock sock-a talk_connected 10.91.0.2 7000 /run/vqp/go
		give sock-a 1 off; give sock-b 2 off; kinds 1 0 eval "touch /run/vqp/go-b; go /run/vqp/go"'
}

@test "TCP: another tenant" {
	on 1 'sock sock-b serve 0.0.0.0 7000
		vqpctl ns del --netns sock-a
		vqpctl ns add --netns sock-a --tenant 10 --address 10.91.0.1 --name sock-a --sockets on --without-policy
		kinds 0 2 sock sock-a talk 10.91.0.2 7000
		vqpctl ns del --netns sock-a'
}

@test "TCP: the peer's listener is one of TCP" {
	on 1 'sock sock-b serve 0.0.0.0 7000 6; kinds 0 1 sock sock-a talk 10.91.0.2 7000'
}

@test "TCP: loopback, and an address without a VQP namespace" {
	on 1 'sock sock-b serve 0.0.0.0 7000
		kinds 0 2 sock sock-b talk 127.0.0.1 7000
		vqpctl ns del --tenant 9 --address 10.91.0.2
		kinds 0 2 sock sock-a talk 10.91.0.2 7000'
}

@test "TCP: with an option for packets, or a listener of one device" {
	on 1 'sock sock-b serve 0.0.0.0 7000; kinds 0 2 sock sock-a talk_filtered 10.91.0.2 7000
		sock sock-b serve 0.0.0.0 7001 258 eth0; kinds 0 2 sock sock-a talk 10.91.0.2 7001'
}

@test "the inner socket, and what TCP has accepted, are none of the kernel's: no MPTCP subflow" {
	on 1 'sock sock-a no_mptcp 10.91.0.1 7000'
}

@test "a listener that was dissolved gets nothing of the next one's, and may listen at another port" {
	on 1 'kinds 40 0 sock sock-a listens_no_more 10.91.0.1 7000; kinds 6 0 sock sock-a listens_again 10.91.0.1 0'
}

@test "a thread that waits at a connection is told when another dissolves it" {
	on 1 'sock sock-a dissolved 10.91.0.1 7000'
}

@test "several threads accept at one listener" {
	on 1 'kinds 320 40 sock sock-a accepters 10.91.0.1 7000 200'
}

@test "a reader that waits for much goes on where the sender's limit is a page" {
	on 1 'vqpctl ns set --netns sock-a --max-bytes 4096
		sock sock-b slow_reader 10.91.0.2 7000; sock sock-a slow_sender 10.91.0.2 7000
		vqpctl ns set --netns sock-a --max-bytes unlimited'
}

@test "a namespace whose peers leave much unread goes on by TCP, and others near" {
	on 1 'sock sock-b hold 10.91.0.2 7000; sock sock-b serve 10.91.0.2 7001
		sock sock-a fill 10.91.0.2 7000 90
		kinds 0 2 sock sock-a talk 10.91.0.2 7001; kinds 2 0 sock sock-b talk 10.91.0.2 7001 3000000'
}

@test "nobody listens: refused, at once or later, as TCP does it" {
	on 1 'kinds 0 1 sock sock-a refused 10.91.0.2 7001
		kinds 0 1 sock sock-a refused_later 10.91.0.2 7001'
}

@test "beyond the backlog connections go by TCP" {
	on 1 'sock sock-b backlog 10.91.0.2 7000; kinds 3 2 sock sock-a keep 10.91.0.2 7000 5'
}

@test "what was not accepted ends with its listener" {
	on 1 'sock sock-b backlog 10.91.0.2 7000; sock sock-a broken 10.91.0.2 7000
		pkill -9 -f "kinds.py [b]acklog"; eventually eval "[[ \$(</run/vqp/broken) == ECONNRESET ]]"'
}

@test "a namespace that goes breaks its connections" {
	on 1 'rm -f /run/vqp/broken; sock sock-b hold 10.91.0.2 7000; sock sock-a broken 10.91.0.2 7000
		vqpctl ns del --netns sock-b; eventually eval "[[ \$(</run/vqp/broken) == ECONNRESET ]]"'
}

# 1: VQP_RAAS_RC, 2: SEND, 4: WRITE, 8: READ
@test "RaaS: near, into registered memory; what the flags demand and is not there is refused" {
	on 1 'serve sock-b raas-server 10.91.0.2 7000 0
		kinds 2 0 inside sock-a vqpt --bytes=3M raas 10.91.0.2 7000 0
		kinds 2 0 inside sock-a vqpt --bytes=300K --arena raas 10.91.0.2 7000 1
		for flags in 2 3 4 8; do kinds 2 0 raas_fails sock-a $flags "send: EOPNOTSUPP" 10.91.0.2 7000; done
		stop_all'
}

@test "RaaS: TCP where it cannot be near, unless the flags keep that out, at either end" {
	on 1 'serve sock-b raas-server :: 7000 0
		give sock-a 1 off
		kinds 0 1 inside sock-a vqpt --bytes=3M raas 10.91.0.2 7000 0
		raas_fails sock-a 1 "connect: EPROTONOSUPPORT" 10.91.0.2 7000
		give sock-a 1 on; stop_all; sock sock-b serve 0.0.0.0 7001 6
		kinds 0 1 inside sock-a vqpt --bytes=300K raas 10.91.0.2 7001 0
		kinds 0 1 raas_fails sock-a 1 "connect: EOPNOTSUPP" 10.91.0.2 7001
		serve sock-b raas-server 10.91.0.2 7002 1; give sock-a 1 off
		inside sock-a timeout 60 bash -c "exec 3<>/dev/tcp/10.91.0.2/7002; ! read -r <&3"
		give sock-a 1 on; kinds 2 0 inside sock-a vqpt --bytes=300K raas 10.91.0.2 7002 1; stop_all'
}

@test "a process that is killed leaves nothing" {
	on 1 'sock sock-b hold 10.91.0.2 7000; sock sock-a keep 10.91.0.2 7000 10
		(($(alive stream) == 10)); stop_socks; nothing_left'
}

@test "the module does not unload while there is a socket" {
	on 1 'sock sock-b serve 10.91.0.2 7000; run=0; rmmod vqp || run=$?; ((run)); [[ -e /sys/module/vqp ]]'
}

@test "a receive whose peer answers soon spins, and does not sleep" {
	on 1 'sock sock-b serve 10.91.0.2 7000; eventually spins_at_least 1 sock sock-a asks 10.91.0.2 7000 100 1000'
}

# What spins in vain does so in one of 64 waits before long.
@test "a receive whose peer takes its time seldom spins" {
	on 1 'spins_at_most 30 sock sock-a seldom 10.91.0.1 7000 200'
}

@test "a receive of a process whose cgroup had no processor left does not spin for a while" {
	on 1 'starve sock sock-a starves 10.91.0.1 7000 50 /run/vqp/go; spins_at_most 0 go /run/vqp/go'
}

@test "who waits by epoll does not sleep where busy polling is on" {
	on 1 'sock sock-b answers 10.91.0.2 7000; polled sock sock-a polls 10.91.0.2 7000 50'
}
