# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What suites print is read here, shown behind the label of their turn, and remembered.
#
# passed, failed, skipped   of this turn, so far
# failures                  a text for each that failed: its name, and on further lines why
# result, name, said        of each test of TAP, by "TRY NUMBER": ok, skip or failed; what it is called; what it
#                           had to say. In place of a number setup_file has "setup", teardown_file "teardown".
# planned, status           how many tests TAP announced, and how the command ended
# try                       which one is under way

passed=0 failed=0 skipped=0
failures=()
declare -A result=() name=() said=()
planned=0 status=0 try=1

# fail NAME [WHY]: with the first lines of a long WHY, which say where it was, and the last, how it ended: they hold
# what kernel-log prints of a complaint, which begins with its kind
fail()
{
	local why
	mapfile -t why < <([[ ! ${2-} ]] || printf '%s\n' "${2%$'\n'}")
	((${#why[@]} <= 48)) || why=("${why[@]:0:2}" "# ..." "${why[@]: -45}")
	((++failed))
	failures+=("$(printf '%s\n' "$1" "${why[@]}")")
}

# read_from READER COMMAND...: what it prints, and how it ends; it is a process group that end_command ends
command_group=
read_from()
{
	local output
	exec {output}< <(exec setsid "${@:2}" 2>&1 </dev/null)
	command_group=$!
	"read_$1" <&"$output"
	exec {output}<&-
	status=0
	wait "$command_group" || status=$?
	command_group=
}

end_command()
{
	[[ ! $command_group ]] || kill -- "-$command_group" 2>/dev/null
}

read_plain()
{
	local line
	while IFS= read -r line; do
		printf '%s: %s\n' "$label" "$line"
	done
}

# note_test LINE: sets `test`
note_test()
{
	local outcome=ok words
	[[ $1 != "not "* ]] || outcome=failed
	read -r test words <<<"${1#*ok }"
	case $outcome:$words in
	failed:setup_file\ failed*) test=setup ;;
	failed:teardown_file\ failed*) test=teardown ;;
	ok:*"# skip"*) outcome=skip ;;
	esac
	result["$try $test"]=$outcome
	name["$try $test"]=$words
}

# read_tap: of the try of that number in $try
read_tap()
{
	local line test=''
	planned=0
	while IFS= read -r line; do
		case $line in
		1..*)
			planned=${line#1..}
			continue
			;;
		"ok "* | "not ok "*) note_test "$line" ;;
		"# "*) [[ ! $test ]] || said["$try $test"]+=$line$'\n' ;;
		esac
		printf '%s: %s\n' "$label" "$line"
	done
}

# count_tap: what became of the tests. One that was announced and has no result has failed, and so has something if
# the status says so.
count_tap()
{
	local i before=$failed reason=${said["1 setup"]-}
	((planned > 0)) || fail "$label: no tests"
	for ((i = 1; i <= planned; i++)); do
		case ${result["1 $i"]-} in
		ok | flaky) ((++passed)) ;;
		skip) ((++skipped)) ;;
		failed) fail "$label: $i ${name["1 $i"]}" "${said["1 $i"]-}" ;;
		*)
			fail "$label: $i gave no result" "$reason"
			reason=
			;;
		esac
	done
	[[ ! ${result["1 teardown"]-} ]] || fail "$label: teardown_file failed" "${said["1 teardown"]-}"
	((failed > before || flaky > 0)) || check_status
}

check_status()
{
	((status == 0)) || fail "$label: ended with status $status"
}

# read_cmocka: of programs with cmocka, whose summaries at their ends name again what failed
read_cmocka()
{
	local line before=$((passed + failed))
	local -A seen=()
	while IFS= read -r line; do
		case $line in
		"[       OK ] "*) ((++passed)) ;;
		"[  FAILED  ] "[a-z_]*)
			[[ ${seen[$line]-} ]] || fail "$label: ${line:13}"
			seen[$line]=1
			;;
		"[ RUN      ] "* | "[==========]"* | "[  PASSED  ]"*) continue ;;
		esac
		printf '%s: %s\n' "$label" "$line"
	done
	((passed + failed > before)) || fail "$label: no tests"
}

# read_checks: of tests/check
read_checks()
{
	local line check before=$((passed + failed))
	while IFS= read -r line; do
		case $line in
		"PASS "*) ((++passed)) ;;
		"FAIL "*)
			read -r _ check _ <<<"$line"
			fail "$label: $check"
			;;
		esac
		printf '%s: %s\n' "$label" "$line"
	done
	((passed + failed > before)) || fail "$label: no checks"
}
