#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,debug-only,long,budget:600
# Memory that runs out: each allocation of each call fails once, and so do those that nobody waits
# for, while transfers run. What runs on the nodes is in tests/lib/vqp.bash and tests/programs/allocfail/.
#
# The debug kernel alone fails allocations on request. Half an hour.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/allocfail.bash

setup_file() {
	vqp_up
	# each failure that "allocfail" asks for is logged at length
	on 1 'console_level 1; box allocfail-c 8 10.95.0.1; knobs_reset'
	on 2 'console_level 1; box allocfail-a 8 10.95.0.2; ip netns add allocfail-spare; knobs_reset
		cp /vqp/build/bin/allocfail "/vqp/build/kmod-$(uname -r)/vqp.ko" /run/'
	on 2 'known allocfail-a 10.95.0.1'
	far="10.95.0.1 $(on 1 'serve allocfail-c mem-server 701 --bytes=4096 --depth=64 --access=15; echo $port $key $addr')"
	export far
	on 1 'hook N; bridge 1; wired far 1 2'
	on 2 'hook N; bridge 2; wired near 2 2; known near 10.95.1.2'
	on 1 'known far 10.95.2.2'
}

teardown() {
	on 1 'knobs_reset; stop_socks; pkill -9 -f "[v]qpt .*echo-server" || true' &&
		on 2 'knobs_reset; stop_socks; pkill -9 -x vqpt || true' &&
		# the consoles are quiet, so that they do not tell whether to look
		kernel_log_check
}

teardown_file() {
	on 1 'console_level 5; wired_end 1; hook Y' && on 2 'console_level 5; wired_end 2; hook Y'
}

# CASE...: "allocfail list" names them
fail_each() {
	local target
	read -ra target <<<"$far"
	NODE_TIMEOUT=900 node 2 /run/allocfail run /run/netns/allocfail-a "${target[@]}" "$@"
}

# CASE...: those of sockets
fail_sockets() {
	on 1 'sock far serve 10.95.1.2 7000'
	# the trunk that all of them share is there
	on 2 'sock near talk 10.95.1.2 7000 100'
	NODE_TIMEOUT=900 node 2 /run/allocfail run /run/netns/near 10.95.1.2 7000 0 0 "$@"
}

# ---- each allocation of a call, by itself ----

@test "contexts" { fail_each open attach query close; }
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
		write-inline-near write-list-near read-near atomic-near
}
@test "sending: to the other node" {
	fail_each send-far send-imm-far send-inline-far send-list-far write-far write-imm-far \
		write-inline-far write-list-far read-far atomic-far
}
@test "netlink: namespaces" { fail_each ns-add ns-del ns-set; }
@test "netlink: lists" { fail_each status ns-list vqp-list peer-list meta-list cache-list; }
@test "netlink: meta servers and cache" { fail_each meta-set cache-flush; }

@test "sockets: making, binding, listening, options" {
	fail_sockets sock sock-ipv6 sock-bind sock-listen sock-option sock-option-tcp
}
@test "sockets: connecting" { fail_sockets sock-connect-near sock-connect-far sock-connect-tcp; }
@test "sockets: accepting; the connection is there for the next accept" { fail_sockets sock-accept-near sock-accept-tcp; }
@test "sockets: bytes" { fail_sockets sock-send-near sock-send-far sock-recv-near sock-recv-far; }
@test "sockets: events" { fail_sockets sock-epoll-near sock-epoll-far; }
@test "sockets: ends" {
	fail_sockets sock-shutdown-near sock-shutdown-far sock-close-near sock-close-far sock-close-listener
}

@test "each call is among these tests" {
	tested=$(sed -n '/fail_[a-z]* [^{]*$/,/[^\\]$/p' "$BATS_TEST_FILENAME" | tr -cs 'a-z0-9-' '\n')
	mapfile -t names < <(node 2 /run/allocfail list)
	[ "${#names[@]}" -gt 50 ]
	for name in "${names[@]}"; do
		grep -qxF -- "$name" <<<"$tested" || { echo "no test of $name"; return 1; }
	done
}

@test "loading the module" {
	on 2 'stop_all; bash /vqp/tests/programs/services unload'
	NODE_TIMEOUT=1200 node 2 /run/allocfail insmod /run/vqp.ko lanes=1
	on 2 'bash /vqp/tests/programs/services start
		vqpctl ns add --netns /run/netns/allocfail-a --tenant 8 --address 10.95.0.2 --name allocfail-a
		hook N; turn near 10.95.2.2 on; known near 10.95.1.2'
}

# ---- those that nobody waits for ----

# NODE [COUNT]: messages to that node from the other and back. Their sender may be told that the
# connection failed, when the node's RDMA device found no memory for a packet; then another gets through.
message() {
	local box=(- c a)
	on $((3 - $1)) "eventually inside allocfail-${box[3 - $1]} vqpt send 10.95.0.$1 702 --count=${2-1} --timeout=20000"
}

# To node 1, which knows of no other node until one sends: the meta server is its own.

@test "a node's first packets find no memory: the message is only late" {
	on 1 'serve allocfail-c echo-server 702; events rx_dropped >/run/dropped || true
		device_anew; fail_within vqp_peer_defer 3'
	message 1
	on 1 'spent && (($(events rx_dropped) >= $(</run/dropped) + 3))'
}

@test "no memory to make a node's address handle: the message is only late" {
	on 1 'serve allocfail-c echo-server 702; device_anew; fail_within vqp_peer_get 5'
	message 1
	on 1 spent
}

@test "no memory to remember where senders are: they are answered all the same" {
	on 2 'serve allocfail-a echo-server 702; vqpctl cache flush; fail_within vqp_dct_cache_learn 1'
	message 2 5
	on 2 spent
}

@test "memory runs out time and again while messages go to and fro: nothing is left behind" {
	on 2 'stop_all; census >/run/census'
	on 2 'serve allocfail-a echo-server 702; fail_atomic 2 100'
	on 1 'serve allocfail-c echo-server 703'
	for _ in {1..5}; do
		message 2 100
		on 2 'eventually inside allocfail-a vqpt send 10.95.0.1 703 --count=100 --timeout=20000'
	done
	on 2 'knobs_reset; stop_all; eventually census_is "$(</run/census)"'
}

@test "no memory to tell a socket's peer what was read, or that nothing more comes: it is told later" {
	on 1 'sock far serve 10.95.1.2 7000'
	on 2 'fail_within vqp_far_tell 20; ways 1 0 sock near talk 10.95.1.2 7000 3000000; spent
		fail_within vqp_far_tell 5; ways 1 0 sock near talk 10.95.1.2 7000 10; spent'
}

@test "no memory at first for what a socket's peer has sent: all bytes arrive" {
	on 1 'sock far serve 10.95.1.2 7000'
	on 2 'fail_pages_within vqp_stream_append 20; ways 1 0 sock near talk 10.95.1.2 7000 3000000; spent'
}
