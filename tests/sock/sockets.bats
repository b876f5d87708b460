#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:800
# Stream sockets, by the cases of tests/programs/sockt. That they hold for TCP shows that what does not hold
# for another protocol is a difference that a program could meet.
#
#   node 1: near 10.95.1.2 --- br-sock --- beside 10.95.1.3
#                                 |
#                                data0
#                                 |
#   node 2: far  10.95.2.2 --- br-sock

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/sockets.bash
NODE_TIMEOUT=900

setup_file() {
	vqp_up
	on 1 'hook N; bridge 1; wired near 1 2; wired beside 1 3'
	on 2 'hook N; bridge 2; wired far 2 2; serve_cases far 10.95.2.2'
	on 1 'known near 10.95.2.2'
}

teardown() {
	on 1 'stop_serving && hook N'
}

teardown_file() {
	on 1 'wired_end 1 && hook Y' && on 2 'wired_end 2 && hook Y'
}

# PROTOCOL GROUP: between containers of one node, and of two
cases() {
	on 1 "cases_here $*"
	on 1 "cases_there $*"
}

# ---- TCP ----

@test "TCP: connect()" { cases 6 connect; }
@test "TCP: bind()" { cases 6 bind; }
@test "TCP: accept()" { cases 6 accept; }
@test "TCP: names, and IPv4 by sockets of IPv6" { cases 6 ipv6; }
@test "TCP: all bytes, once, in order" { cases 6 stream; }
@test "TCP: flags of send() and recv()" { cases 6 flags; }
@test "TCP: vectors" { cases 6 vector; }
@test "TCP: splice() and sendfile()" { cases 6 splice; }
@test "TCP: full and empty queues" { cases 6 queue; }
@test "TCP: shutdown(), close(), resets" { cases 6 end; }
@test "TCP: poll() and select()" { cases 6 poll; }
@test "TCP: epoll" { cases 6 epoll; }
@test "TCP: options" { cases 6 option; }
@test "TCP: fast open, deferred accept" { cases 6 fast; }
@test "TCP: sockets of several processes" { cases 6 share; }
@test "TCP: sockets of several threads" { cases 6 thread; }
@test "TCP: 1,000 connections" { cases 6 many; }
@test "TCP: io_uring" { cases 6 ring; }
@test "TCP: what users of other replacements of TCP have reported" { cases 6 report; }
@test "TCP: plain TCP on the other side" { cases 6 tcp; }
@test "TCP: the same by addresses of IPv6" { on 1 "cases_here6 6 connect bind ipv6 stream end"; }
@test "TCP: the same in one container, by its loopback address" { on 1 "cases_loopback 6 connect accept stream end"; }

# ---- vqp ----

@test "vqp: connect()" { cases 258 connect; }
@test "vqp: bind()" { cases 258 bind; }
@test "vqp: accept()" { cases 258 accept; }
@test "vqp: names, and IPv4 by sockets of IPv6" { cases 258 ipv6; }
@test "vqp: all bytes, once, in order" { cases 258 stream; }
@test "vqp: flags of send() and recv()" { cases 258 flags; }
@test "vqp: vectors" { cases 258 vector; }
@test "vqp: splice() and sendfile()" { cases 258 splice; }
@test "vqp: full and empty queues" { cases 258 queue; }
@test "vqp: shutdown(), close(), resets" { cases 258 end; }
@test "vqp: poll() and select()" { cases 258 poll; }
@test "vqp: epoll" { cases 258 epoll; }
@test "vqp: options" { cases 258 option; }
@test "vqp: fast open, deferred accept" { cases 258 fast; }
@test "vqp: sockets of several processes" { cases 258 share; }
@test "vqp: sockets of several threads" { cases 258 thread; }
@test "vqp: 1,000 connections" { cases 258 many; }
@test "vqp: io_uring" { cases 258 ring; }
@test "vqp: what users of other replacements of TCP have reported" { cases 258 report; }
@test "vqp: plain TCP on the other side" { cases 258 tcp; }
@test "vqp: the same by addresses of IPv6" { on 1 "cases_here6 258 connect bind ipv6 stream end"; }
@test "vqp: the same in one container, by its loopback address" { on 1 "cases_loopback 258 connect accept stream end"; }

# ---- vqp, of programs that ask for TCP: on this node, since elsewhere is as by number ----

hooked() { on 1 "cases_hooked $*"; }

@test "hooked: connecting, binding, accepting, names" { hooked connect bind accept ipv6; }
@test "hooked: bytes, flags, vectors, queues, ends" { hooked stream flags vector splice queue end; }
@test "hooked: events" { hooked poll epoll ring; }
@test "hooked: options, fast open" { hooked option fast; }
@test "hooked: processes, threads, 1,000 connections" { hooked share thread many; }
@test "hooked: what users of other replacements of TCP have reported" { hooked report tcp; }
