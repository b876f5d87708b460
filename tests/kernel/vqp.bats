#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,heart,budget:330
# The data path: on one node (loop) and between two (software DC). Every byte
# is verified. What runs on the nodes is in tests/lib/vqp.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/vqp.bash

near_boxes='box vqp-a 9 10.90.0.1; box vqp-b 9 10.90.0.2'

# PARAMETER...: node 1 starts anew with these of the module, until the test ends.
with_parameters() {
	touch "$BATS_FILE_TMPDIR/changed"
	on 1 "remove_boxes; bash /vqp/tests/programs/services unload; bash /vqp/tests/programs/services start $*; $near_boxes
		known vqp-a 10.90.0.3"
}

setup_file() {
	vqp_up
	on 1 "$near_boxes"
	on 2 'box vqp-c 9 10.90.0.3'
	on 1 'known vqp-a 10.90.0.3'
}

teardown() {
	on 1 stop_all && on 2 stop_all || return
	[[ ! -e $BATS_FILE_TMPDIR/changed ]] || {
		with_parameters && rm "$BATS_FILE_TMPDIR/changed"
	}
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

# SERVER: vqp-b is on the client's node, vqp-c on the other one.
node_of() { [[ $1 == vqp-b ]] && echo 1 || echo 2; }
address_of() { [[ $1 == vqp-b ]] && echo 10.90.0.2 || echo 10.90.0.3; }

# SERVER-OPTIONS CLIENT-OPTIONS: messages to an echo server and back, on both carriers.
echo_both() {
	local box
	for box in vqp-b vqp-c; do
		on "$(node_of $box)" "serve $box echo-server 700 $1"
		on 1 "inside vqp-a vqpt send $(address_of $box) 700 $2"
	done
}

# SERVER-OPTIONS CLIENT-COMMAND: read or write the memory of a server, on both carriers.
memory_both() {
	local box target
	for box in vqp-b vqp-c; do
		target=$(on "$(node_of $box)" "serve $box mem-server 701 $1"' ; echo $key $addr')
		on 1 "inside vqp-a vqpt ${2%% *} $(address_of $box) 701 $target $1 ${2#* }"
	done
}

# ---- messages ----

@test "send: no bytes" { echo_both --bytes=1 '--bytes=0 --count=50'; }
@test "send: one byte" { echo_both --bytes=1 '--bytes=1 --count=50'; }
@test "send: as many bytes as a packet takes, one less, one more" {
	echo_both --bytes=5000 '--bytes=4000 --count=20'
	on 1 'packet=$(($(vqpctl pool --json | jq .mtu) - 144))	# the headers at their longest
		for bytes in $((packet - 1)) $packet $((packet + 1)); do
			inside vqp-a vqpt send 10.90.0.3 700 --bytes=$bytes --count=20
		done'
}
@test "send: many packets" { echo_both --bytes=300000 '--bytes=300000 --count=20'; }
@test "send: 16 MiB" { echo_both '--bytes=16M --depth=2' '--bytes=16M --count=3 --depth=2'; }
@test "send: in order and once, thousands of them" {
	echo_both '--bytes=64 --depth=64' '--bytes=64 --count=5000 --depth=64'
}
@test "send: with immediate data" { echo_both --bytes=100 '--bytes=100 --count=100 --imm'; }
@test "send: immediate data alone" { echo_both --bytes=1 '--bytes=0 --count=50 --imm'; }
@test "send: inline" { echo_both --bytes=1024 '--bytes=1024 --count=100 --inline'; }
@test "send: inline with an odd length" { echo_both --bytes=64 '--bytes=13 --count=100 --inline --sges=3'; }
@test "send: gathered from 16 pieces" { echo_both --bytes=10007 '--bytes=10007 --count=50 --sges=16'; }
@test "send: lists of 32 requests" {
	echo_both '--bytes=200 --depth=64' '--bytes=200 --count=3200 --depth=64 --list=32'
}
@test "send: from and to arena memory" {
	echo_both '--bytes=10000 --arena' '--bytes=10000 --count=50 --arena'
}
@test "send: the receiver is slower than the sender" {
	echo_both '--bytes=5000 --depth=1' '--bytes=5000 --count=200 --depth=64'
}

# ---- one-sided ----

@test "write: no bytes" { memory_both --bytes=64 'write --bytes=0'; }
@test "write: one byte" { memory_both --bytes=1 'write --count=10'; }
@test "write: a packet and one byte" { memory_both --bytes=4097 'write --count=10'; }
@test "write: 16 MiB" { memory_both --bytes=16M 'write --count=2'; }
@test "write: 16 MiB gathered from 16 pieces" { memory_both --bytes=16M 'write --sges=16'; }
@test "write: inline" { memory_both --bytes=777 'write --count=20 --inline'; }
@test "write: with immediate data" { memory_both --bytes=10000 'write --count=10 --imm'; }
@test "read: no bytes" { memory_both --bytes=64 'read --bytes=0'; }
@test "read: one byte" { memory_both --bytes=1 'read --count=10'; }
@test "read: a packet and one byte" { memory_both --bytes=4097 'read --count=10'; }
@test "read: 16 MiB" { memory_both --bytes=16M 'read --count=2'; }
@test "read: scattered into 16 pieces" { memory_both --bytes=100003 'read --count=10 --sges=16'; }
@test "read: 64 MiB from the other node" {
	target=$(on 2 'serve vqp-c mem-server 701 --bytes=64M ; echo $key $addr')
	on 1 "inside vqp-a vqpt read 10.90.0.3 701 $target --bytes=64M --timeout=120000"
}
@test "read: the target's process is stopped and does not matter" {
	target=$(on 2 'serve vqp-c mem-server 701 --bytes=100000 ; kill -STOP $pid; echo $key $addr')
	on 1 "inside vqp-a vqpt read 10.90.0.3 701 $target --bytes=100000 --count=10"
}

# ---- atomics ----

# BOX EXPECTED COMMAND [SERVER-OPTION...]: what its mem-server's word has grown by, after COMMAND ran in node 1's
# script with $target there.
atomics_add_up() {
	local box=$1 expected=$2 command=$3 target
	target=$(on "$(node_of "$box")" "serve $box mem-server 701 --bytes=4096 --access=15 ${*:4}"' ; echo $key $addr')
	target="$(address_of "$box") 701 $target"
	on 1 'target="'"$target"'"
		read -r _ before <<<"$(inside vqp-a vqpt add $target)"
		'"$command"'
		read -r _ after <<<"$(inside vqp-a vqpt add $target)"
		[[ $((after - before)) == '"$((expected + 1))"' ]]'
}

@test "atomics: each addition is carried out once, and finds what is there" {
	for box in vqp-b vqp-c; do
		atomics_add_up "$box" 2000 'read -r first last <<<"$(inside vqp-a vqpt add $target --count=2000 --depth=32)"
			[[ $first == $((before + 1)) && $last == $((before + 2000)) ]]'
	done
}
@test "atomics: swaps that compare" {
	for box in vqp-b vqp-c; do
		atomics_add_up "$box" 500 '[[ $(inside vqp-a vqpt swap $target --count=500) == "500 swaps, 501 tries" ]]'
	done
}
@test "atomics: in arenas, and into memory in pieces" {
	for box in vqp-b vqp-c; do
		atomics_add_up "$box" 100 'inside vqp-a vqpt add $target --count=100 --sges=8 --arena --depth=5' --arena
	done
}
@test "atomics: those of both carriers are atomic with each other" {
	target=$(on 2 'serve vqp-c mem-server 701 --bytes=4096 --access=15; echo $key $addr')
	target="10.90.0.3 701 $target"
	before=$(on 1 "inside vqp-a vqpt add $target")
	on 2 'box vqp-near 9 10.90.0.4'
	for node in 1 2; do
		box=$([[ $node == 1 ]] && echo vqp-a || echo vqp-near)
		on "$node" 'for i in {1..3}; do
				inside '"$box"' vqpt add '"$target"' --count=300 --depth=16 & adds[i]=$!
				inside '"$box"' vqpt swap '"$target"' --count=50 & swaps[i]=$!
			done
			for i in {1..3}; do wait "${adds[i]}" && wait "${swaps[i]}" || exit 1; done' &
		pids[node]=$!
	done
	wait "${pids[1]}"
	wait "${pids[2]}"
	after=$(on 1 "inside vqp-a vqpt add $target")
	[ $((${after#* } - ${before#* })) -eq 2101 ]
}

# ---- many ----

@test "many senders to one bound VQP: each gets its own answers" {
	on 2 'serve vqp-c echo-server 700 --bytes=3000 --depth=32'
	on 1 'for i in {1..12}; do
			inside vqp-a vqpt send 10.90.0.3 700 --bytes=3000 --count=100 --depth=8 & pids[i]=$!
		done
		for i in {1..12}; do wait "${pids[i]}"; done'
}

@test "many VQPs: 2000 in one context, a message from each" {
	on 2 'serve vqp-c mem-server 701 --bytes=64 --depth=256'
	on 1 'inside vqp-a vqpt storm 10.90.0.3 701 --bytes=8 --count=2000 --depth=2000'
}

# ---- waiting, sharing ----

@test "epoll: a CQ wakes its sleeper, and is level triggered" {
	on 2 'serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt epoll 10.90.0.3 700'
}
@test "fork: a child uses its late parent's VQP" {
	on 2 'serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt fork 10.90.0.3 700'
}
@test "SCM_RIGHTS: a process uses a VQP it was handed" {
	on 2 'serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt scm 10.90.0.3 700'
}

# ---- death ----

@test "a client killed in mid-transfer leaves nothing, and its server goes on" {
	on 2 'serve vqp-c echo-server 700 --bytes=1M --depth=4'
	on 1 clients_killed_in_mid_transfer
}
# The client has more under way than the server has receives: when the server has received all that it has receives for,
# and has answered none of it, a client with nothing else under way would not be told, as it is not by verbs either.
@test "a server killed in mid-transfer: its client is told, and leaves nothing" {
	on 1 'census >/run/census'
	on 2 'serve vqp-c echo-server 700 --bytes=1M --depth=4; echo $pid >/run/server.pid'
	on 1 'serve vqp-a send 10.90.0.3 700 --bytes=1M --count=1000000 --depth=8 --timeout=60000'
	on 2 'kill -9 $(</run/server.pid)'
	on 1 'eventually eval "! pgrep -x vqpt"; eventually census_is "$(</run/census)"'
}
@test "a server killed that has answered nothing: its client is told, and leaves nothing" {
	on 1 'census >/run/census'
	on 2 'serve vqp-c echo-server 700 --bytes=1M --depth=4; echo $pid >/run/server.pid; kill -STOP $pid'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --bytes=1M --depth=8 --count=8 --timeout=60000 >/dev/null 2>&1 &'
	on 2 'eventually has_received 700 4; kill -9 $(</run/server.pid)'
	on 1 'eventually eval "! pgrep -x vqpt"; eventually census_is "$(</run/census)"'
}
@test "a network namespace that goes takes its VQPs with it" {
	on 1 netns_takes_its_vqps
}

# ---- leaks ----

# What is still under way to the VQPs of the one before must not find those of the new one.
@test "a network namespace that is made anew at its address has other VQP numbers and keys" {
	on 1 anew_has_other_numbers
}

@test "1,000 times create, connect, send, close: made is freed, memory is steady" {
	on 2 'serve vqp-c mem-server 701 --bytes=64 --depth=64; census >/run/census-before'
	on 1 cycles_leave_nothing
}
@test "100 processes killed with -9 at any moment leave nothing" {
	on 2 'serve vqp-c echo-server 700 --bytes=5000'
	on 1 killed_at_any_moment
}
@test "unload is refused while in use, and succeeds when nothing is" {
	on 2 'serve vqp-c echo-server 700; if rmmod vqp; then exit 1; fi'
	vqp_services_stop
	on 2 'remove_boxes; rmmod vqp'
	vqp_up
	on 2 'box vqp-c 9 10.90.0.3'
	on 1 'known vqp-a 10.90.0.3'
}
@test "a node that was started anew is found again, whatever was remembered of it" {
	on 2 'serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --count=10'
	# its namespaces go with the module
	on 2 'stop_all; bash /vqp/tests/programs/services unload; bash /vqp/tests/programs/services start; remove_boxes
		box vqp-c 9 10.90.0.3; serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --count=10'
}

# Numbers that began at the same one would both be small.
@test "a node that was started anew numbers its flows from elsewhere" {
	local flows=() _
	for _ in 1 2; do
		on 2 'stop_all; bash /vqp/tests/programs/services unload; bash /vqp/tests/programs/services start; remove_boxes
			box vqp-c 9 10.90.0.3'
		flows+=("$(on 2 'a_flow vqp-c 10.90.0.1')")
	done
	echo "${flows[*]}"
	((flows[0] > 10000 || flows[1] > 10000))
}

# The counter is that of the module that started anew.
@test "a node challenges another when they first meet, and not again" {
	on 2 'stop_all; bash /vqp/tests/programs/services unload; bash /vqp/tests/programs/services start; remove_boxes
		box vqp-c 9 10.90.0.3; serve vqp-c echo-server 700'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --count=10'
	on 2 'events challenged >/run/challenged; (($(</run/challenged) > 0))'
	on 1 'for i in {1..20}; do inside vqp-a vqpt send 10.90.0.3 700 --count=10; done'
	on 2 '(($(events challenged) == $(</run/challenged)))'
}

# Its acknowledgement lost, the message is sent again, to a node that has started to use its RDMA device anew.
@test "a message is received once, although its target's RDMA device went and came back meanwhile" {
	local client
	fault loss 2 off
	fault parent-gone 2 off
	with_parameters giveup_ms=25000
	on 2 'serve vqp-c echo-server 700'
	on 1 'rm -f /run/go /run/ready'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700
		touch /run/ready
		until [[ -e /run/go ]]; do sleep 0.1; done
		inside vqp-a vqpt send 10.90.0.3 700 --timeout=30000' >"$BATS_TEST_TMPDIR/client" 2>&1 3>&- &
	client=$!
	on 1 'eventually test -e /run/ready'
	fault loss 2 100%
	on 1 'touch /run/go'
	on 2 'eventually has_received 700 2
		node-fault parent-gone on; node-fault loss off; node-fault parent-gone off'
	wait "$client" || true
	fault off
	cat "$BATS_TEST_TMPDIR/client"
	# the echo was lost, not the message
	grep -q 'no completion' "$BATS_TEST_TMPDIR/client"
	on 2 'has_received 700 2'
}

# The server has taken the message, and has stopped before it answers.
waits_for_an_echo() {
	on 2 'serve vqp-c echo-server 700; kill -STOP "$pid"; echo "$pid" >/run/server'
	on 1 'inside vqp-a vqpt send 10.90.0.3 700 --timeout=60000 & echo $! >/run/client
		wait $!' >"$BATS_TEST_TMPDIR/client" 2>&1 3>&- &
	client=$!
	on 2 'eventually has_received 700 1'
}

@test "who waits for a message learns that its peer has died, with a keepalive" {
	local client
	fault partition 2 off
	with_parameters keepalive_ms=1000 giveup_ms=2000
	waits_for_an_echo
	fault partition 2
	# the client itself would wait for a minute
	on 1 'eventually eval "! kill -0 $(</run/client)"'
	fault off
	if wait "$client"; then false; fi
	cat "$BATS_TEST_TMPDIR/client"
	grep -q 'status 5' "$BATS_TEST_TMPDIR/client"
}

@test "a keepalive disturbs nobody whose peer is alive" {
	local client
	with_parameters keepalive_ms=200
	waits_for_an_echo
	on 1 'before=$(events tx_packets)
		asks() { (($(events tx_packets) - before >= 6)); }
		eventually asks
		vqpctl vqps --json | jq -e "all(.[]; .tx_msgs <= 1)"'
	on 2 'kill -CONT "$(</run/server)"'
	wait "$client"
}

# ---- many to one ----

@test "sixteen senders to one receiver: next to nothing is sent twice" {
	local region
	region=$(on 2 'serve vqp-c mem-server 701 --bytes=16M --depth=32; echo "$key $addr"')
	NODE_TIMEOUT=400 on 1 "read -r key addr <<<'$region'"'
		# a node that stands still has everything sent to it again
		for try in {1..5}; do
			packets=$(events tx_packets) resent=$(events resent) pids=()
			for i in {0..15}; do
				inside vqp-a vqpt write 10.90.0.3 701 "$key" $((addr + (i << 20))) --bytes=1M & pids+=($!)
			done
			for pid in "${pids[@]}"; do wait "$pid"; done
			packets=$(($(events tx_packets) - packets)) resent=$(($(events resent) - resent))
			echo "$resent of $packets packets"
			((resent * 20 >= packets)) || exit 0
		done
		exit 1'
}

# ---- the link ----

@test "a link whose queue is full: what was lost is sent again, and no VQP fails" {
	fault loss 1 off
	on 2 'serve vqp-c echo-server 700 --bytes=100000 --depth=16'
	on 1 full_queue_fails_nothing
}

@test "a container's address on the same wire never becomes the node's" {
	touch "$BATS_FILE_TMPDIR/changed"
	on 1 address_on_the_wire_is_not_the_nodes
}

@test "of the addresses of the RDMA device the one that is named is the node's, once it is there; what is none is refused" {
	with_parameters address=10.77.0.11
	on 2 'serve vqp-c echo-server 700'
	on 1 named_address_is_the_nodes
	run on 1 'insmod "/vqp/build/kmod-$(uname -r)/vqp.ko" address=10.77.0'
	[ "$status" -eq 1 ]
	[[ $output == *"Invalid parameters"* ]]
}

@test "a thread that moves to another processor takes its VQP along; one that stays does not move it" {
	on 2 'serve vqp-c echo-server 700'
	on 1 thread_takes_its_vqp_along
}
