#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:500
# Stream sockets, by the cases of tests/programs/sockt. sockets-tcp.bats has them by TCP.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load cases

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
