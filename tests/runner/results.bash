# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What a run has come to: a record of each turn in the directory $run, and of all of them build/last-run.json, which is
# written anew after each turn, so that it is there however the run ends:
#
# commit, dirty, started, seconds      what was tested, when, and how long it took
# ended                                true if nothing was left to do
# passed, failed, flaky, skipped       tests; the flaky ones have passed, see chance.bash
# image                                what the nodes of all suites were
# suites[]                             name, kernel (or "here"), seconds, budget, and the same counts of each;
#                                      failures[]: test, why[]; flakes[]: test, log

last_run=$top/build/last-run.json

# write_record PLACE SUITE SECONDS: to $record
write_record()
{
	jq -n --arg kernel "$1" --arg name "$2" --argjson seconds "$3" --argjson budget "$(budget_of "$1" "$2")" \
		--argjson passed "$passed" --argjson failed "$failed" --argjson flaky "$flaky" \
		--argjson skipped "$skipped" --argjson failures "${#failures[@]}" '
		[$ARGS.positional[] | split("\n")] as $texts |
		{$name, $kernel, $seconds, $budget, $passed, $failed, $flaky, $skipped,
			failures: [$texts[:$failures][] | {test: .[0], why: .[1:]}],
			flakes: [$texts[$failures:][] | {test: .[0], log: .[1]}]}
		' --args "${failures[@]}" "${flakes[@]}" >"$record"
}

# begin_results CONTINUES: with those of the run before if that is not empty
begin_results()
{
	commit=$(git -C "$top" rev-parse HEAD 2>/dev/null)
	dirty=false
	[[ ! $(git -C "$top" status --porcelain 2>/dev/null) ]] || dirty=true
	started=$(date -u +%FT%TZ)
	seconds_before=0
	if [[ $1 ]]; then
		take_up
	else
		rm -rf "$top/build/flaky"
	fi
	write_last_run false
}

# take_up: the run before is the first part of this one; that it did not end is a failure of it
take_up()
{
	if ! jq -e --arg commit "$commit" '(.commit // "") == $commit' "$last_run" >/dev/null; then
		echo "tests/run: no run of this commit to continue" >&2
		exit 2
	fi
	started=$(jq -r .started "$last_run")
	seconds_before=$(jq .seconds "$last_run")
	jq '.suites[]' "$last_run" >"$run/000.json"
	jq -e .ended "$last_run" >/dev/null || record=$run/000-end.json lost here "the run before" "did not end"
}

# write_last_run ENDED
write_last_run()
{
	find "$run" -name '*.json' -print0 | sort -z | xargs -0 -r cat | jq -s --arg commit "$commit" \
		--argjson dirty "$dirty" --arg started "$started" --argjson seconds $((seconds_before + SECONDS)) \
		--argjson ended "$1" --arg image "$image" '
		def total(of): map(of) | add // 0;
		{commit: (if $commit == "" then null else $commit end), $dirty, $started, $seconds, $ended, $image,
			passed: total(.passed), failed: total(.failed), flaky: total(.flaky), skipped: total(.skipped),
			suites: .}
		' >"$last_run.new" && mv "$last_run.new" "$last_run"
}

# summary: what last-run.json says, for people. The last line is the run's verdict in numbers.
summary()
{
	jq -r '
		def title: if .kernel == "here" then .name else "\(.kernel) \(.name)" end;
		"TOOK " + ([.suites[] | "\(title) \(.seconds) s"] | join(", ")),
		(.suites[] | select(.budget and .seconds > .budget) | "OVER BUDGET \(title): \(.seconds) s of \(.budget)"),
		(.suites[].flakes[] | "FLAKY \(.test), see \(.log)"),
		(.suites[].failures[] | "FAILED \(.test)", (.why[] | "FAILED     \(.[:200])")),
		(select(.flaky > 0) | "\(.flaky) flaky"),
		"\(.passed) passed, \(.failed) failed, \(.skipped) skipped"
		' "$last_run"
}

# all_is_well: something passed, and nothing failed
all_is_well()
{
	jq -e '.ended and .passed > 0 and .failed == 0' "$last_run" >/dev/null
}
