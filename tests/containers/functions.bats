#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:600
# The functions in containers as function platforms make them, under Docker whose default runtime is vqp. Their side of
# the platforms' contracts is in fn.bats; what runs on the nodes in functions.bash.
# `make test-containers` runs it.

bats_require_minimum_version 1.5.0
load ../lib/testbed

setup_file() {
	vqp_up
	NODE_TIMEOUT=300 on_each bash -c 'source /vqp/tests/containers/functions.bash; functions'
}

teardown() {
	on_each bash -c 'source /vqp/tests/containers/functions.bash
		docker rm --force sender receiver >/dev/null 2>&1
		rm -rf $WORK/iofs-*
		eventually has_namespaces 0'
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/containers/functions.bash; functions_end'
}

helpers=containers/functions.bash

# EXPRESSION: what jq makes of the last answer
of_answer() { jq -er "$1" <<<"$answer"; }

start_functions() {
	on 1 'fn_start receiver' &
	on 2 'fn_start sender'
	wait $!
}

# INPUT: the sender hands the receiver what the input says, which is as it should be; both sleep between calls.
hand_over() {
	local bytes
	answer=$(on 1 "fn_call receiver '$(jq -c '. + {do: "prepare"}' <<<"$1")'")
	answer=$(on 2 "fn_call sender '$(jq -c --arg target "$(of_answer .target)" '. + {$target}' <<<"$1")'")
	bytes=$(of_answer .bytes)
	# it is there already, and nobody has woken the receiver
	on 1 'is_paused receiver'
	answer=$(on 1 "fn_call receiver '{\"do\": \"check\"}'")
	echo "$answer"
	[ "$(of_answer '"\(.bytes) \(.bad)"')" = "$bytes 0" ]
}

@test "Fn: a container as Fn makes it, and nothing said of vqp, has the device and its namespace" {
	on 1 fn_container_has_vqp
}

@test "Fn: transfers to the memory of a receiver that is paused" {
	start_functions
	on 1 'is_confined receiver'
	on 2 'is_confined sender'
	for bytes in 0 1 5000 50000 1048576; do
		hand_over "{\"bytes\": $bytes, \"seed\": $bytes}"
	done
}

@test "Fn: a paused function that is killed leaves nothing" {
	start_functions
	answer=$(on 1 'fn_call receiver "{\"do\": \"prepare\", \"bytes\": 1000, \"seed\": 1}"')
	on 1 'is_paused receiver
		docker_remove receiver
		has_namespaces 0'
	# and who sends to it is told
	answer=$(on 2 "fn_call sender '$(jq -c '{target, bytes: 1000, seed: 1}' <<<"$answer")'")
	of_answer .error
}

@test "OpenWhisk: an action keeps the contract in its container" {
	on 1 whisk_action_keeps_the_contract
}

@test "OpenWhisk: TestCase5" {
	local out
	on 1 'whisk_start receiver' &
	on 2 'whisk_start sender'
	wait $!
	out=$(NODE_TIMEOUT=300 node 2 /vqp/examples/fn/testcase5 10.77.0.1:8080 10.77.0.2:8080 4)
	echo "$out"
	[ "$(cut -d' ' -f1 <<<"$out" | xargs)" = "0 1024 $(seq -s' ' 5120 5120 51200)" ]
	# each line has six times, and percentiles do not fall
	awk 'NF != 7 || $3 <= 0 || $3 > $4 || $4 > $5 || $5 > $6 || $6 > $7 { bad = 1 } END { exit bad }' <<<"$out"
}
