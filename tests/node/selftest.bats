#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:90
# vqpctl selftest on the nodes' own device, soft RoCE. That is as vqp needs it but for one thing: it takes
# seven retries, which the module's links have, for endless, so that a peer that is gone is not noticed.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=node/node.bash

setup_file() {
	vqp_up && device=$(on 1 'vqpctl pool --json | jq -er .parent') && export device &&
		on 1 'vqpctl selftest --json >/run/vqp/selftest.json'
}

# A test that unloads the module calls this first.
disturb() { touch "$BATS_FILE_TMPDIR/disturbed"; }

teardown() {
	if [ -e "$BATS_FILE_TMPDIR/disturbed" ]; then
		rm "$BATS_FILE_TMPDIR/disturbed" && vqp_up
	fi
}

# FILTER: true of what it printed as JSON
told() { node 1 jq -e "$1" /run/vqp/selftest.json; }

@test "selftest: soft RoCE is as vqp needs it, but that it goes on with a peer that is gone" {
	told '.ok'
	told '[.checks[] | select(.verdict != "ok" and .key != "silence")] == []'
	told '.checks | map(.key) - ["silence"] | length >= 14'
}

@test "selftest: each check says what was found and needed, and what follows where it is not ok" {
	told 'all(.checks[]; (.check, .found, .needed | type == "string" and length > 0) and
		(.verdict == "ok") == (.follows == null) and (.follows == null) == (.way_out == null))'
}

@test "selftest: the device it tries is the parent, with the module's payload" {
	told ".device.name == \"$device\" and .device.driver == \"rdma_rxe\""
	told ".device.active_mtu == $(on 1 'vqpctl pool --json | jq .mtu')"
}

@test "selftest: the table says the same" {
	run -0 on 1 'vqpctl selftest'
	echo "$output"
	[[ $output == *"CHECK "*"VERDICT"*"FOUND"*"NEEDED"* ]]
	while IFS=$'\t' read -r check verdict; do
		grep -q "^$check  *$verdict  " <<<"$output"
	done < <(node 1 jq -r '.checks[] | "\(.check)\t\(.verdict)"' /run/vqp/selftest.json)
	[[ $output == *" ok, "*" limited, 0 failed, 0 not tried" ]]
}

@test "selftest: JSON tells which machine it is only when it is to" {
	told 'tostring | test("10\\.77\\.|guid|ffff:") | not'
	on 1 'not grep -q "$(hostname)" /run/vqp/selftest.json'
	on 1 "vqpctl selftest --json --full | jq -e '.device | (.gid | startswith(\"::ffff:10.77.\")) and (.node_guid | length) == 16'"
}

@test "selftest: it changes nothing of the node" {
	on 1 'state() { rdma resource show; vqpctl pool --json; ip -json link show | jq "map(del(.stats64))"; lsmod | cut -d " " -f 1 | sort; }
		before=$(state); vqpctl selftest >/dev/null; [ "$(state)" = "$before" ]'
}

@test "selftest: a device that is not there is named, and so is what is wrong with the command" {
	run -66 on 1 'vqpctl selftest --device nobody0'
	[ "$output" = "vqpctl: no RDMA device nobody0: rdma link" ]
	run -66 on 1 'vqpctl selftest --device nobody0 --json 2>/dev/null | jq -r .errno; exit "${PIPESTATUS[0]}"'
	[ "$output" = ENOENT ]
	run -64 on 1 "vqpctl selftest $device"
	run -64 on 1 'vqpctl selftest --count 3'
}

@test "selftest: without the module it tries the first usable device" {
	disturb
	vqp_down
	run -0 on 1 'vqpctl selftest --json'
	jq -e --arg device "$device" '.device.name == $device and .versions.module == null and .ok' <<<"$output"
}

@test "selftest: without a device it says how to make one" {
	disturb
	vqp_down
	run on 1 'netdev=$(rdma --json link show | jq -r ".[0].netdev")
		rdma link delete '"$device"'
		status=0; vqpctl selftest || status=$?
		rdma link add '"$device"' type rxe netdev "$netdev"
		exit "$status"'
	echo "$output"
	[ "$status" -eq 69 ]
	[[ $output == *"rdma link add rxe0 type rxe netdev NETDEV"* ]]
}
