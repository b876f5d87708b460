#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,long,budget:600
# `make faults` runs it.
# Large messages without a copy: their target's node fetches them, and what it cannot fetch goes by
# dc. The clients verify every byte, and that each message comes once and in order. What runs
# on the nodes is in tests/kernel/rc.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

setup_file() {
	set_up_links rc_busy=2 zcopy_bytes=16384
}

# BYTES: messages from this size on are fetched; 0: none
pull_from() { on_each bash -c "echo $1 >/sys/module/vqp/parameters/zcopy_bytes"; }

# OPTIONS OPTIONS LEAST: an echo server with the first on node 2, a client with the second; of its messages at
# least so many are fetched in one of its runs.
sends() {
	on 2 "serve vqp-c echo-server 720 $1"
	on 1 "brings zcopy_messages $3 inside vqp-a vqpt send 10.90.0.3 720 $2"
}

# Node 1's vqp-a weaves with node 2, with messages of 64 KiB, until woven_end; they are fetched. A weaver's server sees
# what is lost, comes twice, or overtakes something.
begin_weaving() {
	on 1 "weave 10.90.0.3 $(server weave-server 721 --bytes=64K) vqp-a --bytes=64K
		is_pulled"
}

@test "messages of 64 KiB" { sends '--bytes=64K --depth=16' '--bytes=64K --depth=16 --count=200' 100; }
@test "messages of 100,003 bytes with immediate data" {
	sends '--bytes=100003 --depth=8' '--bytes=100003 --depth=8 --count=100 --imm' 50
}
@test "messages of 5 MiB, across windows" { sends '--bytes=5M --depth=2' '--bytes=5M --depth=2 --count=16' 4; }
@test "messages from and to arena memory" {
	sends '--bytes=64K --depth=16 --arena' '--bytes=64K --depth=16 --count=200 --arena' 100
}

@test "the receiver is slower than the sender: what finds no receive goes by dc" {
	sends '--bytes=64K --depth=3' '--bytes=64K --depth=32 --count=200' 1
}

@test "messages in pieces, inline, and small ones are not fetched" {
	on 2 'serve vqp-c echo-server 720 --bytes=64K --depth=16'
	on 1 small_messages_are_not_fetched
}

@test "zcopy_bytes=0: nothing is fetched" {
	pull_from 0
	on 2 'serve vqp-c echo-server 720 --bytes=64K --depth=16'
	on 1 'before=$(events zcopy_messages)
		inside vqp-a vqpt send 10.90.0.3 720 --bytes=64K --depth=16 --count=100
		(( $(events zcopy_messages) == before ))'
	pull_from 16384
}

@test "the node that fetches looks no sender up meanwhile, and fetches what follows" {
	on 2 tells_by_probes || skip "this kernel has no events by kprobes"
	on 2 'serve vqp-c echo-server 720 --bytes=64K --depth=16; begin_fetches'
	# an address of which node 2 has not heard before
	on 1 'box vqp-new 9 10.90.0.9
		brings zcopy_messages 1 inside vqp-new vqpt send 10.90.0.3 720 --bytes=64K --depth=4 --count=50'
	on 2 fetches_without_lookups
}

@test "of one namespace at most 256 senders are fetched from in a minute; the others' messages go by dc" {
	pull_from 32
	on 2 'serve vqp-c mem-server 720 --depth=64'
	on 1 at_most_256_senders
	pull_from 16384
}

@test "nobody has bound the port: the sender is told" {
	run on 1 'inside vqp-a vqpt send 10.90.0.3 799 --bytes=64K --count=5'
	[ "$status" -ne 0 ]
	[[ $output == *"completed with status 9"* ]]
}

@test "a message that is too long for its receive is refused" {
	on 2 'serve vqp-c echo-server 720 --bytes=32K --depth=16'
	run on 1 'inside vqp-a vqpt send 10.90.0.3 720 --bytes=64K --count=50'
	[ "$status" -ne 0 ]
	[[ $output == *"completed with status 9"* ]]
}

@test "reads, writes and messages that are fetched: all once, and in order" {
	begin_weaving
	on 1 'is_pulled; goes_on; is_pulled; woven_end'
}

@test "what the receiver's node reads is lost until its link fails: all once, and in order" {
	can_lose 1
	begin_weaving
	before=$(on 2 'events rc_failures')
	on 1 'lose 0x0c'
	on 2 "eventually more_than rc_failures $before"
	on 1 'lose_no_more; is_pulled; woven_end'
}

@test "all is lost for a while: all once, and in order" {
	begin_weaving
	fault partition 2 for 1.5
	on 1 'is_pulled; woven_end'
}

@test "the receiver's parent goes and comes back: all once, and in order" {
	begin_weaving
	for i in 1 2; do
		fault parent-gone 2 for 0.5
		on 1 is_pulled
	done
	on 1 woven_end
}

@test "the receiver is killed: the sender is told" {
	begin_weaving
	on 2 'pkill -9 -x vqpt'
	on 1 'eventually woven_ended && grep "completed with status" $woven-vqp-a'
}

@test "the sender is killed: nothing of it is left, and the receiver goes on" {
	on 2 'serve vqp-c echo-server 720 --bytes=64K --depth=4'
	before=$(on 1 'alive vqp')
	begin_weaving
	on 1 "pkill -9 -x vqpt || { cat \$woven-vqp-a; false; }
		vqps_are() { (( \$(alive vqp) == $before && \$(alive kernel_vqp) <= 2 )); }
		eventually vqps_are
		inside vqp-a vqpt send 10.90.0.3 720 --bytes=64K --depth=4 --count=20"
}

# PORT:KEY:ADDR: what comes of a READ there, in node 1's vqp-a, that node 2 sends as its kernel READs messages.
kernel_reads() {
	on 2 "while sleep 0.3; do vqpctl ping --netns vqp-c --count 1 10.90.0.1; done >/dev/null 2>&1 &
		trap 'kill \$!' EXIT
		fuzz-packets --read --to 10.77.0.1 --from 10.77.0.2 --target 10.90.0.1:$1:64 --seed $RANDOM"
}

@test "a peer's kernel READs what a region grants or a send names, and nothing else" {
	granted=$(on 1 'serve vqp-a mem-server 702; echo $port:$key:$addr')
	hidden=$(on 1 'serve vqp-a mem-server 703 --access=1; echo $port:$key:$addr')
	[ "$(kernel_reads "$granted")" = read ]
	[ "$(kernel_reads "$hidden")" = refused ]
	begin_weaving
	[ "$(kernel_reads "$hidden")" = refused ]
	on 1 'is_pulled; woven_end'
	[ "$(kernel_reads "$hidden")" = refused ]
}
