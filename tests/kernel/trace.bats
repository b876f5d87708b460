#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,newest,budget:60
# The tracepoints (kmod/base/trace.h): each tells of what it is there for. And what the kernel's own tell of the module.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

helpers=kernel/trace.bash

setup_file() {
	set_up_links
}

@test "messages: looked up, posted, sent, received, completed" {
	on 2 'serve vqp-c echo-server 700 --bytes=100'
	on 1 messages_are_traced
}

@test "a lookup that fails" {
	on 1 'traces eval "! inside vqp-a vqpt send 10.90.0.77 700 --count=1"
		traced vqp_lookup "tenant=9 gid=::ffff:10.90.0.77 ret=-113"'
}

@test "from dc to rc and back" {
	server=$(server weave-server 721)
	on 1 "changes_of_carriers_are_traced 10.90.0.3 $server"
}

@test "packets that are lost: sent again, and the congestion window changes" {
	on 2 'serve vqp-c echo-server 700 --bytes=100000 --depth=8'
	fault loss 2 5%
	on 1 'traces inside vqp-a vqpt send 10.90.0.3 700 --bytes=100000 --depth=8 --count=200
		traced vqp_resend
		traced vqp_cwnd "cwnd=10 -> "'
}

@test "what a function has the module allocate is charged to its memory cgroup" {
	on 2 'serve vqp-c echo-server 78 --bytes=300K'
	on 1 'charged 10.90.0.3'
}

@test "stream sockets: connected near and by TCP, accepted, closed" {
	on 1 streams_are_traced
}
