#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,heart,newest,debug,budget:60
# A user of VQPs inside the kernel: tests/programs/consumer knows kmod/api/ and kmod/queue/ alone, and
# loading it fails if anything that it does there fails.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/consumer.bash

setup_file() {
	vqp_up
	on 1 'box near 9 10.90.0.1'
	on 2 'box far 9 10.90.0.3'
	on 1 'known near 10.90.0.3'
}

teardown() {
	on 1 'stop_consumer; stop_all' && on 2 'stop_consumer; stop_all'
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

# enum vqp_carrier
loop=1 dc=2 rc=3

@test "loop: two VQPs of one owner" {
	on 1 "consume near peer=10.90.0.1; carried_by $loop"
}

@test "dc: an echo from another node's consumer" {
	on 2 'consume far'
	on 1 "consume near peer=10.90.0.3; carried_by $dc"
}

@test "dc: an echo from a function" {
	on 2 'serve far echo-server 700 --bytes=1000'
	on 1 "consume near peer=10.90.0.3; carried_by $dc"
}

@test "dc: an echo for a function" {
	on 2 'consume far'
	on 1 'inside near vqpt send 10.90.0.3 700 --bytes=1000 --count=100'
}

@test "rc: a region of a function's, written and read back" {
	region=$(on 2 'serve far mem-server 701 --bytes=4096; echo "$key $addr"')
	on 1 "consume_region near 10.90.0.3 701 $region; carried_by $dc $rc"
}

@test "its VQPs are charged to the namespace, and are gone with it" {
	on 1 'consume near && has_vqps near 1'
	on 1 'stop_consumer && has_vqps near 0'
}

@test "nobody listens: it is told" {
	on 1 'run=0; consume near peer=10.90.0.3 port=799 || run=$?; ((run == 1)) && has_vqps near 0'
}

@test "the namespace goes while it is loaded" {
	on 1 'box gone 9 10.90.0.9; consume gone; ip netns del gone
		eventually eval "! vqpctl ns list --json | jq -e \"any(.[]; .name == \\\"gone\\\")\""'
}
