#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Memory that runs out: each allocation of each call fails once, and so do those that nobody waits
# for, while transfers run. Node 2 is where it happens. What runs there is in tests/vqp.bash and
# tests/allocfail/.
#
# Needs the debug kernel, which fails allocations on request.

bats_require_minimum_version 1.5.0
load lib

on() { node "$1" bash -c "source /vqp/tests/vqp.bash; source /vqp/tests/allocfail/knobs.bash; $2"; }

setup_file() {
	vqp_up
	on 1 'box allocfail-c 8 10.95.0.1'
	on 2 'box allocfail-a 8 10.95.0.2; ip netns add allocfail-spare; knobs_reset
		cp /vqp/build/bin/allocfail "/vqp/build/kmod-$(uname -r)/vqp.ko" /run/'
	far="10.95.0.1 $(on 1 'serve allocfail-c mem-server 701 --bytes=4096 --depth=64; echo $port $key $addr')"
	export far
}

teardown() {
	on 2 'knobs_reset; pkill -9 -x vqpt || true'
}

teardown_file() {
	on 1 remove_boxes
	on 2 remove_boxes
}

# CASE...: "allocfail list" names them
fail_each() {
	local target
	read -ra target <<<"$far"
	NODE_TIMEOUT=900 node 2 /run/allocfail run /run/netns/allocfail-a "${target[@]}" "$@"
}

# ---- each allocation of a call, by itself ----

@test "contexts" { fail_each open first-query query close; }
@test "completion queues" { fail_each cq cq-large cq-mmap; }
@test "memory: arenas" { fail_each arena mr-arena; }
@test "memory: of the process" { fail_each mr-user mr-user-large mr-dereg; }
@test "VQPs" { fail_each qp qp-query qp-destroy qp-destroy-near qp-destroy-far bind bind-any; }
@test "connecting: to this node" { fail_each connect-near accept-near; }
@test "connecting: to a known address" { fail_each connect-far accept-far; }
@test "connecting: to an address that must be looked up" { fail_each connect-far-cold; }
@test "receiving" { fail_each recv recv-list; }
@test "sending: on this node" {
	fail_each send-near send-imm-near send-inline-near send-list-near write-near write-imm-near \
		write-inline-near write-list-near read-near
}
@test "sending: to the other node" {
	fail_each send-far send-imm-far send-inline-far send-list-far write-far write-imm-far \
		write-inline-far write-list-far read-far
}
@test "netlink: namespaces" { fail_each ns-add ns-del; }
@test "netlink: lists" { fail_each status ns-list vqp-list peer-list meta-list cache-list; }
@test "netlink: meta servers and cache" { fail_each meta-set cache-flush; }

@test "each call is among these tests" {
	words=" $(tr -s ';[:space:]' ' ' <"$BATS_TEST_FILENAME") "
	for name in $(node 2 /run/allocfail list); do
		[[ $words == *" $name "* ]] || { echo "no test of $name"; return 1; }
	done
}

@test "loading the module" {
	on 2 'stop_all; bash /vqp/tests/services unload'
	NODE_TIMEOUT=1200 node 2 /run/allocfail insmod /run/vqp.ko lanes=1
	on 2 'bash /vqp/tests/services start
		vqpctl ns add --netns /run/netns/allocfail-a --tenant 8 --address 10.95.0.2 --name allocfail-a'
}

# ---- those that nobody waits for, on node 2 ----

# [COMMAND]: a message from node 1 to node 2 and back. Its sender may be told that the connection
# failed, when node 2's RDMA device found no memory for a packet; then another one gets through.
message() { on 1 "eventually inside allocfail-c vqpt send 10.95.0.2 702 --count=${1-1} --timeout=20000"; }

@test "a node's first packets find no memory: the message is only late" {
	on 2 'serve allocfail-a echo-server 702; events rx_dropped >/run/dropped || true'
	for _ in {1..10}; do
		on 2 'device_anew; fail_atomic 30 30'
		message
		on 2 'knobs_reset; (($(events rx_dropped) > $(</run/dropped)))' && break
	done
	on 2 '(($(events rx_dropped) > $(</run/dropped)))'
}

@test "no memory to make a node's address handle: the message is only late" {
	on 2 'serve allocfail-a echo-server 702; device_anew; fail_workers 50 10'
	message
	on 2 spent
}

@test "no memory to remember where senders are: they are answered all the same" {
	on 2 'serve allocfail-a echo-server 702; fail_atomic 10 20'
	for _ in {1..5}; do
		on 2 'vqpctl cache flush'
		message 5
	done
}

@test "memory runs out time and again while messages go to and fro: nothing is left behind" {
	on 2 'stop_all; census >/run/census'
	on 2 'serve allocfail-a echo-server 702; fail_atomic 2 100'
	on 1 'serve allocfail-c echo-server 703'
	for _ in {1..5}; do
		message 100
		on 2 'eventually inside allocfail-a vqpt send 10.95.0.1 703 --count=100 --timeout=20000'
	done
	on 2 'knobs_reset; stop_all; eventually census_is "$(</run/census)"'
}
