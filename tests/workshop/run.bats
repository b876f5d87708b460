#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=long,budget:90
# The runner of the tests: what it makes of suites that are planted, in a tree of its own, whose nodes are this
# machine; tests/programs/run-testbed stands in for testbed/testbed.

bats_require_minimum_version 1.5.0
load ../lib/expect

setup()
{
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/tests/suites" "$tree/testbed" "$tree/build"
	cp -r "$BATS_TEST_DIRNAME"/../{run,runner,lib} "$tree/tests/"
	cp "$BATS_TEST_DIRNAME/../programs/run-testbed" "$tree/testbed/testbed"
	echo /build/ >"$tree/.gitignore"
	cd "$tree" || return
	# what is outside has no say here
	unset CI HOSTS VQP_CI_ENDS VQP_TESTBED SUITE_TIMEOUT
	export BOOTS=$BATS_TEST_TMPDIR/boots
}

# suite NAME TAGS: what comes in are its tests, which bats would take for its own but for the second @; `once` fails when it is called first, then no more
suite()
{
	{
		echo "# bats file_tags=$2"
		[[ ,$2, != *,nodes,* ]] || echo "load ../lib/testbed"
		echo "once() { [ -e '$BATS_TEST_TMPDIR/been' ] || { touch '$BATS_TEST_TMPDIR/been'; return 1; }; }"
		sed "s/^@@test/@test/"
	} >"tests/suites/$1.bats"
}

# runs STATUS ARGUMENT...: tests/run ends with it
runs()
{
	run tests/run "${@:2}" 3>&-
	echo "$output"
	[ "$status" -eq "$1" ]
}

# closes LINE...: those are the last ones
closes()
{
	[ "$(printf '%s\n' "${lines[@]: -$#}")" = "$(printf '%s\n' "$@")" ]
}

# says EXPRESSION: of build/last-run.json
says()
{
	jq . build/last-run.json
	jq -e "$1" build/last-run.json
}

# booted COUNT: so often nodes were
booted()
{
	cat "$BOOTS"
	[ "$(wc -l <"$BOOTS")" -eq "$1" ]
}

@test "what passes, is skipped and fails is counted, and a failure says why" {
	suite some nodes <<-'END'
		@@test "good" { true; }
		@@test "not today" { skip "no time"; }
		@@test "bad" { echo "for this reason"; false; }
	END
	runs 1 some
	closes "2 passed, 1 failed, 1 skipped"
	[[ $output == *"FAILED 6.12: some: 3 bad"*"FAILED     # for this reason"* ]]
	[[ $output != *flaky* ]]
	booted 1
}

@test "if all pass the exit status is 0" {
	suite some nodes <<<'@test "good" { true; }'
	runs 0 some
	closes "2 passed, 0 failed, 0 skipped"
}

@test "where no test was executed the run fails" {
	suite none '' </dev/null
	runs 1 none
	closes "0 passed, 1 failed, 0 skipped"
	suite skipped '' <<<'@test "not today" { skip; }'
	runs 1 skipped
	closes "0 passed, 0 failed, 1 skipped"
	suite broken '' <<<'@test "open" {'
	runs 1 broken
	closes "0 passed, 1 failed, 0 skipped"
}

@test "two suites of one name, in whatever folders, are refused" {
	suite some '' <<<'@test "good" { true; }'
	mkdir tests/others
	cp tests/suites/some.bats tests/others/
	runs 2 some
	[[ $output == *"two suites are named some: "*"/tests/others/some.bats and "*"/tests/suites/some.bats"* ]]
	mv tests/others/some.bats tests/others/unit.bats
	runs 2 some
	[[ $output == *"two suites are named unit: a plain one and "*"/tests/others/unit.bats"* ]]
}

@test "nothing is tried again but in CI" {
	suite some nodes <<<'@test "by chance" { once; }'
	runs 1 some
	closes "1 passed, 1 failed, 0 skipped"
	booted 1
	[ ! -e build/flaky ]
}

@test "in CI a chance failure is tried again on fresh nodes, and called flaky" {
	suite some nodes <<-'END'
		@@test "before (it) [passes]" { true; }
		@@test "by chance: a.b*c? {1} $5" { echo "too late"; once; }
		@@test "after it" { echo x >>"$BOOTS.after"; }
	END
	CI=1 runs 0 some
	closes "1 flaky" "4 passed, 0 failed, 0 skipped"
	booted 2
	[ "$(wc -l <"$BOOTS.after")" -eq 1 ]
	[[ $output == *'FLAKY 6.12: some: 2 by chance: a.b*c?'*', see build/flaky/6.12-some-2.log'* ]]
	cat build/flaky/6.12-some-2.log
	grep -q '^# too late' build/flaky/6.12-some-2.log
	grep -q '^node 2 said this' build/flaky/6.12-some-2.log
	says '.flaky == 1 and .passed == 4 and .suites[0].flakes[0].log == "build/flaky/6.12-some-2.log"'
}

@test "what fails twice has failed" {
	suite some nodes <<<'@test "always" { once || echo "the first time"; false; }'
	CI=1 runs 1 some
	closes "1 passed, 1 failed, 0 skipped"
	[[ $output == *"FAILED     # the first time"*"FAILED     # the second try:"* ]]
	booted 2
}

@test "what fails and is skipped at the second try has failed" {
	suite some nodes <<<'@test "skipped" { once || { echo "the first time"; false; }; skip "not now"; }'
	CI=1 runs 1 some
	closes "1 passed, 1 failed, 0 skipped"
}

@test "in CI a complaint of a kernel is a failure, and a chance failure beside it is none" {
	suite some nodes <<-'END'
		@@test "a warning" { node 2 complain "WARNING: CPU: 0 PID: 1 at kernel/x.c"; }
		@@test "by chance" { once; }
	END
	CI=1 runs 1 some
	closes "1 flaky" "2 passed, 1 failed, 0 skipped"
	[[ $output == *"FAILED 6.12: some: 1 a warning"*"# the kernel of"*" complains:"* ]]
	[[ $output != *"FAILED"*"by chance"* ]]
}

@test "in CI hard faults have no second try" {
	local fault
	for fault in 'testbed: node 1 is dead; its console ends with:' \
		'==7==ERROR: AddressSanitizer: heap-use-after-free' 'x.c:1:2: runtime error: signed integer overflow' \
		'==7==ERROR: LeakSanitizer: detected memory leaks' 'vqpt: WRONG: echo 3 from byte 7' \
		'soak node1 worker1 life 0: WRONG: flow 1'; do
		rm -f "$BOOTS" "$BATS_TEST_TMPDIR/been"
		suite some nodes <<<"@test 'a fault' { echo '$fault'; once; }"
		CI=1 runs 1 some
		closes "1 passed, 1 failed, 0 skipped"
		booted 1
	done
}

@test "in CI what a suite leaves behind is a failure, and the next one has fresh nodes" {
	suite first nodes <<<'@test "leaves it" { touch "$BATS_TEST_TMPDIR"/../../../in-use; node 1 hold; }'
	suite second nodes <<<'@test "good" { true; }'
	CI=1 runs 1 first second
	closes "3 passed, 1 failed, 0 skipped"
	[[ $output == *"FAILED 6.12: first: the module does not unload afterwards"* ]]
	booted 2
}

@test "in CI what runs without nodes has no second try, and what boots some itself has" {
	suite without '' <<<'@test "by chance" { once; }'
	CI=1 runs 1 without
	closes "0 passed, 1 failed, 0 skipped"
	rm "$BATS_TEST_TMPDIR/been"
	suite own own-nodes <<-'END'
		setup_file() { echo x >>"$BOOTS"; }
		@@test "by chance" { once; }
	END
	CI=1 runs 0 own
	closes "1 flaky" "1 passed, 0 failed, 0 skipped"
	booted 2
	[ -e build/flaky/own-1.log ]
}

@test "in CI a set-up that fails by chance has a second try, as what takes too long has" {
	suite some nodes <<-'END'
		setup_file() { echo "not up yet"; once; }
		@@test "one" { true; }
		@@test "two" { true; }
		@@test "three" { skip "not for this machine"; }
	END
	CI=1 runs 0 some
	closes "2 flaky" "3 passed, 0 failed, 1 skipped"
	grep -q '^# not up yet' build/flaky/6.12-some-2.log
	rm "$BATS_TEST_TMPDIR/been"
	suite slow nodes <<-'END'
		@@test "one" { true; }
		@@test "two" { once || sleep 100; }
	END
	CI=1 SUITE_TIMEOUT=3 runs 0 slow
	closes "1 flaky" "3 passed, 0 failed, 0 skipped"
}

# plain RULES: what make does in each directory with tests in user space
plain()
{
	local folder
	for folder in tests/{unit,programs/soak,fuzz} runtime-lib common node libcni oci-hook preload; do
		mkdir -p "$folder"
		printf 'run check:\n%b' "$1" >"$folder/Makefile"
	done
}

@test "what the suites without bats print is counted" {
	plain '\t@echo "[       OK ] one"; echo "[       OK ] two"\n'
	runs 0 unit
	closes "16 passed, 0 failed, 0 skipped"
	plain '\t@echo "[       OK ] one"; echo "[  FAILED  ] two"; echo "[  FAILED  ] two"; exit 1\n'
	runs 1 unit
	closes "8 passed, 8 failed, 0 skipped"
	plain '\t@echo "[       OK ] one"; exit 1\n'
	runs 1 unit
	closes "8 passed, 8 failed, 0 skipped"
	plain '\t@echo 1..2; echo ok 1 one; echo ok 2 two\n'
	runs 0 fuzz
	closes "2 passed, 0 failed, 0 skipped"
	plain '\t@echo 1..2; echo ok 1 one\n'
	runs 1 fuzz
	closes "1 passed, 1 failed, 0 skipped"
	printf '#!/bin/sh\necho "PASS  $1  1 s"; echo "FAIL  other  2 s"; exit 1\n' >tests/check
	chmod +x tests/check
	runs 1 static analysis
	closes "2 passed, 2 failed, 0 skipped"
	[[ $output == *"static: PASS  --quick"*"analysis: PASS  --slow"* ]]
}

@test "nodes that do not come up fail each suite that is to run there" {
	suite first nodes <<<'@test "good" { true; }'
	suite second nodes <<<'@test "good" { true; }'
	NO_NODES=1 runs 1 first second
	closes "0 passed, 2 failed, 0 skipped"
	[[ $output == *"FAILED 6.12: first: no testbed"*"FAILED 6.12: second: was not run"* ]]
}

@test "who is over the budget is named" {
	suite slow budget:1 <<<'@test "slow" { sleep 2; }'
	suite quick budget:20 <<<'@test "quick" { true; }'
	runs 0 slow quick
	[[ $output == *"OVER BUDGET slow: "*" s of 1"* ]]
	[[ $output != *"OVER BUDGET quick"* ]]
}

@test "last-run.json says what was tested, and what came of each suite" {
	git init -q
	git add -A
	git -c user.name=x -c user.email=x@localhost commit -q -m x
	suite some nodes,budget:7 <<-'END'
		@@test "good" { true; }
		@@test "bad" { echo "for this reason"; false; }
	END
	runs 1 some
	says ".commit == \"$(git rev-parse HEAD)\" and .dirty and .ended and (.started | fromdate) > 0 and .seconds >= 0"
	says '[.passed, .failed, .flaky, .skipped] == [2, 1, 0, 0] and (.suites | length) == 1'
	says '.suites[0] | .name == "some" and .kernel == "6.12" and .budget == 7 and .seconds >= 0'
	says '.suites[0] | [.passed, .failed, .flaky, .skipped] == [2, 1, 0, 0]'
	says '.suites[0].failures[0] | (.test | startswith("6.12: some: 2 bad")) and (.why | any(. == "# for this reason"))'
	git add -A
	git -c user.name=x -c user.email=x@localhost commit -q -m y
	runs 1 some
	says '.dirty == false'
}

@test "a run that is ended leaves neither nodes nor processes, and says how far it got" {
	suite first '' <<<'@test "good" { true; }'
	suite second nodes <<<'@test "long" { echo $$ >"$BOOTS.pid"; sleep 1000; }'
	tests/run first second >out 2>&1 3>&- &
	until [ -s "$BOOTS.pid" ] && [ "$(jq .passed build/last-run.json)" -eq 1 ]; do
		sleep 0.1
	done
	ends_by TERM 143 $!
	cat out
	says '.ended == false and .passed == 1 and .failed == 0'
	[ -z "$(ls -d build/run-* build/testbed/* 2>/dev/null)" ]
	within 10 runs_no_more "$(cat "$BOOTS.pid")"
}

@test "a run that is continued counts the one before, whose failure remains one" {
	git init -q
	git add -A
	git -c user.name=x -c user.email=x@localhost commit -q -m x
	suite first '' <<<'@test "bad" { false; }'
	suite second '' <<<'@test "good" { true; }'
	runs 1 first
	runs 1 --continue second
	closes "1 passed, 1 failed, 0 skipped"
	[[ $output == *"FAILED first: 1 bad"* ]]
	says '.suites | map(.name) == ["first", "second"]'
	runs 0 second
	runs 0 --continue second
	closes "2 passed, 0 failed, 0 skipped"
	jq '.ended = false' build/last-run.json >new
	mv new build/last-run.json
	runs 1 --continue second
	closes "3 passed, 1 failed, 0 skipped"
	git -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m y
	runs 2 --continue second
}

# ci STATUS: .ci/run ends with it; `make test` has the suite "some", `make test-rest` "other"
ci()
{
	mkdir -p .ci
	cp "$BATS_TEST_DIRNAME/../../.ci/run" .ci/
	printf '%s\n' 'test: ; $(BUILD) && tests/run some' 'test-rest: ; tests/run --continue other' >Makefile
	# without what bats has told its own
	run env -i PATH="${PATH#"$BATS_LIBEXEC":}" VQP_TOOLBOX=test BUILD="$BUILD" BOOTS="$BOOTS" .ci/run 3>&-
	echo "$output"
	[ "$status" -eq "$1" ]
}

@test "CI has both steps whatever the first comes to, and its last line counts both" {
	suite some nodes <<<'@test "by chance" { once; }'
	suite other '' <<<'@test "good" { true; }'
	BUILD=true ci 0
	closes "1 flaky" "3 passed, 0 failed, 0 skipped"
	suite some nodes <<<'@test "bad" { false; }'
	BUILD=true ci 1
	closes "2 passed, 1 failed, 0 skipped"
	[[ $output == *"FAILED 6.12: some: 1 bad"* ]]
	BUILD=false ci 1
	closes "0 passed, 1 failed, 0 skipped"
}

@test "two kernels have a turn at once, and what each does is told apart" {
	suite some nodes <<<'@test "good" { touch "$BOOTS.$VQP_TESTBED"; until [ "$(ls "$BOOTS".* | wc -l)" -eq 2 ]; do sleep 0.1; done; }'
	runs 0 --kernel 6.1 --kernel 6.12 some
	closes "4 passed, 0 failed, 0 skipped"
	[[ $output == *"6.1: some: ok 1 good"* && $output == *"6.12: some: ok 1 good"* ]]
}

@test "what only the debug kernel can do is skipped on others, without nodes" {
	suite some nodes,debug-only <<<'@test "good" { true; }'
	suite other '' <<<'@test "good" { true; }'
	runs 0 some other
	closes "1 passed, 0 failed, 1 skipped"
	[ ! -e "$BOOTS" ]
	suite others nodes <<<'@test "good" { true; }'
	runs 0 some others
	closes "2 passed, 0 failed, 1 skipped"
	booted 1
}

@test "CI that has taken long begins no suite, and does not compile the debug kernel, that would take it past its end" {
	suite some nodes,budget:50 <<<'@test "good" { true; }'
	suite other budget:10 <<<'@test "good" { true; }'
	echo 'kmod-debug: ;' >Makefile
	VQP_CI_ENDS=$((EPOCHSECONDS + 30)) runs 0 some other
	closes "1 passed, 0 failed, 1 skipped"
	[[ $output == *"6.12: some: skipped, CI has no time left for it"* ]]
	[ ! -e "$BOOTS" ]
	# 200 seconds on that kernel, and 900 for itself
	VQP_CI_ENDS=$((EPOCHSECONDS + 1000)) NO_DEBUG_KERNEL=1 runs 1 --kernel debug some
	closes "0 passed, 0 failed, 1 skipped"
	[ ! -e "$BOOTS" ]
	VQP_CI_ENDS=$((EPOCHSECONDS + 1000)) run tests/run --kernel debug some 3>&-
	booted 1
	VQP_CI_ENDS=$((EPOCHSECONDS + 2000)) NO_DEBUG_KERNEL=1 run tests/run --kernel debug some 3>&-
	booted 2
}

@test "with HOSTS what needs nodes runs on these machines, in one lane, and nothing else does" {
	suite first nodes,heart <<<'@@test "one" { vqp_up; }'
	suite second nodes,heart <<<'@@test "two" { :; }'
	suite third nodes,heart,virtual <<<'@@test "three" { false; }'
	suite fourth heart <<<'@@test "four" { false; }'
	HOSTS="a b/c" runs 0
	closes "4 passed, 0 failed, 0 skipped"
	[ "$(<"$BOOTS")" = "up --hosts a b/c" ]
	says '[.suites[] | [.kernel, .name]] == [["hosts", "first"], ["hosts", "second"]]'
	HOSTS="a b" runs 1 third
	closes "0 passed, 0 failed, 1 skipped"
	HOSTS="a b" runs 2 --kernel 6.1 first
	HOSTS=a runs 2 first
}

@test "heart and rest together are all, each once" {
	cd "$BATS_TEST_DIRNAME/../.."
	[ "$({ tests/run --list --heart; tests/run --list --rest; } | sort)" = "$(tests/run --list --all | sort)" ]
	[ -z "$(tests/run --list --all | sort | uniq -d)" ]
	for file in tests/*/*.bats; do
		suite=${file##*/}
		tests/run --list --all | grep " ${suite%.bats} " || grep '^# bats file_tags=.*\blong\b' "$file"
	done
}

@test "every suite has a budget among its tags, and bats reads the tags that the runner reads" {
	cd "$BATS_TEST_DIRNAME/../.."
	run grep -L '^# bats file_tags=.*\bbudget:[1-9]' tests/*/*.bats
	[ -z "$output" ]
	# what bats takes for a command to it, and is not a suite's third line
	run bash -c "grep -nE '^[[:blank:]]*#[[:blank:]]*bats[[:blank:]]' tests/*/*.bats |
		grep -vE '^[^:]*:3:# bats file_tags=[-_:[:alnum:]]+(,[-_:[:alnum:]]+)*\$'"
	echo "$output"
	[ -z "$output" ]
}
