#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:240
# The node's address and MTU: which address is chosen, and what happens when they change. What runs on the nodes is in
# address.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

helpers=kernel/address.bash

setup_file() { set_up_links; }

teardown_file() {
	on 1 'remove_boxes; restored' && on 2 'remove_boxes; restored'
}

@test "an address that goes and comes back, as with DHCP, costs no request" {
	on 1 "forget_log; weave 10.90.0.3 $(server weave-server 740)"
	on 2 forget_log
	for node in 2 1; do
		on "$node" "begin_probes 'p:vqp_test/renew peer_renew_work'; goes_until said 'rxe0 has lost'"
		on "$node" 'eventually said "rxe0 has the address .* again"'
		on 1 goes_on
		on "$node" 'handles_are_new; not said "rxe0 is no longer the parent"'
	done
	on 1 woven_end
}
@test "without its address the node has another, until the first is there again" {
	on 2 'forget_log; goes_until parent_is fd77::2 IPv6; eventually parent_is ::ffff:10.77.0.2 primary
		serve vqp-c echo-server 741'
	on 1 'eventually inside vqp-a vqpt send 10.90.0.3 741'
}
@test "addresses that come and go all the time have the node look at its own ten times a second at most" {
	on 2 flapping_costs_few_looks
}
@test "a smaller MTU is followed" {
	on_each bash -c 'source /vqp/tests/kernel/address.bash; forget_log; ip link set data0 mtu 1500
		eventually said "parent rxe0 .* mtu 1024"'
	on 2 'serve vqp-c echo-server 742 --bytes=100K --depth=4'
	on 1 'eventually inside vqp-a vqpt send 10.90.0.3 742 --bytes=100K --depth=4 --count=10'
}
@test "a link-local address serves until the node has its own" {
	on 2 'remove_boxes; loads_with; eventually parent_is fe80:.* link-local
		ip address add "$own" dev data0; eventually parent_is ::ffff:10.77.0.2 primary'
}
@test "a node with IPv6 addresses alone has one of them" {
	on 2 'loads_with "$own6"; eventually parent_is fd77::2 IPv6'
}
@test "neither a virtual address nor that of a VLAN, which came first, is taken for the node's" {
	on 2 'loads_with 10.77.0.200/32 "$own"; eventually parent_is ::ffff:10.77.0.2 primary'
	on 2 'bash /vqp/tests/programs/services unload; has_addresses
		ip link add link data0 name data0.9 type vlan id 9 && ip link set data0.9 up
		ip address add 10.78.0.2/24 dev data0.9; eventually gids_are 1 0000:0000:0000:0000:0000:ffff
		ip address add "$own" dev data0; eventually gids_are 2 0000:0000:0000:0000:0000:ffff
		forget_log; insmod "/vqp/build/kmod-$(uname -r)/vqp.ko"
		eventually parent_is ::ffff:10.77.0.2 primary'
}
