#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:240
# Programs that ask for TCP, and get stream sockets of vqp: by the kernel's hook where a network namespace
# has sockets on, or one by one by vqp-run. And what is seen of such sockets from outside.
#
#   sock-a 10.91.0.1 fd91::1 ── veth ── socks (bridge) ── veth ── sock-b 10.91.0.2 fd91::2

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/hook.bash

setup_file() {
	vqp_up
	on 1 boxes
}

teardown() {
	on 1 'no_target && no_rules && stop_serving && stop_socks && hook Y && give_all on && nothing_left'
}

teardown_file() {
	on 1 no_boxes
}

# ---- The hook ----

@test "a program that asks for TCP by 0, by 6, or for MPTCP" {
	on 1 'for protocol in 0 6 262; do asking $protocol sock-a shows 258; talks_near $protocol; done'
}

@test "a static program" {
	on 1 'serve_file; fetches busybox wget -q -O /run/vqp/got http://10.91.0.2:8080/file'
}

@test "curl, of a static server" {
	on 1 'serve_file; fetches curl -sS -o /run/vqp/got http://10.91.0.2:8080/file'
}

@test "io_uring" {
	on 1 'kinds 1 0 inside sock-a sockt --protocol=6 --shown=258 --near=10.91.0.1 --far=10.91.0.2 --netns=/run/netns/sock-b ring-socket'
}

@test "other sockets, and those of other network namespaces, are what they are" {
	on 1 'sock sock-a untouched; PROTOCOL=0 /vqp/tests/sock/kinds.py shows 6
		ip netns add sock-c; PROTOCOL=0 inside sock-c /vqp/tests/sock/kinds.py shows 6; ip netns del sock-c'
}

@test "the kernel's own sockets are TCP's: those of MPTCP" {
	on 1 'test -e /proc/sys/net/mptcp' || skip "this kernel has no MPTCP"
	on 1 'give sock-a 1 off; asking 6 sock-b serve 0.0.0.0 7000
		sock sock-a mptcp 10.91.0.2 7000 /run/vqp/go; give sock-a 1 on
		kinds 0 1 go /run/vqp/go'
}

@test "a driver's sockets are TCP's, although it makes them for the task: those of NVMe's target" {
	on 1 'modprobe --dry-run nvmet-tcp' || skip "this kernel has no target of NVMe"
	on 1 'target; is_tcps_own 4420; asking 6 sock-a shows 258'
}

@test "packet filters know the owner of a socket of kind TCP, until it is closed" {
	on 1 'modprobe --dry-run xt_owner' || skip "this kernel has no filter by owner"
	on 1 'give sock-b 2 off; asking 6 sock-b hold 10.91.0.2 7000; for_root_alone 7000
		kinds 0 1 asking 6 sock-a closes 10.91.0.2 7000; eventually is_in_state fin-wait-2 7000
		PROTOCOL=6 inside sock-a setpriv --reuid 65534 --clear-groups /vqp/tests/sock/kinds.py refused 10.91.0.2 7000'
}

@test "SMC does not take over the file of a socket of kind TCP" {
	on 1 'modprobe -q smc || true; give sock-b 2 off
		asking 6 sock-b serve 10.91.0.2 7000 6; kinds 0 1 asking 6 sock-a no_smc 10.91.0.2 7000'
}

@test "off again: TCP for new ones, and what there is goes on" {
	on 1 'asking 6 sock-b serve 0.0.0.0 7000 6
		asking 6 sock-a talk_connected 10.91.0.2 7000 /run/vqp/go
		give_all off; asking 6 sock-a shows 6; kinds 0 0 go /run/vqp/go'
}

@test "the probe is there while a namespace has sockets on, and a little longer" {
	on 1 'hook_is armed; probed
		give sock-a 1 off; hook_is armed; probed; give sock-b 2 off; eventually hook_is idle; not_probed
		give sock-a 1 on; hook_is armed; probed
		vqpctl ns del --netns sock-a; eventually hook_is idle; not_probed'
}

@test "sockets that are made while they are turned on and off" {
	on 1 'give sock-b 2 off; asking 6 sock-a toggled 2 /run/vqp/go; toggle 20; go /run/vqp/go'
}

@test "Landlock keeps programs from ports of TCP, and not from those of these sockets, as documented" {
	on 1 'sock sock-a has_landlock' || skip "this kernel's Landlock has no rules of ports"
	on 1 'asking 6 sock-b serve 10.91.0.2 7000 6; hook N; asking 6 sock-b serve 10.91.0.2 7001 6
		kinds 0 0 asking 6 sock-a confined 10.91.0.2 7000 EACCES
		hook Y; kinds 2 0 asking 6 sock-a confined 10.91.0.2 7000 None; kinds 0 1 asking 6 sock-a confined 10.91.0.2 7001 None'
}

@test "hook=N: by number alone" {
	on 1 'hook N; hook_is off; asking 6 sock-a shows 6; asking 258 sock-a shows 258
		hook Y; hook_is armed; asking 6 sock-a shows 258'
}

@test "the module unloads while namespaces have sockets on, and sockets are TCP's from then on" {
	vqp_services_stop
	on 1 'asking 6 sock-a shows 258; rmmod vqp; asking 6 sock-a shows 6; not_probed'
	vqp_up
	on 1 'give_all on; asking 6 sock-a shows 258'
}

# ---- vqp-run ----

@test "vqp-run: a program, as with the hook" {
	on 1 'hook N; inside sock-b vqp-run env PROTOCOL=0 /vqp/tests/sock/kinds.py serve 0.0.0.0 7000 0
		kinds 2 0 inside sock-a vqp-run env PROTOCOL=6 /vqp/tests/sock/kinds.py talk 10.91.0.2 7000
		PROTOCOL=262 inside sock-a vqp-run /vqp/tests/sock/kinds.py shows 258
		inside sock-a vqp-run /vqp/tests/sock/kinds.py untouched'
}

@test "vqp-run: curl" {
	on 1 'serve_file; hook N; fetches vqp-run curl -sS -o /run/vqp/got http://10.91.0.2:8080/file'
}

@test "vqp-run: TCP where there are no such sockets" {
	on 1 'PROTOCOL=0 vqp-run /vqp/tests/sock/kinds.py shows 6
		give sock-a 1 off; PROTOCOL=6 inside sock-a vqp-run /vqp/tests/sock/kinds.py shows 6'
}

@test "vqp-run: says what it says, and ends as the program does" {
	on 1 '[[ $(vqp-run --version) == "vqp-run "[0-9]* ]]; vqp-run --help | grep -q PROGRAM
		status() { local got=0; "${@:2}" 2>/dev/null || got=$?; ((got == $1)); }
		status 125 vqp-run; status 125 vqp-run --none; status 127 vqp-run /none; status 126 vqp-run /etc/passwd
		status 7 vqp-run sh -c "exit 7"
		[[ $(LD_PRELOAD= vqp-run printenv LD_PRELOAD) == */libvqp-run.so ]]
		[[ $(LD_PRELOAD=libc.so.6 vqp-run printenv LD_PRELOAD) == */libvqp-run.so:libc.so.6 ]]'
}

# ---- Seen from outside ----

@test "vqpctl ss: listeners, near connections and those of TCP" {
	on 1 'sock sock-b hold 10.91.0.2 7000; sock sock-b backlog 10.91.0.2 7001
		sock sock-a keep 10.91.0.2 7000 3; sock sock-a keep 10.91.0.2 7001 4
		socks_are listener ".tcp_state == \"listening\" and .gid == \"::ffff:10.91.0.2\" and .remote_port == 0"
		vqpctl ss --json | jq -e "any(.[]; .kind == \"listener\" and .port == 7001 and .recv_queue == 4 and .send_queue == 2)"
		socks_are near ".tcp_state == \"established\" and .tenant == 9 and .window == 524288"
		vqpctl ss --json | jq -e "[.[] | select(.kind == \"near\" and .remote_port == 7000) | .gid] == [range(3) | \"::ffff:10.91.0.1\"]"
		vqpctl ss --json | jq -e "any(.[]; .kind == \"tcp\" and .remote_gid == \"::ffff:10.91.0.2\" and .remote_port == 7001)"
		[[ $(vqpctl ss --json | jq -c "[.[] | select(.gid == \"::ffff:10.91.0.1\") | .netns_ino] | unique") == "[$(stat -L -c %i /run/netns/sock-a)]" ]]
		[[ $(vqpctl ss | head -n 1) == KIND* ]]; vqpctl ss | grep -q "^near  *established .* ::ffff:10.91.0.2  *7000 "'
}

@test "vqpctl ss: bytes sent and received, unread, and ends that are closed" {
	on 1 'sock sock-b counted 10.91.0.2 7000
		vqpctl ss --json | jq -e "any(.[]; .kind == \"near\" and .tx_bytes == 3000 and .rx_bytes == 500 and .send_queue == 1000 and .recv_queue == 0 and .tcp_state == \"fin-wait-2\")"
		vqpctl ss --json | jq -e "any(.[]; .kind == \"near\" and .tx_bytes == 500 and .rx_bytes == 3000 and .send_queue == 0 and .recv_queue == 1000 and .tcp_state == \"close-wait\")"
		vqpctl ss --json | jq -e "any(.[]; .kind == \"tcp\" and .rx_bytes == 7)"
		vqpctl ss --json | jq -e "any(.[]; .kind == \"tcp\" and .tx_bytes == 0)"'
}

@test "vqpctl ss: bytes of a connection of TCP that is over" {
	on 1 'sock sock-a reset 7000
		vqpctl ss --json | jq -e "any(.[]; .kind == \"tcp\" and .tcp_state == \"closed\" and .tx_bytes == 5 and .rx_bytes == 7)"'
}

@test "vqpctl ss: more sockets than a message has room for, each once" {
	on 1 'sock sock-b hold 10.91.0.2 7000; sock sock-a many 700
		[[ $(vqpctl ss --json | jq "[.[] | select(.kind == \"unconnected\")] | length") == 700 ]]
		[[ $(vqpctl ss --json | jq "[.[] | select(.kind == \"listener\")] | length") == 1 ]]'
}

@test "vqpctl ss: what a connection of TCP has sent again" {
	on 1 'give sock-b 2 off; sock sock-b serve 10.91.0.2 7000 6; kinds 0 1 sock sock-a talk_connected 10.91.0.2 7000 /run/vqp/go
		not sends_again 7000; unheard 7000; touch /run/vqp/go; eventually sends_again 7000
		no_rules; within 60 test -e /run/vqp/go.done'
}

@test "vqpctl ns list: what the sockets of a namespace have done" {
	on 1 'sock sock-b serve 10.91.0.2 7000
		tallied "[1,0,0,0,0,100000,100000]" 10.91.0.1 sock sock-a talk 10.91.0.2 7000
		tallied "[1,0,0,0,0,5000,5000]" 10.91.0.2 sock sock-a talk 10.91.0.2 7000 5000
		tallied "[0,0,1,0,0,0,0]" 10.91.0.1 sock sock-a talk_filtered 10.91.0.2 7000
		tallied "[0,0,1,0,0,0,0]" 10.91.0.2 sock sock-a talk_filtered 10.91.0.2 7000
		tallied "[0,0,0,0,0,0,0]" 10.91.0.1 sock sock-b talk 10.91.0.2 7000'
}

@test "vqpctl ns list: connections that rules put out, and that broke" {
	on 1 'sock sock-b serve 10.91.0.2 7000; sock sock-b hold 10.91.0.2 7001
		tallied "[1,0,0,0,1,0,0]" 10.91.0.1 breaks 7001
		give_all on; give sock-b 2 off
		tallied "[0,0,1,1,0,0,0]" 10.91.0.1 sock sock-a talk 10.91.0.2 7000
		tallied "[0,0,1,0,0,0,0]" 10.91.0.2 sock sock-a talk 10.91.0.2 7000'
}

@test "vqpctl ns list: connections that there are, and their memory" {
	on 1 'sock sock-b hold 10.91.0.2 7000; sock sock-a keep 10.91.0.2 7000 3
		namespace_is 10.91.0.1 ".streams == 3 and .trunks == 0 and .stream_bytes == 0"
		namespace_is 10.91.0.2 ".streams == 3 and .trunks == 0 and .stream_bytes == 0"
		stop_socks; nothing_left; namespace_is 10.91.0.1 ".streams == 0"
		sock sock-b counted 10.91.0.2 7000; namespace_is 10.91.0.2 ".streams == 2 and .stream_bytes > 0"
		[[ $(vqpctl ns list | head -n 1) == *" NEAR "*" FAR "*" TCP "* ]]'
}
