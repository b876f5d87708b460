#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,budget:240
# Rates and priorities of VQP namespaces. Rates are far below what any machine does, and what is
# sent at a rate never exceeds it. What runs on the nodes is in tests/lib/vqp.bash and tests/kernel/qos.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/qos.bash

setup_file() {
	vqp_up
	on 1 'box qos-a 12 10.96.0.1; box qos-b 12 10.96.0.2'
	on 2 'box qos-c 12 10.96.0.3'
	on 1 'known qos-a 10.96.0.3'
}

teardown() {
	on 1 'stop_all && unlimited qos-a qos-b' && on 2 stop_all
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

# Memory to write to and read from, on the other node and on this one; $far and $near tell where.
memory() {
	far="10.96.0.3 701 $(on 2 'serve qos-c mem-server 701 --bytes=1M; echo $key $addr')"
	near="10.96.0.2 701 $(on 1 'serve qos-b mem-server 701 --bytes=1M; echo $key $addr')"
}

# ---- rates ----

@test "rate: writes to another node are no faster, and not much slower" {
	local far near
	memory
	on 1 "rate qos-a 1M; serve qos-a flood write $far --bytes=16K --depth=4; keeps_rate qos-a 1048576 16384 4"
}
@test "rate: so are reads from another node" {
	local far near
	memory
	on 1 "rate qos-a 1M; serve qos-a flood read $far --bytes=16K --depth=4; keeps_rate qos-a 1048576 16384 4"
}
@test "rate: so are writes and reads on this node" {
	local far near
	memory
	on 1 "rate qos-a 1M
		serve qos-a flood write $near --bytes=16K --depth=4; keeps_rate qos-a 1048576 16384 4; kill \$pid
		serve qos-a flood read $near --bytes=16K --depth=4; keeps_rate qos-a 1048576 16384 4"
}
@test "rate: a VQP that waits for its turn with more requests than a carrier takes does so quietly" {
	local far near
	memory
	on 1 "rate qos-a 1M
		serve qos-a flood write $near --bytes=16K --depth=1000; waits_quietly qos-a; kill \$pid
		serve qos-a flood write $far --bytes=16K --depth=1000; waits_quietly qos-a"
}
@test "rate: messages count, and are answered" {
	on 2 'serve qos-c echo-server 700 --bytes=20000'
	on 1 messages_keep_the_rate
}
@test "rate: VQPs of a namespace share it" {
	local far near
	memory
	on 1 "vqps_share_the_rate $far"
}
@test "rate: VQPs of both carriers share it" {
	local far near
	memory
	on 1 "carriers_share_the_rate $far $near"
}
@test "rate: VQPs share it however long their messages are" {
	local far near
	memory
	on 1 "lengths_share_the_rate $far $near"
}
@test "rate: changes while it is used, and may be lifted" {
	local far near
	memory
	on 1 "rate_changes $far"
}
@test "rate: a flow that is held back has not failed, and sends nothing twice" {
	local far near
	memory
	NODE_TIMEOUT=400 on 1 "held_back_and_not_failed $far"
}
@test "rate: of one namespace is none of another's" {
	local far near
	memory
	on 1 "rates_are_apart $far"
}
@test "rate: who dies while it is held back leaves nothing" {
	local far near
	memory
	on 1 "killed_while_held_back $far $near"
}
@test "rate: who dies while it is held back with thousands of requests has them completed in pieces" {
	local far near
	on 1 tells_by_probes || skip "this kernel has no events by kprobes"
	memory
	on 1 "rate qos-a 64K
		serve qos-a flood write $near --bytes=16K --depth=4000; ends_in_pieces 4000 \$pid
		serve qos-a flood write $far --bytes=16K --depth=4000; ends_in_pieces 4000 \$pid"
}
@test "rate: a namespace goes while its VQPs are held back" {
	local far near
	memory
	on 1 "deleted_while_held_back $far $near"
}

# ---- priorities ----

@test "priority: a high one goes on while low ones flood, and these too, and yield to it alone" {
	local far near
	memory
	on 2 'serve qos-c echo-server 700 --bytes=64'
	on 1 "low_ones_yield_and_go_on $far"
}
@test "priority: those of one priority do not yield to each other" {
	local far near
	memory
	on 1 "equals_do_not_yield $far"
}
@test "priority: what yields is received whole and in order" {
	local far near
	memory
	on 2 'serve qos-c echo-server 700 --bytes=50000 --depth=8'
	on 1 "what_yields_is_whole $far"
}
@test "priority: the host's own namespace, for whose lookups all wait, yields to none" {
	local far near host
	memory
	host="10.77.0.2 703 $(on 2 'eval "$(vqpt --background mem-server 703 --bytes=1M)"; echo $key $addr')"
	on 1 "the_host_does_not_yield $host $far"
}
@test "priority: changes while it is used" {
	local far near
	memory
	on 1 "priority_changes $far"
}
