#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=own-nodes,long,budget:240
# `make bench`, shortly, on a testbed of its own: everything is measured. How good it is, is no test's matter.

bats_require_minimum_version 1.5.0

setup_file() {
	export BENCH=$BATS_TEST_DIRNAME/../../bench
	export RESULTS=$BATS_TEST_DIRNAME/../../build/bench/results.json
	if env -u VQP_TESTBED timeout 1200 "$BENCH/bench" --rounds 1 >"$BATS_FILE_TMPDIR/log" 2>&1 </dev/null 3>&-; then
		touch "$BATS_FILE_TMPDIR/ok"
	fi
}

@test "everything can be measured" {
	cat "$BATS_FILE_TMPDIR/log"
	[ -e "$BATS_FILE_TMPDIR/ok" ]
}

@test "every result is a positive number" {
	cat "$RESULTS"
	jq -e 'length > 20 and ([del(.kernel, .cni_add_extra_us, .sock_waits)[]] | all(type == "number" and . > 0))' "$RESULTS"
	jq -e '.sock_waits | length == 8 and all(.[] | .tcp, .spin, .event, .adaptive; .latency_us > 0 and .p99_us >= .latency_us)' "$RESULTS"
	jq -e -L "$BENCH" 'include "figures"; all(figures | select(.what | startswith("CNI ADD: micro") | not); .value > 0)' "$RESULTS"
}

@test "what depends on no clock is as it should be" {
	jq -e '.syscalls_per_op_depth32 >= 0.03 and .syscalls_per_op_depth32 < 1 and
		.connect_uncached_reads >= 1 and .connect_uncached_reads <= 1.2 and
		.conn5000_bytes > 500000 and .pool_bytes > 1000000' "$RESULTS"
}

@test "the table says which aims are missed" {
	jq '.syscalls_per_op_depth32 = 0.5' "$RESULTS" >"$BATS_TEST_TMPDIR/worse"
	run "$BENCH/figures" "$BATS_TEST_TMPDIR/worse"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"system calls for a message"*" 0.5 "*"<= 0.05  missed"* ]]
}
