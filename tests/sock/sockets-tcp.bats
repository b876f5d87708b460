#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:500
# The cases of tests/programs/sockt by TCP: that they hold there shows that what does not hold for another protocol is
# a difference that a program could meet. `make test-sockets` runs it.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load cases

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
