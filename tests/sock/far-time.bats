#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:420
# Stream sockets between two nodes over time: the network, a device, a node or a process may be away for a while, and
# connections that are idle leave the memory to others.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load far-nodes

@test "under traffic, the link may be down for ten seconds" {
	on 2 'sock far serve 10.95.2.2 7017'
	on 1 'ways 1 0 sock near pour 10.95.2.2 7017 /run/vqp/go'
	fault link-down 2 for 10
	on 1 'goes_on /run/vqp/go'
}

@test "large pieces that cannot be fetched come nevertheless" {
	on 2 'sock far serve 10.95.2.2 7016; events sock_declined >/run/vqp/declined'
	on 1 'by_parcels ways 1 0 sock near talk 10.95.2.2 7016 2000000
		for ((i = 0; i < 4; i++)); do ways 1 0 sock near pour 10.95.2.2 7016 "/run/vqp/go-$i" 65536; done
		sent=$(events sock_parcels)
		within 60 eval "((\$(events sock_parcels) > sent + 20))"'
	# node 2 is told of what it may READ, and is not heard
	fault loss 2 100%
	on 2 'within 60 eval "((\$(events sock_declined) > \$(</run/vqp/declined)))"'
	fault off
	on 1 'for ((i = 0; i < 4; i++)); do goes_on "/run/vqp/go-$i"; done'
}

@test "an idle connection is used when the link was down for ten seconds, and the device away" {
	on 2 'sock far serve 10.95.2.2 7019'
	on 1 'ways 1 0 sock near talk_connected 10.95.2.2 7019 /run/vqp/go'
	fault link-down 2 for 10
	fault parent-gone 1 for 1
	on 1 'goes_on /run/vqp/go'
}

@test "what is sent while no packet comes through arrives when one does" {
	on 2 'sock far serve 10.95.2.2 7020'
	on 1 'ways 1 0 sock near talk_connected 10.95.2.2 7020 /run/vqp/go
		ways 1 0 sock near told 10.95.2.2 7020 /run/vqp/go-told 5000'
	fault partition 2
	# the trunk has failed when that one is told
	on 1 'touch /run/vqp/go; is_told /run/vqp/go-told ETIMEDOUT; [[ ! -e /run/vqp/go.done ]]'
	fault off
	on 1 'goes_on /run/vqp/go'
}

@test "under traffic, a node may be frozen, and its device be away" {
	on 2 'sock far serve 10.95.2.2 7021'
	on 1 'ways 1 0 sock near pour 10.95.2.2 7021 /run/vqp/go'
	fault freeze 2 for 6
	fault parent-gone 2 for 2
	on 1 'goes_on /run/vqp/go'
}

@test "a peer's process that is stopped for a while goes on" {
	on 2 'sock far serve 10.95.2.2 7022'
	on 1 'ways 1 0 sock near pour 10.95.2.2 7022 /run/vqp/go'
	on 2 'signal_socks STOP; sleep 6; signal_socks CONT'
	on 1 'goes_on /run/vqp/go'
}

@test "a peer that takes nothing for as long as TCP would try: ETIMEDOUT" {
	on 2 'sock far hold 10.95.2.2 7023'
	on 1 'inside near sysctl -qw net.ipv4.tcp_retries2=4 net.ipv4.tcp_keepalive_intvl=1
		ways 1 0 sock near told 10.95.2.2 7023 /run/vqp/go
		ways 1 0 sock near told 10.95.2.2 7023 /run/vqp/go-user 2000
		ways 1 0 sock near told 10.95.2.2 7023 /run/vqp/go-alive alive mute
		ways 1 0 sock near told 10.95.2.2 7023 /run/vqp/go-idle mute
		touch /run/vqp/go-idle'
	fault partition 2
	on 1 'touch /run/vqp/go /run/vqp/go-user /run/vqp/go-alive
		for name in go go-user go-alive; do is_told "/run/vqp/$name" ETIMEDOUT; done
		[[ ! -e /run/vqp/go-idle.done ]]
		inside near sysctl -qw net.ipv4.tcp_retries2=15 net.ipv4.tcp_keepalive_intvl=75'
}

@test "a namespace ends while no packet comes through, with all that is to be sent" {
	on 2 'sock far hold 10.95.2.2 7024'
	on 1 'ways 4 0 sock near fill 10.95.2.2 7024 4; ways 1 0 sock near told 10.95.2.2 7024 /run/vqp/go 5000'
	fault partition 2
	on 1 'is_told /run/vqp/go ETIMEDOUT; stop_socks; (($(alive stream)))
		vqpctl ns del --tenant 9 --address 10.95.1.2; no_streams; eventually eval "[[ \$(alive trunk) == 0 ]]"'
}

@test "a peer's node that is booted again has no such connection: ECONNRESET, when it is used or asked" {
	on 2 'sock far hold 10.95.2.2 7025'
	on 1 'ways 1 0 sock near told 10.95.2.2 7025 /run/vqp/go
		ways 1 0 sock near told 10.95.2.2 7025 /run/vqp/go-alive alive mute'
	fault crash 2
	fault crash 2 off
	vqp_up
	on 2 'hook N; bridge 2; wired far 2 2; known far 10.95.1.2'
	on 1 'known near 10.95.2.2; is_told /run/vqp/go ECONNRESET; is_told /run/vqp/go-alive ECONNRESET'
}

@test "connections that were busy and are idle leave the memory to others" {
	on 2 'sock far serve 10.95.2.2 7018'
	on 1 'sock near spend 10.95.2.2 7018 80; eventually ways 1 0 sock near talk 10.95.2.2 7018'
}

@test "connections to which nothing more comes leave the memory to others" {
	on 2 'sock far sink 10.95.2.2 7027'
	on 1 'ways 80 0 sock near send_half 10.95.2.2 7027 80'
}

# 1: VQP_RAAS_RC, 2: SEND, 4: WRITE, 8: READ

# What the peer has read without saying so is more than the room that an idle connection keeps.
@test "who waits for room by poll gets it, also after the connection was idle" {
	on 2 'sock far hoards 10.95.2.2 7028 500000; sock far hoards 10.95.2.2 7029 500000 idle'
	on 1 'for port in 7028 7029; do ways 1 0 sock near writes_later 10.95.2.2 $port 500000 /run/vqp/go-$port; done
		for port in 7028 7029; do
			within 60 far_to $port ".send_queue < 4096"
			go /run/vqp/go-$port
		done'
}
