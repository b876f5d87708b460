#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,heart,budget:360
# The rc carrier: one-sided requests from NIC to NIC, the way there and back, and
# what happens to requests when a link fails. What runs on the nodes is in tests/kernel/rc.bash.
# A weaver's server sees each WRITE's order and whether it was carried out twice.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

# Node 1's vqp-a weaves with node 2 until woven_end.
begin_weaving() {
	on 1 "weave 10.90.0.3 $(server weave-server 710)"
}

setup_file() {
	set_up_links
	on 1 'box vqp-b 8 10.90.0.2'
	on 2 'box vqp-d 8 10.90.0.4'
	on 1 'known vqp-b 10.90.0.4'
}

# BYTES COUNT [OPTION...]: so many reads of so many bytes from node 2, verified, until as many go by rc.
reads() {
	local target
	target=$(server mem-server 711 --bytes="$1")
	NODE_TIMEOUT=400 on 1 "brings rc_requests $2 inside vqp-a vqpt read 10.90.0.3 $target --bytes=$1 --count=$2 ${*:3}"
}

@test "reads of 8 bytes" { reads 8 100; }
@test "reads of 5,000 bytes into seven pieces" { reads 5000 100 --sges=7; }
@test "reads of 200,001 bytes, more pages than a work request has, into 16 pieces" { reads 200001 60 --sges=16; }
@test "reads of 3 MiB, across windows" { reads 3M 20; }

# tests/kernel/pull.bats has all about these; this is for whoever has not the time for it
@test "messages of 300 KiB, which their receiver reads" {
	on 2 'serve vqp-c echo-server 720 --bytes=300K --depth=8'
	on 1 'brings zcopy_messages 10 inside vqp-a vqpt send 10.90.0.3 720 --bytes=300K --depth=8 --count=100'
}

@test "a peer that is not busy is no reason for a link" {
	target=$(server mem-server 711)
	on 1 "eventually links_down
		before=\$(events rc_requests)
		inside vqp-a vqpt read 10.90.0.3 $target --count=10
		(( \$(events rc_requests) == before && \$(alive link) == 0 ))"
}

@test "a link that nobody uses is let go, with its windows" {
	target=$(server mem-server 711)
	on 1 "brings rc_requests 1 inside vqp-a vqpt read 10.90.0.3 $target --count=100
		eventually links_down"
	on 2 'eventually windows_closed'
}

@test "a region without remote access is not reached by rc either" {
	target=$(server weave-server 710)
	on 1 "weave 10.90.0.3 $target"
	bare=$(on 2 'serve vqp-c mem-server 712 --access=1; echo $port $key $addr')
	run on 1 "inside vqp-a vqpt read 10.90.0.3 $bare --count=10"
	[ "$status" -ne 0 ]
	[[ $output == *"completed with status 10"* ]]
	on 1 woven_end
}

@test "another tenant's region is not reached by rc either" {
	target=$(server weave-server 710)
	on 1 "weave 10.90.0.3 $target"
	other=$(on 2 'serve vqp-d mem-server 712; echo $key $addr')
	on 2 'serve vqp-c mem-server 712'
	run on 1 "inside vqp-a vqpt read 10.90.0.3 712 $other --count=10"
	[ "$status" -ne 0 ]
	[[ $output == *"completed with status 10"* ]]
	on 1 woven_end
}

@test "a list of requests to memory that nobody offers has few windows looked up, and few asked for" {
	target=$(server mem-server 711)
	on 1 "brings rc_requests 100 inside vqp-a vqpt read 10.90.0.3 $target --count=200
		traces_lookups inside vqp-a vqpt stray 10.90.0.3 ${target% *} 0x100000000000 --list=2000 --sges=16 --bytes=4M
		looked_up_at_once 64 2048
		asked_within 256 4096"
}

# By a ratio, since a machine that emulates nodes is as slow as it likes.
@test "such a list has a VQP's lock for no longer at a time than a short one" {
	on 1 tells_by_probes || skip "this kernel has no events by kprobes"
	target=$(server mem-server 711)
	NODE_TIMEOUT=400 on 1 "list_costs_at_most 6 longest_post 10.90.0.3 $target"
}

@test "others may run between the pieces of a list of receives" {
	on 1 tells_by_probes || skip "this kernel has no events by kprobes"
	on 1 'lets_others_run 4096 serve vqp-a echo-server 721 --depth=4096 --list=4096 --bytes=1'
}

@test "no verb of the device is called with the mutex of the windows" {
	on 2 tells_by_probes || skip "this kernel has no events by kprobes"
	target=$(server mem-server 711)
	on 2 'eventually windows_closed; begin_verbs'
	on 1 "serve vqp-a flood read 10.90.0.3 $target --bytes=8 --depth=8; goes_on; stop_all"
	on 2 'stop_all; eventually windows_closed; verbs_were_outside_the_mutex'
}

# Two servers on node 2, of namespaces of their own, end one after the other. Node 1 reaches 200 regions of the first.
ends_in_turn() {
	local many one status=0
	many=$(on 2 'serve vqp-c regions-server 730 --count=200; echo $key $addr; echo $pid >/run/vqp/many')
	one=$(on 2 'serve vqp-d mem-server 731; echo $key $addr; echo $pid >/run/vqp/one')
	on 1 "serve vqp-a regions 10.90.0.3 730 $many --count=200; serve vqp-b flood read 10.90.0.4 731 $one --bytes=8"
	NODE_TIMEOUT=200 on 2 'within 150 windows_are 202'
	on 2 'told_in_turn $(cat /run/vqp/many /run/vqp/one)' || status=$?
	on 1 stop_all
	return "$status"
}

@test "namespaces take turns when nodes are told of regions that end" {
	local status=2 tries
	on 2 tells_by_probes || skip "this kernel has no events by kprobes"
	for ((tries = 0; tries < 5 && status == 2; tries++)); do
		status=0
		ends_in_turn || status=$?
	done
	((!status))
}

@test "1,000 times from dc to rc and back: all requests once, and in order" {
	before=$(on 1 'events rc_switches')
	begin_weaving
	NODE_TIMEOUT=600 on 1 "switches_until $((before + 999))"
}

@test "acknowledgements are lost until the link fails: all requests once, and in order" {
	can_lose 1
	begin_weaving
	on 1 'for i in 1 2; do lose_until_failure 0x11; done; woven_end'
}

@test "answers to reads are lost until the link fails: all requests once, and in order" {
	can_lose 1
	begin_weaving
	on 1 'for i in 1 2; do lose_until_failure 0x10; done; woven_end'
}

# OPCODE BYTES: reads from node 2, which cannot send a first answer of that opcode, until a link has failed.
reads_without_answer() {
	local target
	can_lose 2
	target=$(server mem-server 711 --bytes="$2")
	on 2 "cannot_send $1"
	on 1 "brings rc_failures 1 inside vqp-a vqpt read 10.90.0.3 $target --bytes=$2 --count=100"
}

@test "READs whose first answer cannot be sent are carried out again: of several packets" {
	reads_without_answer 0x0d 20000
}

@test "READs whose first answer cannot be sent are carried out again: of one packet" {
	reads_without_answer 0x10 1000
}

@test "READs whose first answer cannot be sent are carried out again: of fewer bytes than a seal has" {
	reads_without_answer 0x10 3
}

@test "a VQP is destroyed only when the NIC writes no more to its memory" {
	can_lose 1
	target=$(server mem-server 712)
	on 1 "serve vqp-a flood read 10.90.0.3 $target --bytes=8 --depth=8; goes_on; destroyed_when_settled"
}

@test "writes are lost until the link fails: all requests once, and in order" {
	can_lose 2
	begin_weaving
	for i in 1 2; do
		before=$(on 1 'events rc_failures')
		on 2 'lose 0x0a'
		on 1 "eventually more_than rc_failures $before"
		on 2 lose_no_more
		on 1 goes_on
	done
	on 1 woven_end
}

@test "all is lost for a while: all requests once, and in order" {
	begin_weaving
	fault partition 2 for 1.5
	on 1 'goes_on; woven_end'
}

@test "the target's parent goes and comes back: all requests once, and in order" {
	begin_weaving
	for i in 1 2; do
		fault parent-gone 2 for 0.5
		on 1 goes_on
	done
	on 1 woven_end
}

@test "the initiator's parent goes: its requests fail, and others go by rc with the next" {
	begin_weaving
	fault parent-gone 1 for 0.5
	on 1 'eventually woven_ended && ! grep -x "status 0" $woven-vqp-a'
	on 2 stop_all
	on 1 'known vqp-a 10.90.0.3'
	begin_weaving
	on 1 woven_end
}

@test "a server is killed: its clients' requests fail, others on the link notice nothing" {
	begin_weaving
	# a link fails by itself, too, when a node stands still for a third of a second
	for _ in {1..5}; do
		other=$(on 2 'serve vqp-d weave-server 0; echo $port $key $addr; echo $pid >/run/vqp/victim')
		on 1 "weave 10.90.0.4 $other vqp-b"
		before=$(on 1 'events rc_failures')
		on 2 'kill -9 $(cat /run/vqp/victim)'
		on 1 'eventually woven_ended vqp-b; grep "completed with status" $woven-vqp-b; goes_on'
		after=$(on 1 'events rc_failures')
		((after > before)) || break
	done
	((after == before))
	on 1 woven_end
}

@test "a client is killed: nothing of it is left, others on the link notice nothing" {
	on 1 "weave 10.90.0.3 $(server weave-server 710)"
	other=$(on 2 'serve vqp-d weave-server 710; echo $port $key $addr')
	on 1 "another_is_killed 10.90.0.4 $other"
}

@test "a namespace goes while its memory is reached by rc: requests fail, no window is left" {
	on 2 'box vqp-e 9 10.90.0.5'
	target=$(on 2 'serve vqp-e weave-server 710; echo $port $key $addr')
	on 1 "known vqp-a 10.90.0.5; weave 10.90.0.5 $target"
	on 2 'eventually windows_open; vqpctl ns del --netns /run/netns/vqp-e; eventually windows_closed'
	on 1 'eventually woven_ended && grep "completed with status" $woven-vqp-a'
	on 2 'stop_all; ip netns del vqp-e'
}
