#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,four,virtual,long,budget:560
# Links and windows: who gets them where there are not enough. What runs on the nodes is in crowd.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links


helpers=kernel/crowd.bash

setup_file() {
	set_up_links
	on 3 'box vqp-e 9 10.90.0.5'
	on 4 'box vqp-f 9 10.90.0.6'
}

teardown() {
	fault off
	links_to_2 32
	on_each bash -c 'source /vqp/tests/lib/vqp.bash; rm -f /run/vqp/reading; stop_all'
}

teardown_file() { on_each bash -c 'source /vqp/tests/lib/vqp.bash; remove_boxes'; }

# NODE...: from each of them, what vqp-c offers in eight regions is read
read_regions() {
	local node names=(- vqp-a - vqp-e vqp-f)
	server=$(on 2 'serve vqp-c regions-server 730 --count=8; echo $key $addr')
	for node; do
		on "$node" "known ${names[node]} 10.90.0.3; serve ${names[node]} regions 10.90.0.3 730 $server --count=8; goes_on"
	done
}

# NODE...: those fall silent; in how many milliseconds is a server gone that is killed then?
silent_peers_cost() {
	read_regions "$@"
	on 2 'eventually windows_are 8'
	fault partition 2
	on 2 gone_in_ms
	fault off
	on_each bash -c 'source /vqp/tests/kernel/crowd.bash; stop_all; eventually links_down'
}

@test "all nodes that reach a region share its windows" {
	read_regions 1 3 4
	on 2 'windows=$(alive window); echo "$windows windows"; (( 8 <= windows && windows <= 9 ))'
}

@test "peers that are cut off cost a server that ends no more time than one of them does" {
	one=$(silent_peers_cost 1)
	three=$(silent_peers_cost 1 3 4)
	echo "$one ms for one, $three ms for three"
	((three < one + 1000))
}

@test "namespaces whose addresses leave together end together, though the peers of each are silent" {
	local node names=(- vqp-a - vqp-e vqp-f)
	for node in 1 3 4; do
		target=$(on 2 "housed gone-$node 9 10.93.0.$node; serve gone-$node mem-server 733"' ; echo $key $addr')
		on "$node" "known ${names[node]} 10.93.0.$node; serve ${names[node]} flood read 10.93.0.$node 733 $target --bytes=8; goes_on"
	done
	on 2 'eventually windows_are 3; begin_ends'
	fault partition 2
	on 2 'leave 10.93.0 1 3 4; ends_were_together 3'
}

@test "containers that are detached one after the other end together, though the peers of each are silent" {
	local node names=(- vqp-a - vqp-e vqp-f)
	for node in 1 3 4; do
		target=$(on 2 "attached left-$node 9 10.94.0.$node; serve left-$node mem-server 733"' ; echo $key $addr')
		on "$node" "known ${names[node]} 10.94.0.$node; serve ${names[node]} flood read 10.94.0.$node 733 $target --bytes=8; goes_on"
	done
	on 2 'eventually windows_are 3; begin_ends'
	fault partition 2
	on 2 'detach left-{1,3,4}; ends_were_together 3'
}

@test "a namespace that has all the windows it may have gets others for what it reaches now" {
	server=$(on 2 'serve vqp-c regions-server 730 --count=300; echo $key $addr $last_key $last_addr')
	read -r key addr last_key last_addr <<<"$server"
	on 1 "serve vqp-a regions 10.90.0.3 730 $key $addr --count=255"
	on 2 'eventually windows_are 256'
	on 1 "stop_all; serve vqp-a flood read 10.90.0.3 730 $last_key $last_addr --bytes=8; goes_on"
}

@test "a namespace that has few windows gets one when others have taken all of the node" {
	local i targets=()
	on 2 'for i in {1..4}; do box many-$i 2$i 10.91.0.$i; done'
	on 1 'for i in {1..4}; do box many-$i 2$i 10.92.0.$i; known many-$i 10.91.0.$i; done'
	mapfile -t targets < <(on 2 'serve_regions many-{1..4}')
	for i in {1..4}; do
		# and their list: as many windows as it may have
		on 1 "serve many-$i regions 10.91.0.$i 730 ${targets[i - 1]} --count=255"
	done
	NODE_TIMEOUT=200 on 2 'within 150 windows_are 1024'
	on 1 stop_all
	target=$(server mem-server 731)
	on 1 "serve vqp-a flood read 10.90.0.3 $target --bytes=8; goes_on"
}

# NUMBER: so many links may node 2 be the target of
links_to_2() { on 2 "echo $1 >/sys/module/vqp/parameters/rc_max"; }

@test "a busy client gets the link of one that uses it little" {
	target=$(server mem-server 732)
	on_each bash -c 'source /vqp/tests/kernel/crowd.bash; eventually links_down'
	links_to_2 1
	on 1 "reads_now_and_then 10.90.0.3 $target; goes_on"
	on 3 "known vqp-e 10.90.0.3; serve vqp-e flood read 10.90.0.3 $target --bytes=8 --depth=8; within 60 goes_on"
	on 1 'eventually links_down'
}

@test "a client that is refused a link makes nothing for it, and asks less and less" {
	target=$(server mem-server 732)
	links_to_2 0
	on 2 begin_asks
	on 4 "known vqp-f 10.90.0.3; asks_in_vain 12 10.90.0.3 $target"
	on 2 'asks_were_at_most 5'
}

# A target looks once a minute whether something has come, and asks when twice in a row nothing has.
@test "peers that are cut off are asked at the same time whether they live" {
	read_regions 1 3 4
	on 2 'eventually windows_are 8; begin_calls'
	fault partition 2
	NODE_TIMEOUT=250 on 2 'within 200 calls_are 3; calls_were_together 3'
}

# NODE NAME: vqp-f is written to from there once. Its server's VQPs, which lead back to the node, are gone afterwards.
write_to_f() {
	target=$(on 4 'serve vqp-f mem-server 735 --bytes=5000; echo $key $addr')
	on "$1" "known $2 10.90.0.6; inside $2 vqpt write 10.90.0.6 735 $target --bytes=5000"
	on 4 'stop_all; eventually none_alive'
}

@test "a node that may remember one peer and two addresses serves three nodes in turn" {
	on 4 'remove_boxes
		bash /vqp/tests/programs/services unload
		bash /vqp/tests/programs/services start rc_busy=16 peers_max=1 cache_max=2
		box vqp-f 9 10.90.0.6'
	for _ in 1 2 3; do
		write_to_f 1 vqp-a
		write_to_f 2 vqp-c
		write_to_f 3 vqp-e
	done
	# one of them is that of the meta server, to which the node has a VQP
	on 4 'echo "$(alive peer) peers, $(alive cache) addresses"; (($(alive peer) <= 2 && $(alive cache) <= 2))'
}
