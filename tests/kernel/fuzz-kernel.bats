#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,debug,debug-only,budget:120
# The fuzzers in tests/programs/fuzz-kernel: system calls and netlink on node 1, packets from node 1 to node 2.
# FUZZ_CALLS and FUZZ_PACKET_SECONDS say how many and how long; `make fuzz-kernel` has them large. A failure
# names its seed, and what each worker was doing is in the testbed's share.
# On the debug kernel, too: it comes by most of the module.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/far.bash

calls=${FUZZ_CALLS-20000} seconds=${FUZZ_PACKET_SECONDS-10}
# a call takes a millisecond, or some on the debug kernel
NODE_TIMEOUT=$((300 + calls / 100 + 4 * seconds))

setup_file() {
	vqp_up
	on 1 'box work-a 12 10.91.0.1; ip addr add 10.77.0.101/24 dev data0'
	on 2 'box fuzz-target 9 10.90.0.3; box work-b 12 10.91.0.2'
	on 1 'known work-a 10.91.0.2'
	on 2 'hook N; bridge 2; wired far 2 2'
	target=10.90.0.3:$(on 2 'serve fuzz-target mem-server 701 --bytes=64K --access=15; echo $port:$key:$addr:65536')
	export target
}

teardown_file() {
	on 1 'ip addr del 10.77.0.101/24 dev data0 && remove_boxes' && on 2 'wired_end 2; hook Y'
}

# OPTION...: fuzz-calls on node 1, after which as much lives as before
fuzz_calls() {
	on 1 "before=\$(census)
		fuzz-calls --seed $RANDOM --target $target --trace /share/fuzz-calls $*
		eventually census_is \"\$before\""
}

# What goes on between the nodes while packets are forged: messages, every byte of which is checked.
transfer='inside work-a vqpt send 10.91.0.2 700 --bytes=5000 --depth=8'

@test "calls: programs of one thread and several, with and without privileges" {
	fuzz_calls --calls "$calls"
}
@test "packets: a stranger who knows all keys disturbs nobody" {
	on 2 'serve work-b echo-server 700 --bytes=5000; census >/run/census; events rx_foreign >/run/foreign'
	on 1 "fuzz-packets --stranger --to 10.77.0.2 --from 10.77.0.101 --target $target --seed $RANDOM --seconds $seconds &
		while kill -0 \$! 2>/dev/null; do $transfer --count=200; done
		wait \$!"
	on 2 '(($(events rx_malformed) > 0 && $(events rx_foreign) > $(</run/foreign)))'
}

@test "packets: frames of stream sockets that no kernel writes, and a listener that goes on" {
	frames=10.95.2.2:701:$(on 2 'stop_all; serve work-b echo-server 700 --bytes=5000
		serve far mem-server 701 --bytes=64K --access=15; echo $key:$addr:65536')
	on 2 'stop_socks; sock far hold 10.95.2.2 7000; events rx_malformed >/run/malformed'
	on 1 "fuzz-packets --stranger --to 10.77.0.2 --from 10.77.0.101 --target $frames --listener 7000 --seed $RANDOM --seconds $seconds &
		while kill -0 \$! 2>/dev/null; do $transfer --count=200; done
		wait \$!"
	on 2 '(($(events rx_malformed) > $(</run/malformed))); stop_socks; within 120 eval "[[ \$(alive stream) == 0 ]]"'
}
@test "packets: a node that forges its own kernel's packets breaks its own flows at most" {
	on 2 'stop_all; serve work-b echo-server 700 --bytes=5000; serve fuzz-target mem-server 701 --bytes=64K --access=15'
	on 1 "fuzz-packets --to 10.77.0.2 --from 10.77.0.1 --target $target --seed $RANDOM --seconds $seconds &
		while kill -0 \$! 2>/dev/null; do $transfer --count=200 || true; done
		wait \$!"
	on 2 'stop_all; serve work-b echo-server 700 --bytes=5000'
	# what forged initiators hold at the target is reused after half a minute
	on 1 "tries=0; until $transfer --count=200; do ((++tries < 20)); sleep 2; done"
}
