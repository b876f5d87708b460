#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,long,budget:600
# What holds while something is wrong, and after it: each fault of the testbed,
# made while data is on its way. What runs on the nodes is in tests/kernel/faults.bash.
#
# fault-a and fault-b are on node 1, as is the meta server; fault-c is on node 2.
# "far" is a transfer between the nodes, "near" one on node 1 alone.
# `make faults` runs it.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/faults.bash

near_boxes='box fault-a 9 10.91.0.1; box fault-b 9 10.91.0.2'
far_boxes='box fault-c 9 10.91.0.3'

setup_file() {
	vqp_up && on 1 "$near_boxes" && on 2 "$far_boxes" &&
		on 1 'known fault-a 10.91.0.3'
}

# A test that ends a node's life calls this first.
disturb() { touch "$BATS_FILE_TMPDIR/disturbed"; }

teardown() {
	fault off && on_each bash -c 'source /vqp/tests/kernel/faults.bash; stop_all' || return
	[[ ! -e $BATS_FILE_TMPDIR/disturbed ]] || {
		rm "$BATS_FILE_TMPDIR/disturbed" &&
			on_each bash -c 'source /vqp/tests/kernel/faults.bash; remove_boxes' && setup_file
	}
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/kernel/faults.bash; remove_boxes'
}

# What node 1 transfers to, on node 2.
serve_far() {
	local memory
	memory=$(on 2 'serve_transfers fault-c') && on 1 'cat >$run/memory' <<<"$memory"
}

# Servers on node 2, and reads from there that do not end by themselves.
far_begin() {
	serve_far
	on 1 'eventually rests; read_on far 10.91.0.3 702'
}

near_begin() {
	on 1 'serve fault-b echo-server 700
		begin near inside fault-a vqpt send 10.91.0.2 700 --count=100000000 --depth=2'
}

# Nobody on node 1 has noticed what befell node 2.
near_goes_on() {
	on 1 'inside fault-a vqpt send 10.91.0.2 700 --count=100
		running near || { outcome near; false; }'
}

# Whoever comes now is served, by the servers of before.
far_works() { on 1 'inside fault-a vqpt send 10.91.0.3 700 --bytes=50000 --count=10 --depth=4'; }

# Node 1 holds no more than before far_begin.
nothing_left() { on 1 'stop_all; eventually census_is "$(<$run/census)"'; }

# ---- the commands ----

@test "fault: misuse is refused, with what would be right" {
	local words
	for words in '' bogus 'bogus 1' 'loss' 'loss 1' 'loss 1 101%' 'loss 1 1' 'loss 1 1% for' \
		'loss 1 1% for x' 'partition 1 2' 'memory 1 all' 'freeze' 'freeze 7' \
		'signals 1 x true' 'signals 1 5'; do
		# shellcheck disable=SC2086 # words
		run fault $words
		[ "$status" -eq 125 ] || { echo "fault $words: $status"; return 1; }
		[ -n "$output" ]
	done
	run fault --help
	[ "$status" -eq 0 ]
	[[ $output == *"loss NODE PERCENT%"* ]]
}

@test "fault: what cannot be done to a frozen node says how to go on" {
	fault freeze 2
	run fault loss 2 1%
	[ "$status" -eq 125 ]
	[[ $output == *"node 2 is frozen: fault freeze 2 off lets it go on"* ]]
	fault freeze 2 off
	on 2 true
}

# ---- packets ----

@test "loss: everything arrives once, in order, with its bytes" {
	serve_far
	fault loss 1 3%
	fault loss 2 3%
	on 1 'transfers 10.91.0.3; (($(dropped) > 0))'
}

@test "duplicates are recognized" {
	local sent received
	serve_far
	on 2 'events rx_packets >$run/before'
	on 1 'events tx_packets >$run/before'
	fault duplicate 1 30%
	fault duplicate 2 30%
	on 1 'transfers 10.91.0.3'
	sent=$(on 1 'echo $(($(events tx_packets) - $(<$run/before)))')
	received=$(on 2 'echo $(($(events rx_packets) - $(<$run/before)))')
	((received > sent))
}

@test "what overtakes is put in order" {
	serve_far
	fault reorder 1 10%
	fault reorder 2 10%
	on 1 'transfers 10.91.0.3'
}

@test "loss, duplicates and reordering at once" {
	local node
	serve_far
	for node in 1 2; do
		fault loss "$node" 1%
		fault duplicate "$node" 5%
		fault reorder "$node" 5%
	done
	on 1 'transfers 10.91.0.3'
}

# ---- partition ----

@test "a short partition is bridged" {
	far_begin
	fault partition 2 for 0.5
	on 1 'goes_on far'
}

@test "partition: requests end with RETRY_EXC_ERR, nobody else notices; later all is well" {
	far_begin
	near_begin
	fault partition 2
	on 1 'fails_with far "status 12"'
	near_goes_on
	fault partition 2 off
	far_works
	nothing_left
}

@test "partition: a connect that must look up ends with ETIMEDOUT" {
	fault partition 1
	run on 2 'vqpctl cache flush; inside fault-c vqpt send 10.91.0.1 700'
	[ "$status" -eq 1 ]
	[ "$output" = "vqpt: connect to 10.91.0.1 port 700: ETIMEDOUT" ]
}

@test "partition: who waits for a lookup can be killed" {
	fault partition 1
	on 2 lookup_can_be_killed
}

# ---- the link ----

@test "a cable that is out for a second is bridged" {
	far_begin
	fault link-down 2 for 1
	on 1 'goes_on far'
}

@test "a flapping cable is survived" {
	local i
	far_begin
	for ((i = 0; i < 4; i++)); do
		fault link-down 2 for 0.2
		sleep 0.5
	done
	on 1 'goes_on far'
}

@test "an interface that is taken down fails what uses it, and serves again when it is back" {
	far_begin
	fault interface-down 1
	on 1 'fails_with far "status 12|EIO"'
	fault interface-down 1 off
	on 1 'eventually eval "inside fault-a vqpt send 10.91.0.3 700"'
	far_works
	nothing_left
}

# ---- the parent ----

@test "without a parent: far VQPs fail, near ones go on, connecting says ENETDOWN" {
	far_begin
	near_begin
	fault parent-gone 1
	on 1 'fails_with far "status 12|EIO"'
	near_goes_on
	run on 1 'inside fault-a vqpt send 10.91.0.3 700'
	[ "$status" -eq 1 ]
	[ "$output" = "vqpt: connect to 10.91.0.3 port 700: ENETDOWN" ]
	fault parent-gone 1 off
	on 1 'eventually eval "inside fault-a vqpt send 10.91.0.3 700"'
	far_works
	nothing_left
}

@test "a target whose parent was replaced is found again: reads go on" {
	far_begin
	fault parent-gone 2 for 0.5
	on 1 'goes_on far'
	on 1 'transfers 10.91.0.3'
}

@test "a parent that comes and goes under load leaves nothing" {
	local i
	far_begin
	for ((i = 0; i < 5; i++)); do
		fault parent-gone 1 for 0.2
		on 1 'eventually eval "inside fault-a vqpt send 10.91.0.3 700"; read_on far 10.91.0.3 702'
	done
	fault parent-gone 1 for 0
	on 1 'fails_with far "status 12|EIO"; eventually eval "inside fault-a vqpt send 10.91.0.3 700"'
	nothing_left
}

# ---- nodes ----

@test "freeze: a node that stands still for a second is waited for" {
	far_begin
	fault freeze 2 for 1
	on 1 'goes_on far'
}

@test "freeze: a node that stands still for long counts as dead, and serves when it goes on" {
	far_begin
	fault freeze 2
	on 1 'fails_with far "status 12"'
	fault freeze 2 off
	far_works
	nothing_left
}

@test "freeze: who stood still for long goes on or is told, and can begin again" {
	far_begin
	fault freeze 1 for 6
	on 1 'sleep 1; running far || fails_with far "status 12"'
	far_works
	nothing_left
}

@test "crash: requests to the node fail, nobody else notices, its next life is found" {
	disturb
	far_begin
	near_begin
	fault crash 2
	on 1 'fails_with far "status 12"'
	near_goes_on
	fault crash 2 off
	on 2 "bash /vqp/tests/programs/services start; $far_boxes"
	serve_far
	far_works
	nothing_left
}

@test "crash of the meta server's node: its next life is told everything" {
	disturb
	serve_far
	fault crash 1
	fault crash 1 off
	on 1 "bash /vqp/tests/programs/services start; $near_boxes; "'serve fault-b echo-server 700'
	on 1 'eventually eval "inside fault-a vqpt send 10.91.0.3 700"'
	far_works
	on 2 'eventually eval "inside fault-c vqpt send 10.91.0.2 700"'
}

# ---- memory ----

@test "memory: a container that has none left is refused or killed, and leaves nothing" {
	on 2 'serve fault-c echo-server 700; serve fault-c mem-server 701'
	on 1 no_memory_leaves_nothing
}

@test "memory: a node that has little left goes on" {
	serve_far
	fault memory 1 64
	fault memory 2 64
	on 1 'before=$(census)
		transfers 10.91.0.3
		inside fault-a vqpt cycle 10.91.0.3 701 --count=20
		eventually census_is "$before"'
}

@test "memory: an allocation that fails is an error, and leaves nothing" {
	if ! on 1 '[[ -e /proc/self/fail-nth ]]'; then
		run fault fail-nth 1 5 true
		[ "$status" -ne 0 ]
		[[ $output == *"injects no faults: testbed up --kernel debug" ]]
		return
	fi
	on 2 'serve fault-c echo-server 700'
	on 1 'census >$run/census'
	local n failed=0
	for n in 1 10 100 150 200 250 300; do
		run fault fail-nth 1 "$n" ip netns exec fault-a /vqp/build/bin/vqpt send 10.91.0.3 700
		[[ $status != 12[45] ]]
		((status == 0)) || failed=$((failed + 1))
	done
	[ "$failed" -gt 0 ]
	on 1 'inside fault-a vqpt send 10.91.0.3 700'
	nothing_left
}

# ---- signals ----

@test "signals: waits end with EINTR, and nothing is lost or done twice" {
	on 2 'serve fault-c echo-server 700 --bytes=5000'
	on 1 'inside fault-a vqpt signals 10.91.0.3 700 --bytes=5000 --count=300'
}

@test "signals: who is stopped and continued all the time goes on" {
	on 2 'serve fault-c echo-server 700 --bytes=5000'
	fault signals 1 2 ip netns exec fault-a /vqp/build/bin/vqpt send 10.91.0.3 700 \
		--bytes=5000 --count=100
	fault signals 1 2 /vqp/build/bin/vqpctl ping 10.77.0.2 --count 5
}
