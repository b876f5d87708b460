#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=own-nodes,long,budget:150
# What CI makes of a chance failure and of a kernel's warning, on real nodes; run.bats has the rest of the runner.

bats_require_minimum_version 1.5.0

@test "on nodes a planted chance failure is flaky, and a planted warning of a kernel a failure" {
	local tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/tests/suites"
	cp -r "$BATS_TEST_DIRNAME"/../{run,runner,lib} "$tree/tests/"
	ln -s "$BATS_TEST_DIRNAME/../../testbed" "$tree/testbed"
	sed 's/^@@/@/; s/^#@/#/' >"$tree/tests/suites/planted.bats" <<-'END'
		#@ bats file_tags=nodes
		load ../lib/testbed
		setup_file() { vqp_up; }
		once() { [ -e "$BEEN" ] || { touch "$BEEN"; node 1 false; }; }
		@@test "by chance" { once; }
		@@test "a warning" { node 2 sh -c 'echo "<4>WARNING: CPU: 0 PID: 1 at planted.c" >/dev/kmsg'; }
	END
	unset VQP_TESTBED SUITE_TIMEOUT
	CI=true BEEN=$BATS_TEST_TMPDIR/been run "$tree/tests/run" planted 3>&-
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${lines[-2]}" = "1 flaky" ]
	[ "${lines[-1]}" = "2 passed, 1 failed, 0 skipped" ]
	[[ $output == *"FAILED 6.12: planted: 2 a warning"*"WARNING: CPU: 0 PID: 1 at planted.c"* ]]
	[ -s "$tree/build/flaky/6.12-planted-1.log" ]
}
