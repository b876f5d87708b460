#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=own-nodes,budget:240
# The demo as people run it, on a testbed of its own, and what its results say.

bats_require_minimum_version 1.5.0

setup_file() {
	export DEMO=$BATS_TEST_DIRNAME/../../bench
	export OUT=$BATS_TEST_DIRNAME/../../build/demo
	if env -u VQP_TESTBED timeout 900 "$DEMO/demo" >"$BATS_FILE_TMPDIR/log" 2>&1 </dev/null 3>&-; then
		touch "$BATS_FILE_TMPDIR/ok"
	fi
}

@test "the demo succeeds" {
	cat "$BATS_FILE_TMPDIR/log"
	[ -e "$BATS_FILE_TMPDIR/ok" ]
}

@test "its table names all sizes and transports" {
	run "$DEMO/table" "$OUT/results.json"
	echo "$output"
	for n in 0 1024 5000 9216 50000; do
		[[ $output == *" $n bytes "* ]]
	done
	[[ $output == *"best verbs"* ]]
}

@test "its table has the calls of the service by TCP and by vqp, on one node and between two" {
	run "$DEMO/table" "$OUT/results.json"
	echo "$output"
	for what in '64 bytes' '65536 bytes' '8 callers, a second'; do
		grep -qE "^  $what( +[0-9,]+){4}\$" <<<"$output"
	done
}

@test "its results are complete" {
	run "$DEMO/check-results" --complete "$OUT/results.json"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "its report needs nothing from elsewhere" {
	[ "$(grep -c '<svg' "$OUT/report.html")" = 4 ]
	run grep -E '(src|href)="?[a-z]+:|@import|<link|<script src' "$OUT/report.html"
	echo "$output"
	[ "$status" -eq 1 ]
}

@test "table and report say in words what was measured" {
	run "$DEMO/table" "$OUT/results.json"
	echo "$output"
	[[ $output == *"connecting with vqp, to a known address "*" µs"* ]]
	[[ $output != *_[mu]s* ]]
	grep -q '<th>starting a container with its network, with vqp</th><td>[0-9,.]* ms</td>' "$OUT/report.html"
	run grep -E '>[^<]*[a-z][_ ][mu]s<' "$OUT/report.html"
	echo "$output"
	[ "$status" -eq 1 ]
}

@test "what has no label is in no table and no report" {
	jq '.connect.other_us = 3' "$OUT/details.json" >"$BATS_TEST_TMPDIR/more"
	run "$DEMO/table" "$BATS_TEST_TMPDIR/more"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"no label for connect: other_us"* ]]
	run "$DEMO/report" "$BATS_TEST_TMPDIR/more" "$BATS_TEST_TMPDIR/report.html"
	[ "$status" -ne 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/report.html" ]
}

@test "the chart of the transfers begins and ends where they do" {
	axis() { jq -rn -L "$DEMO" "include \"results\"; $1 | axis"; }
	run axis '[3797, 9435, 42477]'
	echo "$output"
	[ "${lines[0]}" = "set yrange [3000:50000]" ]
	[[ ${lines[1]} == 'set ytics ("3,000" 3000, "5,000" 5000, "10,000" 10000, '* ]]
	run axis '[4.2, 8]'
	echo "$output"
	[ "${lines[0]}" = "set yrange [4:8]" ]
	[ "${lines[1]}" = 'set ytics ("4" 4, "5" 5, "6" 6, "7" 7, "8" 8)' ]
}

@test "a check of incomplete results fails" {
	jq 'del(.transfer[] | select(.bytes == 2048))' "$OUT/results.json" >"$BATS_TEST_TMPDIR/less"
	run "$DEMO/check-results" --complete "$BATS_TEST_TMPDIR/less"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"transfers are of"* ]]
	jq 'del(.rpc[] | select(.place == "two" and .by == "vqp"))' "$OUT/results.json" >"$BATS_TEST_TMPDIR/less"
	run "$DEMO/check-results" --complete "$BATS_TEST_TMPDIR/less"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"calls were made"* ]]
	jq 'del(.rpc[] | select(.place == "two" and .by == "vqp"))' "$OUT/details.json" >"$BATS_TEST_TMPDIR/less"
	run "$DEMO/report" "$BATS_TEST_TMPDIR/less" "$BATS_TEST_TMPDIR/report.html"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"no calls"* ]]
}

@test "a check of worse results fails" {
	jq '(.transfer[] | select(.bytes == 2048)).vqp_us *= 100' "$OUT/results.json" >"$BATS_TEST_TMPDIR/worse"
	run "$DEMO/check-results" "$BATS_TEST_TMPDIR/worse"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"2048 bytes"* ]]
}
