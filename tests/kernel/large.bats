#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,long,budget:900
# `make faults` runs it: requests as large as they may be, between two nodes. Every byte is verified. What
# runs on the nodes is in tests/lib/vqp.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

export NODE_TIMEOUT=900

setup_file() {
	vqp_up
	on 1 'box vqp-a 9 10.90.0.1'
	on 2 'box vqp-c 9 10.90.0.3'
	on 1 'known vqp-a 10.90.0.3'
}

teardown() {
	on 1 stop_all && on 2 stop_all
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

# COMMAND: all of a server's memory
of_memory() {
	local target
	target=$(on 2 'serve vqp-c mem-server 701 --bytes=1G; echo $key $addr')
	on 1 "inside vqp-a vqpt $1 10.90.0.3 701 $target --bytes=1G --timeout=800000"
}

@test "write: 1 GiB" { of_memory write; }
@test "read: 1 GiB" { of_memory read; }

@test "send: 1 GiB, and back" {
	on 2 'serve vqp-c echo-server 700 --bytes=1G --depth=1'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --bytes=1G --depth=1 --timeout=800000'
}
