#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,heart,budget:270
# The daemons and vqpctl on two nodes. What runs on the nodes is in tests/node/node.bash.
# On one kernel: little of it is the kernel's.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=node/node.bash

# What vqpd is asked to announce from now on, it announces at once.
in_touch() { on_each bash -c 'source /vqp/tests/node/node.bash; eventually meta_up true'; }

setup_file() {
	vqp_up && in_touch
}

# A test that stops or replaces a daemon calls this first.
disturb() { touch "$BATS_FILE_TMPDIR/disturbed"; }

teardown() {
	on 1 remove_boxes && on 2 remove_boxes || return
	if [ -e "$BATS_FILE_TMPDIR/disturbed" ]; then
		rm "$BATS_FILE_TMPDIR/disturbed" && vqp_services_stop && on_each rm -rf /etc/credstore && vqp_up && in_touch
	fi
}

teardown_file() {
	vqp_services_stop
}

# ---- vqpctl ns ----

@test "vqpctl: an added namespace is listed with all that is known of it" {
	on 1 'box node-a 3 10.95.0.1'
	on 1 'vqpctl ns list --json | jq -e ".[] | select(.tenant == 3) | del(.netns_ino) | (.counters |= map(.value)) ==
		{tenant: 3, gid: \"::ffff:10.95.0.1\", name: \"node-a\", vqps: 0, mrs: 0, contexts: 0, pinned_bytes: 0,
		max_vqps: \"unlimited\", max_mrs: \"unlimited\", max_bytes: \"unlimited\",
		max_rate: \"unlimited\", priority: 2, sockets: false,
		streams: 0, trunks: 0, stream_bytes: 0, counters: [0, 0, 0, 0, 0, 0, 0]}"'
	run on 1 '[ "$(vqpctl ns list --json | jq ".[] | select(.tenant == 3).netns_ino")" = "$(stat -Lc %i /run/netns/node-a)" ]'
	[ "$status" -eq 0 ]
}

@test "vqpctl: the same namespace may be added again" {
	on 1 'box node-a 3 10.95.0.1
		vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1
		[ "$(vqpctl ns list --json | jq "map(select(.tenant == 3)) | length")" = 1 ]'
}

@test "vqpctl: a netns is named by name, path or process" {
	on 1 netns_by_name_path_or_process
}

@test "vqpctl: the namespaces of a netns are of one tenant" {
	on 1 'box node-a 3 10.95.0.1'
	run on 1 'vqpctl ns add --netns node-a --tenant 4 --address 10.95.0.2'
	[ "$status" -eq 73 ]
	[ "$output" = "vqpctl: node-a already has a VQP namespace of another tenant: vqpctl ns del --netns node-a" ]
}

@test "vqpctl: an address belongs to one netns of a node" {
	on 1 'box node-a 3 10.95.0.1; ip netns add node-b'
	run on 1 'vqpctl ns add --netns node-b --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 73 ]
	[ "$output" = "vqpctl: tenant 3's address 10.95.0.1 is taken on this node: vqpctl ns list" ]
}

@test "vqpctl: tenants may use the same address" {
	on 1 'box node-a 3 10.95.0.1; box node-b 4 10.95.0.1'
}

@test "vqpctl: the host's netns gets no namespace" {
	run on 1 'vqpctl ns add --netns pid:1 --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 64 ]
	run on 1 'present 3 10.95.0.1'
	[ "$status" -eq 1 ]
}

@test "vqpctl: what is no netns is refused" {
	run on 1 'vqpctl ns add --netns nobody --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 66 ]
	[ "$output" = "vqpctl: --netns nobody: No such file or directory" ]
	run on 1 'vqpctl ns add --netns /proc/1/ns/mnt --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: --netns /proc/1/ns/mnt: no network namespace" ]
	run on 1 'vqpctl ns add --netns /etc/passwd --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 64 ]
}

@test "vqpctl: tenant 0 and addresses of many are refused" {
	on 1 'ip netns add node-a'
	run on 1 'vqpctl ns add --netns node-a --tenant 0 --address 10.95.0.1'
	[ "$status" -eq 64 ]
	run on 1 'vqpctl ns add --netns node-a --tenant 3 --address 224.0.0.1'
	[ "$status" -eq 64 ]
	run on 1 'vqpctl ns add --netns node-a --tenant 3 --address nonsense'
	[ "$status" -eq 64 ]
	[[ $output == *"literal IPv4 or IPv6 address, not 'nonsense'" ]]
}

@test "vqpctl: a namespace is deleted by its netns or by its address, once" {
	on 1 deleted_by_netns_or_address
	run on 1 'vqpctl ns del --netns node-a'
	[ "$status" -eq 66 ]
	run on 1 'vqpctl ns del --tenant 3 --address 10.95.0.2 --json 2>/dev/null | jq -r .errno'
	[ "$output" = ENOENT ]
}

@test "vqpctl: a namespace goes with its netns" {
	on 1 'box node-a 3 10.95.0.1
		ip netns del node-a
		eventually not present 3 10.95.0.1'
}

@test "vqpctl: who has no rights may look and not touch" {
	on 1 'box node-a 3 10.95.0.1'
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl ns list --json | jq -e "any(.[]; .tenant == 3)"'
	[ "$output" = true ]
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl ns del --tenant 3 --address 10.95.0.1'
	[ "$status" -eq 77 ]
	[[ $output == *"run as root" ]]
	# to which peers containers talk is not for everybody
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl ss'
	[ "$status" -eq 77 ]
	[[ $output == *"run as root" ]]
	on 1 'present 3 10.95.0.1; vqpctl ss'
}

@test "vqpctl: limits come with the namespace, and are shown beside what is used" {
	on 1 'ip netns add node-a
		vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --name node-a --max-vqps 5 --max-mrs 6 --max-bytes 64K
		[ "$(limits_of 3 10.95.0.1)" = 5/6/65536 ]
		serve node-a hold mrs --bytes=8K --count=2'
	run on 1 'vqpctl ns list | grep node-a | tr -s " " | cut -d" " -f1-3,5-'
	[ "$output" = "3 ::ffff:10.95.0.1 node-a 0/5 2/6 1 16384/65536 - normal 0 0 0 off" ]
}

@test "vqpctl: ns set changes the limits it is given, by netns or address, as often as one likes" {
	on 1 limits_as_often_as_one_likes
}

@test "vqpctl: a rate and a priority come with the namespace, are shown, and changed" {
	on 1 'ip netns add node-a
		vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --name node-a --max-rate 1M --priority high --without-policy
		[ "$(sending_of 3 10.95.0.1)" = 1048576/3 ]'
	run on 1 'vqpctl ns list | grep node-a | tr -s " " | cut -d" " -f9-'
	[ "$output" = "1048576 high 0 0 0 off" ]
	on 1 rate_and_priority_change
}

@test "vqpctl: sockets come with the namespace or later, are shown, and stay what they are" {
	on 1 'ip netns add node-a
		vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --name node-a --sockets on --without-policy
		vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --max-vqps 5
		vqpctl ns list --json | jq -e "any(.[]; .name == \"node-a\" and .sockets and .max_vqps == 5)"
		vqpctl ns set --netns node-a --sockets off
		vqpctl ns list --json | jq -e "any(.[]; .name == \"node-a\" and (.sockets | not) and .max_vqps == 5)"'
	run on 1 'vqpctl ns set --netns node-a --sockets yes'
	[ "$status" -eq 64 ]
	[[ $output == 'vqpctl: --sockets: sockets are "on", "off", or as "only:80,'* ]]
}

@test "vqpctl: the same namespace added again gets the limits that are given, and keeps the others" {
	on 1 added_again_keeps_limits
}

@test "vqpctl: limits belong to a namespace that is there, and not to the host's" {
	on 1 'ip netns add node-a'
	run on 1 'vqpctl ns set --netns node-a --max-vqps 5'
	[ "$status" -eq 66 ]
	[ "$output" = "vqpctl: there is no such VQP namespace" ]
	run on 1 'vqpctl ns set --tenant 3 --address 10.95.0.1 --max-vqps 5'
	[ "$status" -eq 66 ]
	run on 1 'vqpctl ns set --tenant 0 --address 10.77.0.1 --max-vqps 5'
	[ "$status" -eq 66 ]
	run on 1 'vqpctl ns set --netns pid:1 --max-vqps 5'
	[ "$status" -eq 66 ]
}

@test "vqpctl: limits that are none are told what they are" {
	run on 1 'vqpctl ns set --netns node-a --max-vqps x'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: --max-vqps takes a number, also with K, M, G or T, or unlimited, not 'x'" ]
	run on 1 'vqpctl ns set --netns node-a --max-bytes 1KB'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: --max-bytes takes a number, also with K, M, G or T, or unlimited, not '1KB'" ]
	run on 1 'vqpctl ns set --netns node-a --max-rate 65535'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: --max-rate takes unlimited, or at least 65536, not '65535'" ]
	run on 1 'vqpctl ns set --netns node-a --priority 3'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: --priority takes low, normal or high, not '3'" ]
	run on 1 'vqpctl ns set --netns node-a'
	[ "$status" -eq 64 ]
	[ "$output" = "vqpctl: what to set? --max-vqps, --max-mrs, --max-bytes, --max-rate, --priority or --sockets" ]
}

@test "vqpctl: limits are root's to set" {
	on 1 'box node-a 3 10.95.0.1'
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl ns set --tenant 3 --address 10.95.0.1 --max-vqps 5'
	[ "$status" -eq 77 ]
	on 1 '[ "$(limits_of 3 10.95.0.1)" = -/-/- ]'
}

# ---- vqpctl: what it shows ----

# NODE: its RDMA device.
device_of() { on "$1" 'echo $device'; }

@test "vqpctl: status tells all of the node" {
	run on 1 'vqpctl status --json | jq -c "[.parent, .node_gid, (.epoch > 0), (.mtu >= 1024), (.pool_bytes > 0),
		(.lanes | length > 0), (.vqpd.ok and .vqpd.module), .vqpd.meta[0].server, .vqpd.meta[0].up,
		(.counters | any(.name == \"ns\" and .made >= .freed))]"'
	[ "$output" = "[\"$(device_of 1)\",\"::ffff:10.77.0.1\",true,true,true,true,true,\"10.77.0.1\",true,true]" ]
}

@test "vqpctl: status tells people the same" {
	run on 1 'vqpctl status'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "parent      $(device_of 1), ::ffff:10.77.0.1, UD payload 4096 bytes" ]
	[[ $output == *$'\nvqpd        running, '*$' namespaces\nmeta        10.77.0.1, up\n'* ]]
}

@test "vqpctl: status without vqpd says how to start it" {
	run on 1 'vqpctl status --socket /nonexistent/vqpd.sock'
	[ "$status" -eq 0 ]
	[[ $output == *"vqpd        vqpd is not running: systemctl start vqpd (socket /nonexistent/vqpd.sock)"* ]]
}

@test "vqpctl: the pool is shown" {
	run on 2 'vqpctl pool --json | jq -c "[.parent, .mtu, (.lanes | length > 0), (.pool_bytes > 0)]"'
	[ "$output" = "[\"$(device_of 2)\",4096,true,true]" ]
}

@test "vqpctl: VQPs are shown with state, carrier and peer" {
	on 1 'box node-a 3 10.95.0.1; serve node-a echo-server 700'
	run on 1 'vqpctl vqps --json | jq -c ".[] | select(.tenant == 3) | [.gid, .state, .carrier, .port]"'
	[ "$output" = '["::ffff:10.95.0.1","bound","none",700]' ]
	on 2 'box node-b 3 10.95.0.2; eventually reaches node-b 10.95.0.1'
	run on 2 'inside node-b vqpt send 10.95.0.1 700 --count=100000000 >/dev/null 2>&1 &
		eventually eval "vqpctl vqps --json | jq -e \"any(.[]; .tenant == 3 and .state == \\\"connected\\\")\""
		vqpctl vqps --json | jq -c ".[] | select(.tenant == 3) | [.gid, .state, .carrier, .remote_gid, .remote_port]"
		stop_all'
	[ "$output" = '["::ffff:10.95.0.2","connected","dc","::ffff:10.95.0.1",700]' ]
}

@test "vqpctl: nodes that were talked to are shown" {
	on 1 'vqpctl ping 10.77.0.2 --count 1'
	run on 1 'vqpctl peers --json | jq -c ".[] | select(.node_gid == \"::ffff:10.77.0.2\") | .tx_packets > 0"'
	[ "$output" = true ]
}

@test "vqpctl: the cache fills by connecting, and is flushed by address or all" {
	on 1 'box node-a 3 10.95.0.1; box node-b 3 10.95.0.2'
	on 2 'box node-c 3 10.95.0.3; vqpctl cache flush; eventually reaches node-c 10.95.0.1; eventually reaches node-c 10.95.0.2'
	on 2 cache_is_flushed
}

@test "vqpctl: tables are for people, JSON for programs" {
	run on 1 'vqpctl ns list'
	[[ ${lines[0]} == "TENANT  ADDRESS"* ]]
	on 1 'vqpctl ns list --json | jq -e "type == \"array\""'
}

@test "vqpctl: misuse is told apart from failure" {
	local words
	for words in '' bogus ns 'ns bogus' 'ns list extra' 'ns list --tenant 1' 'ns add --tenant x' 'ns add --max-vqps -1' 'ns add --max-mrs none' 'ns add --max-rate 0' 'ns add --max-bytes 1X' 'ns list --max-vqps 1' 'ns set --netns x' \
		'ping' '--bogus' 'ping 10.77.0.2 --count 0'; do
		run on 1 "vqpctl $words"
		[ "$status" -eq 64 ] || { echo "vqpctl $words: $status"; return 1; }
		[ -n "$output" ]
	done
	run on 1 'vqpctl ns --help'
	[ "$status" -eq 0 ]
	[[ $output == *"vqpctl ns add --netns NETNS"* ]]
}

@test "vqpctl: a meta server is named so that it can be asked" {
	run on 2 'vqpctl meta set 10.77.0.1:x:y'
	[ "$status" -eq 64 ]
	run on 2 'vqpctl meta set {,}{,}{10.77.0.1,10.77.0.1} 10.77.0.1'
	[ "$status" -eq 64 ]
	[[ $output == "vqpctl: usage: "* ]]
	run on 2 'vqpctl meta set nobody.invalid --json 2>/dev/null | jq -r .errno'
	[ "$output" = EHOSTUNREACH ]
	on 2 table_key
}

# ---- vqpctl ping ----

@test "ping: from node to node" {
	run on 1 'vqpctl ping 10.77.0.2 --count 3 --json | jq -c "[.ok, (.round_trips_us | length), .min_us > 0, .min_us <= .avg_us, .avg_us <= .max_us]"'
	[ "$output" = '[true,3,true,true,true]' ]
}

@test "ping: a node pings itself" {
	on 2 'vqpctl ping 10.77.0.2 --count 1'
}

@test "ping: between containers, and not between tenants" {
	on 1 'box node-a 3 10.95.0.1; box node-b 4 10.95.0.2'
	on 2 'box node-c 3 10.95.0.3; eventually reaches node-c 10.95.0.1'
	run on 2 'reaches node-c 10.95.0.2'
	[ "$status" -eq 68 ]
}

@test "ping: an address nobody has" {
	run on 1 'vqpctl ping 10.95.9.9'
	[ "$status" -eq 68 ]
	[ "$output" = "vqpctl: nobody of this tenant has the address 10.95.9.9" ]
}

@test "ping: a word is no address, a file no netns, and nodes are pinged by root" {
	run on 1 'vqpctl ping node2'
	[ "$status" -eq 64 ]
	run on 1 'vqpctl ping 10.77.0.2 --netns /etc/passwd'
	[ "$status" -eq 64 ]
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl ping 10.77.0.2'
	[ "$status" -eq 77 ]
	[[ $output == *"run as root" ]]
}

@test "ping: from a netns without a namespace" {
	on 1 'ip netns add node-a'
	run on 1 'vqpctl ping --netns node-a 10.95.0.1'
	[ "$status" -eq 69 ]
	[ "$output" = "vqpctl: this network namespace has no VQP namespace: vqpctl ns add" ]
}

# ---- the daemons' options ----

@test "daemons: misuse is told, and nothing is started" {
	local words
	for words in 'vqpd --bogus' 'vqpd extra' 'vqpd --lease 0' 'vqpd --lease x' 'vqpd --meta a:b:c' \
		'vqpd -m{1,2,3,4,5,6,7,8,9}' 'vqp-metad --bogus' 'vqp-metad extra' 'vqp-metad --buckets 3' \
		'vqp-metad --buckets 0' 'vqp-metad --listen 127.0.0.1:x' 'vqp-metad --listen localhost' 'vqpd --meta node1:http' \
		'vqpd --socket /run/vqp/second.sock --metrics localhost' 'vqp-metad --listen :7471 --metrics localhost' \
		'vqpd --log-level loud' 'vqp-metad --log-level 3'; do
		run on 2 "timeout 10 $words"
		[ "$status" -eq 64 ] || { echo "$words: $status, $output"; return 1; }
		[ -n "$output" ]
	done
}

@test "daemons: what they cannot have ends them with its name" {
	run on 1 'timeout 10 vqp-metad --listen 10.77.0.1:7471'
	[ "$status" -eq 69 ]
	[ "${lines[-1]}" = "vqp-metad: cannot listen on 10.77.0.1:7471: Address already in use" ]
	run on 1 'timeout 10 vqpd --socket /etc/passwd/vqpd.sock'
	[ "$status" -eq 69 ]
	[ "${lines[-1]}" = "vqpd: cannot listen on /etc/passwd/vqpd.sock: Not a directory" ]
	run on 1 'timeout 10 vqpd --socket /run/vqp/second.sock --metrics 10.77.0.1:7471'
	[ "$status" -eq 69 ]
	[ "${lines[-1]}" = "vqpd: cannot serve metrics on 10.77.0.1:7471: Address already in use" ]
	on 1 'ip netns add node-a'
	run on 1 'timeout 10 ip netns exec node-a vqp-metad --listen 127.0.0.1:7471'
	[ "$status" -eq 69 ]
	[ "$output" = "vqp-metad: run vqp-metad in the host's network namespace" ]
}

@test "daemons: --log-level leaves out what is below it, and the journal is told the level" {
	disturb
	on 1 log_has_levels
}

@test "daemons: --help tells the options" {
	on 1 'vqpd --help | grep -e --metrics; vqp-metad --help | grep -e --buckets; vqpctl --help | grep -e "vqpctl ping"'
}

@test "daemons: --version tells the version" {
	on 1 versions_are_told
}

@test "daemons: when they serve they have the capabilities they need, and few system calls" {
	on 1 'is_confined vqpd 0000000000001000; is_confined vqp-metad 0000000000001000'
}

@test "daemons: what their units leave them is enough, and vqp-metad need not be root" {
	disturb
	on 1 units_leave_enough
}

# ---- vqpd ----

@test "vqpd: adds, lists and deletes" {
	on 1 'ip netns add node-a'
	run on 1 'add c1 node-a 3 10.95.0.1 | jq -c "[.ok, .gid, .tenant, .published]"'
	[ "$output" = '[true,"::ffff:10.95.0.1",3,true]' ]
	run on 1 'ask "{\"op\":\"list\"}" | jq -c ".namespaces[] | select(.tenant == 3) | [.name, .gid, .published]"'
	[ "$output" = '["c1/eth0","::ffff:10.95.0.1",true]' ]
	run on 1 'del c1'
	[ "$output" = '{"ok":true,"deleted":1}' ]
	on 1 'not present 3 10.95.0.1'
}

@test "vqpd: an add answers with the limits that it has set" {
	on 1 'ip netns add node-a
		all="max_mrs: \"unlimited\", max_bytes: \"unlimited\", max_rate: \"unlimited\", priority: 2"
		add c1 node-a 3 10.95.0.1 "{\"max_vqps\":5}" | jq -e ".limits == {max_vqps: 5, $all}"
		add c1 node-a 3 10.95.0.1 | jq -e ".limits == {max_vqps: \"unlimited\", $all}"'
}

@test "vqpd: an attachment is listed with its network, and a del of another network's leaves it" {
	on 1 attachment_has_its_network
}

@test "vqpd: each attachment of a network namespace has a namespace of its own, and takes that alone away" {
	on 1 'ip netns add node-a
		network=red add c1 node-a 3 10.95.0.1 | jq -e .published
		network=blue add c1 node-a 3 10.95.0.2 | jq -e .published'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.3 | jq -e .published
		reaches node-b 10.95.0.1; reaches node-b 10.95.0.2'
	on 1 attachment_ends_alone
}

@test "vqpd: an address serves one attachment, others are told which" {
	on 1 address_serves_one_attachment
}

@test "vqpd: what was made for a client that went away before its answer is removed" {
	disturb
	on 1 gone_client_leaves_nothing
}

@test "vqpd: a namespace is added with limits, and added again with others" {
	on 1 added_again_with_limits
}

@test "vqpd: limits that it does not know or that are none are refused, and nothing is added" {
	on 1 'ip netns add node-a'
	run on 1 'add c1 node-a 3 10.95.0.1 "{\"max_vqps\":5,\"vqps\":5}" | jq -r ".errno, .error"'
	[ "${lines[0]}" = EINVAL ]
	[ "${lines[1]}" = "\"wish\": \"limits\" has max_vqps, max_mrs, max_bytes, max_rate and priority, not \"vqps\"" ]
	run on 1 'add c1 node-a 3 10.95.0.1 "{\"max_vqps\":\"5\"}" | jq -r ".errno, .error"'
	[ "${lines[0]}" = EINVAL ]
	[ "${lines[1]}" = "\"wish\": \"max_vqps\" must be \"unlimited\" or a number from 0 to 9223372036854775807" ]
	run on 1 'add c1 node-a 3 10.95.0.1 "{\"max_rate\":5}" | jq -r ".errno, .error"'
	[ "${lines[0]}" = EINVAL ]
	[ "${lines[1]}" = "\"wish\": \"max_rate\" must be \"unlimited\" or a number from 65536 to 9223372036854775807" ]
	run on 1 'add c1 node-a 3 10.95.0.1 "{\"priority\":4}" | jq -r ".errno, .error"'
	[ "${lines[0]}" = EINVAL ]
	[ "${lines[1]}" = "\"wish\": \"priority\" must be a number from 1 to 3" ]
	on 1 'not present 3 10.95.0.1'
}

@test "vqpd: the node's policy decides, as it is at that time" {
	on 1 policy_decides
}

@test "vqpd: limits outlive it" {
	disturb
	on 1 limits_outlive_vqpd
	run on 1 'ask "{\"op\":\"list\"}" | jq -c ".namespaces[] | select(.tenant == 3) | [.vqps, .max_vqps, .max_mrs]"'
	[ "$output" = '[0,5,6]' ]
}

@test "vqpd: add and del may be repeated" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	run on 1 'add c1 node-a 3 10.95.0.1 | jq -c "[.ok, .gid, .tenant, .published]"; del c1; del c1'
	[ "${lines[0]}" = '[true,"::ffff:10.95.0.1",3,true]' ]
	[ "${lines[1]}" = '{"ok":true,"deleted":1}' ]
	[ "${lines[2]}" = '{"ok":true,"deleted":0}' ]
}

@test "vqpd: del with a netns means that one alone" {
	on 1 'ip netns add node-a; ip netns add node-b; add c1 node-a 3 10.95.0.1'
	run on 1 'hand /run/netns/node-b "{\"op\":\"del\",\"id\":\"c1\",\"ifname\":\"eth0\"}"'
	[ "$output" = '{"ok":true,"deleted":0}' ]
	run on 1 'hand /run/netns/node-a "{\"op\":\"del\",\"id\":\"c1\",\"ifname\":\"eth0\"}"'
	[ "$output" = '{"ok":true,"deleted":1}' ]
}

@test "vqpd: EEXIST and EADDRINUSE name what is in the way" {
	on 1 'ip netns add node-a; ip netns add node-b; add c1 node-a 3 10.95.0.1'
	run on 1 'add c2 node-a 4 10.95.0.2 | jq -r ".errno, .error"
		add c1 node-a 3 10.95.0.2 | jq -r ".errno, .error"'
	for i in 0 2; do
		[ "${lines[i]}" = EEXIST ]
		[[ ${lines[i + 1]} == "the network namespace of "*" already has a VQP namespace (c1/eth0, tenant 3, address ::ffff:10.95.0.1): "*" vqpctl ns del --tenant 3 --address ::ffff:10.95.0.1" ]]
	done
	run on 1 'add c2 node-b 3 10.95.0.1 | jq -r ".errno, .error"'
	[ "${lines[0]}" = EADDRINUSE ]
	[[ ${lines[1]} == "tenant 3's address ::ffff:10.95.0.1 is taken on this node by c1/eth0: "* ]]
}

@test "vqpd: ill-formed requests are refused and change nothing" {
	on 1 'ip netns add node-a'
	run on 1 'before=$(vqpctl ns list --json)
		add "a/b" node-a 3 10.95.0.1; add c1 node-a 0 10.95.0.1; add c1 node-a 3 10.95.0.1/24
		hand /proc/self/ns/mnt "$(request c1 3 10.95.0.1)"; hand /dev/null "$(request c1 3 10.95.0.1)"; ask "$(request c1 3 10.95.0.1)"
		ask "{\"op\":\"add\"}"; ask "{\"op\":\"bogus\"}"; ask nonsense; ask "{}"; ask "{\"op\":\"del\",\"id\":\"c1\"}"
		[ "$before" = "$(vqpctl ns list --json)" ] && echo unchanged'
	[ "${lines[11]}" = unchanged ]
	local i errnos=()
	for i in {0..10}; do
		errnos+=("$(jq -r 'select(.ok == false and .error) | .errno' <<<"${lines[i]}")")
	done
	[ "${errnos[*]}" = "EINVAL EINVAL EINVAL EINVAL EINVAL EINVAL EINVAL EOPNOTSUPP EBADMSG EINVAL EINVAL" ]
}

@test "vqpd: only root may ask it" {
	run on 1 'stat -c %a /run/vqp/vqpd.sock'
	[ "$output" = 600 ]
	run on 1 'setpriv --reuid 65534 --clear-groups vqpctl status | grep "^vqpd"'
	[ "$output" = "vqpd        no right to ask vqpd (socket /run/vqp/vqpd.sock): run as root" ]
}

@test "vqpd: a silent client holds up nobody" {
	run on 1 silent_clients_hold_up_nobody
	[ "${lines[0]}" = true ]
}

@test "vqpd: who leaves while an add waits for a meta server is forgotten, and so is the add" {
	disturb
	on 2 'ip netns add node-b; ip netns add node-c'
	# a slow node has its answer, without the meta server, before it leaves
	for _ in {1..10}; do
		on 1 'pkill -STOP -x vqp-metad'
		on 2 leaves_while_it_waits
		on 1 'pkill -CONT -x vqp-metad'
		on 2 '[ -s /run/answer ]' || break
		on 2 'del c2; eventually meta_up true'
	done
	on 2 '[ ! -s /run/answer ]; eventually meta_up true; add c3 node-c 3 10.95.0.3 | jq -e .published'
	on 1 'eventually not announced 3 10.95.0.2 2'
}

@test "vqpd: 32 adds at once" {
	on 1 'for i in {1..32}; do ip netns add many$i; done'
	run on 1 'add_many 32 | jq -c "select(.ok)" | wc -l'
	[ "$output" = 32 ]
	run on 1 'vqpctl ns list --json | jq "map(select(.tenant == 5)) | length"'
	[ "$output" = 32 ]
	on 1 'published() { ask "{\"op\":\"list\"}" | jq -e "[.namespaces[] | select(.tenant == 5 and .published)] | length == 32"; }
		eventually published'
}

@test "vqpd: a second one on the same socket is refused" {
	run on 1 'vqpd'
	[ "$status" -eq 69 ]
	[ "${lines[-1]}" = "vqpd: /run/vqp/vqpd.sock: another vqpd is running there" ]
	on 1 'ask "{\"op\":\"status\"}" | jq -e .ok'
}

@test "vqpd: a restart keeps namespaces and what they do" {
	disturb
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1; serve node-a echo-server 700'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2'
	on 2 restart_keeps_namespaces
	run on 2 'eventually ask "{\"op\":\"list\"}"; ask "{\"op\":\"list\"}" | jq -r ".namespaces[] | select(.tenant == 3).name"'
	[ "${lines[-1]}" = c2/eth0 ]
	on 1 'vqpctl cache flush; reaches node-a 10.95.0.2'
	run on 2 'del c2'
	[ "$output" = '{"ok":true,"deleted":1}' ]
}

@test "vqpd: what it refuses is in its log" {
	on 1 refusals_are_logged
}

@test "vqpd: metrics are what Prometheus reads" {
	disturb
	on 1 'stop vqpd; start vqpd --meta 10.77.0.1 --metrics 127.0.0.1:9471; box node-a 3 10.95.0.1; eventually meta_up true'
	run on 1 'curl -sf http://127.0.0.1:9471/metrics'
	[ "$status" -eq 0 ]
	[[ $output == *$'\nvqp_parent_up 1\n'* ]]
	[[ $output == *$'\nvqp_meta_up{server="10.77.0.1"} 1\n'* ]]
	[[ $output == *$'\nvqp_namespace_vqps{tenant="3",gid="::ffff:10.95.0.1"} 0\n'* ]]
	[[ $output == *$'\n# TYPE vqp_objects_made_total counter\n'* ]]
	[[ $output == *'vqp_objects_freed_total{object="ns"} '* ]]
	run on 1 'curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:9471/other'
	[ "$output" = 404 ]
	run on 1 'curl -sf http://127.0.0.1:9471/healthz; curl -sfI http://127.0.0.1:9471/metrics | head -n 1 | tr -d "\r"'
	[ "${lines[0]}" = ok ]
	[ "${lines[1]}" = "HTTP/1.1 200 OK" ]
}

@test "vqpd: it serves metrics at an address that the node gets later" {
	disturb
	on 1 'stop vqpd; start vqpd --meta 10.77.0.1 --metrics 10.95.9.1:9471; eventually meta_up true
		ip address add 10.95.9.1/32 dev lo; trap "ip address del 10.95.9.1/32 dev lo" EXIT
		eventually curl -sf http://10.95.9.1:9471/healthz'
}

@test "vqpd: a meta server whose name does not resolve is looked up until it does, and holds up nobody" {
	disturb
	on 2 name_is_followed
}

@test "vqpd: a slow name server holds up nobody" {
	disturb
	on 2 slow_name_server_holds_up_nobody
}

# ---- announcements and lookups ----

@test "lookup: what add has answered can be reached from the other node at once" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1 | jq -e .published'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2 | jq -e .published; reaches node-b 10.95.0.1'
	on 1 'reaches node-a 10.95.0.2'
}

@test "lookup: an unknown address is EHOSTUNREACH" {
	on 1 'box node-a 3 10.95.0.1'
	run on 1 'reaches node-a 10.95.9.9'
	[ "$status" -eq 68 ]
}

@test "lookup: what was deleted is unknown" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2'
	on 1 'del c1; eventually not announced 3 10.95.0.1'
	run on 2 'vqpctl cache flush; reaches node-b 10.95.0.1'
	[ "$status" -eq 68 ]
}

@test "lookup: who has cached what was deleted notices, and forgets it" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2; reaches node-b 10.95.0.1'
	on 1 'del c1; eventually not announced 3 10.95.0.1'
	run on 2 'reaches node-b 10.95.0.1'
	[ "$status" -eq 75 ]
	run on 2 'reaches node-b 10.95.0.1'
	[ "$status" -eq 68 ]
}

@test "lookup: what an administrator adds is announced, too" {
	on 1 'box node-a 3 10.95.0.1; eventually announced 3 10.95.0.1 1'
}

@test "lookup: what goes with its netns is withdrawn" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1; announced 3 10.95.0.1 1
		ip netns del node-a
		eventually not announced 3 10.95.0.1'
}

@test "lookup: what loses its address ends, is withdrawn, and leaves the address to others" {
	on 1 'lost_with_its_address 10.95.0.1/24'
	on 1 'lost_with_its_address fd95::1/64'
}

@test "lookup: what loses its address ends also if that was in a VRF" {
	on 1 'modprobe -q vrf' || skip "this kernel has no VRF"
	on 1 'lost_with_its_address 10.95.0.1/24 vrf'
	on 1 'lost_with_its_address fd95::1/64 vrf'
}

@test "lookup: addresses that change all the time are looked at ten times a second" {
	on 1 addresses_are_looked_at_seldom
}

@test "lookup: an address that is another netns's by now is not in the way of an add there" {
	on 1 lost_address_is_free_at_once
}

@test "lookup: an address that is renewed, or that no interface had, is not lost" {
	on 1 address_is_not_lost
}

@test "lookup: an address that moves to another node is found there" {
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1; ip netns add node-b; add c2 node-b 3 10.95.0.2'
	on 2 'ip netns add node-a; add c1 node-a 3 10.95.0.1; ip netns add node-c; add c3 node-c 3 10.95.0.3'
	on 1 'announced 3 10.95.0.1 2; del c1
		ask_meta "{\"op\":\"list\"}" | jq -e ".takeovers > 0"
		grep "tenant 3.s address ::ffff:10.95.0.1: node ::ffff:10.77.0.2 takes it over from node ::ffff:10.77.0.1" $run/vqp-metad.log'
	# the late withdrawal of the old owner changes nothing
	sleep 1
	on 1 'announced 3 10.95.0.1 2; reaches node-b 10.95.0.1'
}

@test "meta: a restarted meta server is told everything, and kernels learn its new table" {
	disturb
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2'
	local before after
	before=$(on 2 table_key)
	on 1 'stop vqp-metad -KILL; start vqp-metad --listen :7471; eventually announced 3 10.95.0.1 1; eventually announced 3 10.95.0.2 2'
	on 2 'eventually meta_up true'
	after=$(on 2 table_key)
	[ "$before" != "$after" ]
	on 2 'vqpctl cache flush; reaches node-b 10.95.0.1'
	on 1 'vqpctl cache flush; reaches node-a 10.95.0.2'
}

@test "meta: metrics are what Prometheus reads" {
	disturb
	on 1 'stop vqp-metad; make_key; start vqp-metad --metrics 127.0.0.1; eventually curl -sf http://127.0.0.1:9472/healthz'
	on 1 'stop vqpd; start vqpd --meta 10.77.0.1 --metrics 127.0.0.1; eventually meta_up true'
	on 1 'ask_meta nonsense; ip netns add node-a; add c1 node-a 3 10.95.0.1 | jq -e .published'
	on 1 'eventually eval "curl -sf http://127.0.0.1:9472/metrics | grep -x \"vqp_metad_entries 2\""'
	run on 1 'curl -sf http://127.0.0.1:9472/metrics'
	[ "$status" -eq 0 ]
	[[ $output == *$'\nvqp_metad_parent_up 1\n'* ]]
	[[ $output == *$'\nvqp_metad_entries_max 7168\n'* ]]
	[[ $output == *$'\nvqp_metad_connections{kind="proved"} 1\n'* ]]
	[[ $output == *$'\n# TYPE vqp_metad_handshakes_failed_total counter\n'* ]]
	[[ $output != *$'\nvqp_metad_handshakes_failed_total 0\n'* ]]
	[[ $output != *$'\nvqp_metad_refusals_total 0\n'* ]]
	# the node's other daemon serves its own beside them
	on 1 'curl -sf http://127.0.0.1:9471/metrics | grep "^vqp_meta_up{server=\"10.77.0.1\"} 1\$"'
}

@test "meta: without a meta server add succeeds unpublished, and is published later" {
	disturb
	on 1 'stop vqp-metad'
	on 2 'eventually meta_up false; ip netns add node-b'
	run on 2 'add c2 node-b 3 10.95.0.2 | jq .published'
	[ "$output" = false ]
	on 1 'start vqp-metad --listen :7471; eventually announced 3 10.95.0.2 2'
	run on 2 'ask "{\"op\":\"list\"}" | jq ".namespaces[] | select(.tenant == 3).published"'
	[ "$output" = true ]
}

@test "meta: cached peers work without a meta server" {
	disturb
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	on 2 'ip netns add node-b; add c2 node-b 3 10.95.0.2; reaches node-b 10.95.0.1'
	on 1 'stop vqp-metad -KILL'
	on 2 'reaches node-b 10.95.0.1'
}

@test "meta: an announcement ends with its lease" {
	disturb
	on 2 'stop vqpd; start vqpd --meta 10.77.0.1 --lease 2; eventually meta_up true
		ip netns add node-b; add c2 node-b 3 10.95.0.2'
	sleep 4
	on 2 'eventually announced 3 10.95.0.2 2'
	on 2 'stop vqpd -KILL; eventually not announced 3 10.95.0.2; present 3 10.95.0.2'
}

@test "meta: a full table refuses the add, and nothing is left of it" {
	disturb
	on 1 'stop vqpd; stop vqp-metad; start vqp-metad --listen :7471 --buckets 1; start vqpd --meta 10.77.0.1; eventually meta_up true'
	on 1 'for i in {1..8}; do ip netns add many$i; done'
	# both nodes are in the table, too
	run on 1 'for i in {1..8}; do add many$i many$i 5 10.95.1.$i; done | jq -r "select(.ok == false) | .errno, .error" | sort -u'
	[ "${lines[0]}" = ENOSPC ]
	[[ ${lines[1]} == *"start vqp-metad with more --buckets" ]]
	run on 1 'vqpctl ns list --json | jq "map(select(.tenant == 5)) | length"'
	[ "$output" -ge 5 ]
	[ "$output" -le 7 ]
}

@test "meta: vqpctl can set what vqpd sets" {
	disturb
	on 2 meta_servers_set_by_hand
	run on 2 'vqpctl meta set 10.77.0.2:1'
	[ "$status" -eq 69 ]
	[[ $output == *"is vqp-metad running there?" ]]
}

@test "meta: strangers get an error and change nothing" {
	run on 1 'ask_meta nonsense; ask_meta "{\"op\":\"announce\",\"entries\":[{\"tenant\":3,\"gid\":\"10.95.0.1\"}]}"
		ask_meta "{\"op\":\"withdraw\",\"node\":{\"node_gid\":\"10.77.0.9\"},\"entries\":[{\"tenant\":0,\"gid\":\"10.77.0.1\"}]}"'
	[ "$(jq -r .errno <<<"${lines[0]}")" = EBADMSG ]
	[ "$(jq -r .errno <<<"${lines[1]}")" = EINVAL ]
	[ "$(jq -r .removed <<<"${lines[2]}")" = 0 ]
	on 1 'announced 0 10.77.0.1 1; not announced 3 10.95.0.1'
}

@test "meta: without a key vqp-metad listens nowhere unless it is told where" {
	run on 1 'timeout 10 vqp-metad'
	[ "$status" -eq 78 ]
	[[ $output == "vqp-metad: without a key, "*"openssl rand"*"--listen ADDR:PORT" ]]
}

@test "meta: nodes that know the key announce and look up, and others are told what they lack" {
	disturb
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1; make_key; restart_with_key'
	run on 2 'eventually meta_error_has "a key is wanted here"; meta_error; vqpctl meta set 10.77.0.1'
	[[ ${lines[0]} == *"copy /etc/credstore/vqp-meta.key from the server to this node" ]]
	[[ ${lines[1]} == "vqpctl: meta server 10.77.0.1: a key is wanted here: "* ]]
	run on 1 'ask_meta "{\"op\":\"list\"}" | jq -r .errno; ask_meta nonsense | jq -r .errno; grep -c "refused a client: a key is wanted here" $run/vqp-metad.log'
	[ "${lines[0]}" = EKEYREJECTED ]
	[ "${lines[1]}" = EKEYREJECTED ]
	[ "${lines[2]}" -ge 2 ]

	# another key
	on 2 'make_key; stop vqpd; start vqpd --meta 10.77.0.1'
	run on 2 'eventually meta_error_has "another than this node"; vqpctl meta set 10.77.0.1 --json 2>/dev/null | jq -r .errno'
	[ "${lines[-1]}" = EKEYREJECTED ]
	on 1 'eventually grep "refused a client: the client has another key" $run/vqp-metad.log'

	# the same
	key=$(on 1 'cat $key_file')
	on 2 "echo '$key' >\$key_file"
	on 2 'stop vqpd; start vqpd --meta 10.77.0.1; eventually meta_up true
		ip netns add node-b; add c2 node-b 3 10.95.0.2 | jq -e .published; eventually reaches node-b 10.95.0.1
		vqpctl meta set 10.77.0.1; eventually tells_who_has_the_key 10.95.0.1; eventually tells_who_has_the_key 10.95.0.2'

	# Each daemon refuses a key that others can read.
	run on 2 'chmod 644 $key_file; vqpd --meta 10.77.0.1 --socket $run/other.sock'
	[ "$status" -eq 78 ]
	[[ $output == *": chmod 600 /etc/credstore/vqp-meta.key" ]]
}

@test "meta: a node with a key does not talk to a server that has none" {
	disturb
	on 2 'make_key; stop vqpd; start vqpd --meta 10.77.0.1; eventually meta_error_has /etc/credstore/vqp-meta.key
		ip netns add node-b; add c2 node-b 3 10.95.0.2 | jq -e ".published == false"'
	on 1 'not announced 3 10.95.0.2'
}

# ---- without the module ----

@test "module: its absence is named with the way out, and its return is noticed" {
	disturb
	on 1 'ip netns add node-a; add c1 node-a 3 10.95.0.1'
	on 2 'ip netns add node-b; rmmod vqp'
	run on 2 'vqpctl status'
	[ "$status" -eq 69 ]
	[ "$output" = "vqpctl: no vqp module loaded: modprobe vqp" ]
	run on 2 'vqpctl ping 10.77.0.1'
	[ "$status" -eq 69 ]
	[ "$output" = "vqpctl: no vqp module loaded: modprobe vqp" ]
	run on 2 'add c2 node-b 3 10.95.0.2 | jq -r ".errno, .error"'
	[ "${lines[0]}" = ENOPKG ]
	[ "${lines[1]}" = "no vqp module loaded: modprobe vqp" ]
	run on 2 'vqp-metad --listen 127.0.0.1:7472'
	[ "$status" -eq 69 ]
	[ "$output" = "vqp-metad: no vqp module loaded: modprobe vqp" ]
	on 2 'insmod /vqp/build/kmod-$(uname -r)/vqp.ko; eventually table_key
		add c2 node-b 3 10.95.0.2 | jq -e .ok; eventually reaches node-b 10.95.0.1'
	on 1 'eventually reaches node-a 10.95.0.2'
}
