#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:300
# Stream sockets of the protocol IPPROTO_VQP between two nodes: which connections go by vqp and which by
# TCP, and what ends with what.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load far-nodes

@test "far: both ends' namespaces have sockets on" {
	on 2 'sock far serve 10.95.2.2 7000'
	on 1 'ways 1 0 sock near talk 10.95.2.2 7000'
}

@test "far: 3 MB each way, which is more than a window" {
	on 2 'sock far serve 0.0.0.0 7000'
	on 1 'ways 1 0 sock near talk 10.95.2.2 7000 3000000'
}

@test "far: large pieces are fetched, and arrive whole and in order both ways" {
	on 2 'sock far serve 10.95.2.2 7027'
	on 1 'by_parcels ways 1 0 sock near talk 10.95.2.2 7027 8000000'
}

@test "far: many one after another, and many at a time" {
	on 2 'sock far serve 10.95.2.2 7000; sock far hold 10.95.2.2 7001'
	on 1 'for ((i = 0; i < 10; i++)); do ways 1 0 sock near talk 10.95.2.2 7000 10; done
		ways 16 0 sock near keep 10.95.2.2 7001 16; ways 1 0 sock near talk 10.95.2.2 7000'
}

@test "TCP: the peer's listener is one of TCP" {
	on 2 'sock far serve 0.0.0.0 7002 6'
	on 1 'ways 0 1 sock near talk 10.95.2.2 7002'
}

@test "TCP: nobody listens, and is refused; who listens a second later is far" {
	on 1 'ways 0 1 sock near refused 10.95.2.2 7003'
	on 2 'sock far serve 10.95.2.2 7003'
	on 1 'eventually ways 1 0 sock near talk 10.95.2.2 7003'
}

@test "TCP: sockets are off at the peer; far, once they are on" {
	on 2 'sock far serve 10.95.2.2 7004; turn far 10.95.2.2 off'
	on 1 'ways 0 1 sock near talk 10.95.2.2 7004'
	on 2 'turn far 10.95.2.2 on'
	on 1 'eventually ways 1 0 sock near talk 10.95.2.2 7004'
}

@test "far: a connection goes on when sockets are turned off" {
	on 2 'sock far serve 10.95.2.2 7005 258 "" /run/vqp/go-far'
	on 1 'ways 1 0 sock near talk_connected 10.95.2.2 7005 /run/vqp/go; turn near 10.95.1.2 off'
	on 2 'turn far 10.95.2.2 off; touch /run/vqp/go-far'
	on 1 'go /run/vqp/go'
}

@test "TCP: the peer's address has no VQP namespace any more" {
	on 2 'sock far serve 10.95.2.2 7006; vqpctl ns del --tenant 9 --address 10.95.2.2'
	on 1 'ways 0 1 sock near talk 10.95.2.2 7006'
}

@test "who waits by epoll does not sleep where busy polling is on" {
	on 2 'sock far answers 10.95.2.2 7019'
	on 1 'polled sock near polls 10.95.2.2 7019 50'
}

@test "a slow reader, and one that never reads, keep nobody else" {
	on 2 'sock far hold 10.95.2.2 7007; sock far slow_reader 10.95.2.2 7008; sock far serve 10.95.2.2 7009'
	on 1 'ways 8 0 sock near fill 10.95.2.2 7007 8
		ways 1 0 sock near talk 10.95.2.2 7009 3000000
		ways 1 0 sock near slow_sender 10.95.2.2 7008'
}

@test "what nobody has accepted ends with its listener" {
	on 2 'sock far backlog 10.95.2.2 7010'
	on 1 'rm -f /run/vqp/broken; ways 1 0 sock near broken 10.95.2.2 7010'
	on 2 stop_socks
	on 1 'eventually eval "[[ \$(</run/vqp/broken) == ECONNRESET ]]"'
}

@test "a peer's process that is killed ends its connection" {
	on 2 'sock far hold 10.95.2.2 7011'
	on 1 'rm -f /run/vqp/broken; ways 1 0 sock near broken 10.95.2.2 7011'
	on 2 stop_socks
	on 1 'eventually eval "[[ \$(</run/vqp/broken) == end ]]"'
}

@test "a namespace that goes breaks its connections, under traffic and without" {
	on 2 'sock far hold 10.95.2.2 7012; sock far hold 10.95.2.2 7013'
	on 1 'rm -f /run/vqp/broken; ways 4 0 sock near fill 10.95.2.2 7013 4
		ways 1 0 sock near broken 10.95.2.2 7012'
	on 2 'vqpctl ns del --tenant 9 --address 10.95.2.2'
	on 1 'eventually eval "[[ \$(</run/vqp/broken) == ECONNRESET ]]"'
}

@test "what a process sent before its namespace goes has its end" {
	on 2 'sock far hold 10.95.2.2 7016'
	on 1 'rm -f /run/vqp/broken; ways 1 0 sock near broken 10.95.2.2 7016'
	on 2 'stop_socks; vqpctl ns del --tenant 9 --address 10.95.2.2'
	on 1 'eventually eval "[[ \$(</run/vqp/broken) == end ]]"'
}

@test "RaaS: far, into registered memory, and by SENDs alone; what is not there is refused" {
	on 2 'serve far raas-server 10.95.2.2 7019 1'
	on 1 'ways 1 0 inside near vqpt --bytes=3M raas 10.95.2.2 7019 0
		ways 1 0 inside near vqpt --bytes=300K --arena raas 10.95.2.2 7019 3
		for flags in 4 8; do ways 1 0 raas_fails near $flags "send: EOPNOTSUPP" 10.95.2.2 7019; done'
	on 2 stop_all
}

@test "far: with loss, all bytes arrive once and in order" {
	on 2 'sock far serve 10.95.2.2 7014'
	fault loss 1 1%
	fault loss 2 1%
	on 1 'ways 1 0 sock near talk 10.95.2.2 7014 2000000'
}

@test "far: with loss, large pieces do, too" {
	on 2 'sock far serve 10.95.2.2 7028'
	fault loss 1 1%
	fault loss 2 1%
	on 1 'by_parcels ways 1 0 sock near talk 10.95.2.2 7028 3000000'
}

@test "a namespace that goes while large pieces are under way leaves nothing of them" {
	on 2 'sock far serve 10.95.2.2 7029'
	on 1 'by_parcels ways 1 0 sock near talk 10.95.2.2 7029 2000000
		for ((i = 0; i < 4; i++)); do ways 1 0 sock near pour 10.95.2.2 7029 /run/vqp/never 65536; done'
	on 2 'sleep 1; vqpctl ns del --tenant 9 --address 10.95.2.2'
	on 1 'eventually eval "[[ \$(ss_of 7029 length) == 0 ]]"'
}

@test "vqpctl ss: far connections, the node and the flow by which they go, and what that has sent again" {
	on 2 'sock far serve 10.95.2.2 7020; sock far hold 10.95.2.2 7021'
	on 1 'ways 3 0 sock near keep 10.95.2.2 7021 3
		far_to 7021 ".tcp_state == \"established\" and .gid == \"::ffff:10.95.1.2\" and .window > 0 and .flow > 0"
		far_to 7021 ".node_gid as \$node | $(vqpctl peers --json | jq -c "map(.node_gid)") | index(\$node)"
		[[ $(ss_of 7021 "map(.flow) | unique | length") == 1 ]]
		vqpctl ss | grep -q "^far  *established .* 7021 "
		ss_of 7021 ".[0].resent" >/run/vqp/resent'
	fault loss 1 5%
	on 1 'ways 1 0 sock near talk 10.95.2.2 7020 2000000; far_to 7021 ".resent > $(</run/vqp/resent)"'
}

@test "vqpctl ns list: what the far connections of a namespace have done, and those that its peer puts out" {
	on 2 'sock far serve 10.95.2.2 7022'
	on 1 'eventually ways 1 0 sock near talk 10.95.2.2 7022
		tallied "[0,1,0,0,0,100000,100000]" 10.95.1.2 sock near talk 10.95.2.2 7022
		namespace_is 10.95.1.2 ".trunks > 0"'
	on 2 'turn far 10.95.2.2 off; tallies 10.95.2.2 >/run/vqp/tallies'
	on 1 'tallied "[0,0,1,0,0,0,0]" 10.95.1.2 sock near talk 10.95.2.2 7022'
	on 2 '[[ $(since "$(</run/vqp/tallies)" 10.95.2.2) == "[0,0,1,1,0,0,0]" ]]'
}

@test "far: with much loss and reordering, too" {
	on 2 'sock far serve 10.95.2.2 7026'
	on 1 'ways 1 0 sock near pour 10.95.2.2 7026 /run/vqp/go'
	for node in 1 2; do
		fault loss "$node" 5%
		fault reorder "$node" 25%
	done
	on 1 'goes_on /run/vqp/go'
}

@test "the module does not unload while there is a socket, and leaves nothing behind" {
	on 2 'sock far serve 10.95.2.2 7015'
	on 1 'ways 1 0 sock near talk 10.95.2.2 7015; ways 1 0 sock near keep 10.95.2.2 7015 1
		run=0; rmmod vqp || run=$?; ((run)); [[ -e /sys/module/vqp ]]
		stop_socks; no_streams; vqpctl ns del --tenant 9 --address 10.95.1.2
		eventually eval "[[ \$(alive trunk) == 0 ]]"'
}
