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
@test "rate: messages count, and are answered" {
	on 2 'serve qos-c echo-server 700 --bytes=20000'
	on 1 messages_keep_the_rate
}
@test "rate: VQPs of a namespace share it" {
	local far near
	memory
	on 1 "rate qos-a 1M
		for i in 1 2 3; do serve qos-a flood write $far --bytes=16K --depth=8; done
		keeps_rate qos-a 1048576 16384 24
		shares_pass qos-a 6 'add as \$all | length == 3 and all(. * 3 > \$all * 0.6)'"
}
@test "rate: VQPs of both carriers share it" {
	local far near
	memory
	on 1 "rate qos-a 1M
		serve qos-a flood write $far --bytes=16K --depth=4; serve qos-a flood write $near --bytes=16K --depth=4
		keeps_rate qos-a 1048576 16384 8
		both_send() { shares_of qos-a | jq -e 'length == 2 and all(.[1] > 20)'; }
		eventually both_send"
}
@test "rate: VQPs share it however long their messages are" {
	local far near
	memory
	# on one node a message is sent as a whole
	on 1 "serve qos-a flood write $near --bytes=1M --depth=2; serve qos-a flood write $far --bytes=4K --depth=16
		rate qos-a 1M
		sleep 1; shares_pass qos-a 9 'min >= 1 and max * 4096 >= (min - 1) * 1048576 / 4'"
}
@test "rate: changes while it is used, and may be lifted" {
	local far near
	memory
	on 1 "rate qos-a 64K; serve qos-a flood write $far --bytes=16K --depth=4
		keeps_rate qos-a 65536 16384 4
		rate qos-a 1M; keeps_rate qos-a 1048576 16384 4
		rate qos-a unlimited
		eventually faster_than qos-a 2097152 16384"
}
@test "rate: a flow that is held back has not failed, and sends nothing twice" {
	local far near
	memory
	# each of them waits longer than giveup_ms allows a flow to be without progress
	NODE_TIMEOUT=400 on 1 "rate qos-a 64K; stale=\$(events stale)
		# a node that stands still has everything sent to it again
		for try in {1..5}; do
			resent=\$(events resent) pids=()
			for i in {1..12}; do
				inside qos-a vqpt write ${far% *} \$((${far##* } + (i << 16))) --bytes=64K & pids+=(\$!)
			done
			for pid in \"\${pids[@]}\"; do wait \"\$pid\"; done
			resent=\$((\$(events resent) - resent)); echo \"\$resent sent again\"
			((resent >= 12)) || break
		done
		((resent < 12)); ((\$(events stale) == stale))"
}
@test "rate: of one namespace is none of another's" {
	local far near
	memory
	on 1 "rate qos-a 64K
		serve qos-a flood write $far --bytes=16K --depth=8; serve qos-b flood write $far --bytes=16K --depth=8
		eventually faster_than qos-b 1048576 16384
		keeps_rate qos-a 65536 16384 8"
}
@test "rate: who dies while it is held back leaves nothing" {
	local far near
	memory
	on 1 "before=\$(census)
		for i in 1 2 3; do
			for to in '$far' '$near'; do
				serve qos-a flood write \$to --bytes=64K --depth=8; pids+=(\$pid)
			done
		done
		rate qos-a 64K
		throttled=\$(events throttled)
		eventually eval '((\$(events throttled) > throttled))'
		kill -9 \${pids[@]}
		eventually census_is \"\$before\""
}
@test "rate: a namespace goes while its VQPs are held back" {
	local far near
	memory
	on 1 "before=\$(census)
		box qos-d 12 10.96.0.4
		serve qos-d flood write $far --bytes=64K --depth=8; far=\$pid
		serve qos-d flood write $near --bytes=64K --depth=8; near=\$pid
		rate qos-d 64K
		vqpctl ns del --tenant 12 --address 10.96.0.4
		eventually eval '! kill -0 \$far'; eventually eval '! kill -0 \$near'
		ip netns del qos-d
		eventually census_is \"\$before\""
}

# ---- priorities ----

@test "priority: a high one goes on while low ones flood, and these too, and yield to it alone" {
	local far near
	memory
	on 2 'serve qos-c echo-server 700 --bytes=64'
	on 1 "priority qos-a low; priority qos-b high
		for i in 1 2 3 4; do serve qos-a flood write $far --bytes=64K --depth=8; done
		eventually nobody_yields
		yielded=\$(events yielded) sent=\$(sent_by qos-a)
		inside qos-b vqpt send 10.96.0.3 700 --count=300 --depth=1
		((\$(events yielded) > yielded && \$(sent_by qos-a) > sent))
		eventually nobody_yields
		sent=\$(sent_by qos-a)
		eventually eval '((\$(sent_by qos-a) > sent))'"
}
@test "priority: those of one priority do not yield to each other" {
	local far near
	memory
	on 1 "yielded=\$(events yielded)
		serve qos-a flood write $far --bytes=64K --depth=8; serve qos-b flood read $far --bytes=64K --depth=8
		sleep 2
		((\$(events yielded) == yielded))"
}
@test "priority: what yields is received whole and in order" {
	local far near
	memory
	on 2 'serve qos-c echo-server 700 --bytes=50000 --depth=8'
	on 1 "priority qos-a low
		serve qos-b flood read $far --bytes=64 --depth=1
		inside qos-a vqpt send 10.96.0.3 700 --bytes=50000 --count=30 --depth=4
		inside qos-a vqpt read $far --bytes=500000 --count=2
		(($(on 1 'events yielded') < \$(events yielded)))"
}
@test "priority: changes while it is used" {
	local far near
	memory
	on 1 "serve qos-b flood write $far --bytes=64 --depth=1; serve qos-a flood write $far --bytes=64K --depth=8
		yielded=\$(events yielded); sleep 1; ((\$(events yielded) == yielded))
		priority qos-a low; eventually eval '((\$(events yielded) > yielded))'
		priority qos-a normal; sleep 1
		yielded=\$(events yielded); sleep 1; ((\$(events yielded) == yielded))"
}
