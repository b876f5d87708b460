#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=long,budget:90
# The network simulator as a program: results, aims, chart, errors. tests/unit/test_scenario.c and those beside it
# have what is simulated; what the engine does there is no test's matter.

bats_require_minimum_version 1.5.0

setup_file()
{
	export SIM_DIR=$BATS_TEST_DIRNAME/../unit/sim O=$BATS_FILE_TMPDIR/build
	make -s -C "$SIM_DIR" "$O/sim/sim"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	# a limit that is held, and two that are not
	cat >small.json <<-'END'
	{ "about": "A test.", "seeds": 2, "duration_us": 2000, "network": { "hosts": 3 },
	  "groups": [ { "name": "w", "kind": "write", "flows": 2, "bytes": 65536, "from": [1, 2], "to": [0, 0] } ],
	  "aims": [ { "value": "p99_us", "at_most": 1000 }, { "value": "p99_us", "of": "small", "at_most": 0.5 },
	            { "value": "vqp.drop_share", "at_least": 0.9 } ] }
	END
}

# change FILTER NAME: the scenario, changed, by another name
change()
{
	jq "$1" small.json >"$2.json"
}

@test "a scenario has results, aims and a chart" {
	"$O/sim/sim" results.json small.json
	[ "$(jq -r '.scenarios[0] | .name, .seeds, .groups[0].failed' results.json | xargs)" = 'small 2 0' ]
	run -0 "$SIM_DIR/report" results.json chart.svg
	echo "$output"
	[[ $output == *'small: p99_us at most 1000: '* ]]
	[[ $output == *'small: p99_us / small at most 0.5: 1, MISSED'* ]]
	[[ $output == *'small: vqp.drop_share at least 0.9: 0, MISSED'* ]]
	[[ $output == *'1 of 3 aims held'* ]]
	[[ $(<chart.svg) == *'<svg'*'small'*'</svg>'* ]]
}

@test "results follow from the scenario" {
	change '.network.delay_ns = 3000' other
	"$O/sim/sim" one.json small.json other.json
	"$O/sim/sim" two.json small.json other.json
	cmp one.json two.json
	[ "$(jq '.scenarios | length' one.json)" = 2 ]
	jq -e '.scenarios | .[0].groups[0].p50_us < .[1].groups[0].p50_us' one.json
}

@test "an aim about what is not there is an error" {
	change '.aims = [{ value: "p98_us", at_most: 1 }]' wrong
	"$O/sim/sim" results.json wrong.json
	run ! "$SIM_DIR/report" results.json chart.svg
	[[ $output == *'wrong has no p98_us'* ]]
}

@test "a file that is not in order is named, and there are no results" {
	change '.network.hosts = 1' wrong
	run -1 "$O/sim/sim" results.json small.json wrong.json
	[[ $output == *'sim: wrong: network: hosts is not from 2 to 1024'* ]]
	[ ! -e results.json ]
	run -1 "$O/sim/sim" results.json none.json
	[[ $output == *'none.json'* ]]
}

@test "results that cannot be written are an error" {
	run -1 "$O/sim/sim" nowhere/results.json small.json
	[[ $output == *'sim: cannot write nowhere/results.json'* ]]
}

@test "each scenario can be run, shortly, and its aims be looked at" {
	local file
	mkdir short
	for file in "$SIM_DIR"/scenarios/*.json; do
		jq '.seeds = 1 | .duration_us = (.from_us // 0) + 1000' "$file" >"short/${file##*/}"
	done
	"$O/sim/sim" results.json short/*.json
	run -0 "$SIM_DIR/report" results.json chart.svg
	[[ $output == *" of $(jq -s '[.[].aims[]] | length' short/*.json) aims held"* ]]
}
