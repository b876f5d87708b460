#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The CNI plugin beside those of Debian's containernetworking-plugins: the same exit status and error
# code for each input of tests/cni-inputs. On the machine that builds, with a vqpd that says yes.

bats_require_minimum_version 1.5.0

setup_file() {
	export SOCKET=$BATS_FILE_TMPDIR/vqpd.sock
	"$BATS_TEST_DIRNAME/fake-vqpd" "$SOCKET" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/pid"
	timeout 10 bash -c 'until [ -S "$SOCKET" ]; do sleep 0.01; done'
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/pid")"
}

# PEER: no input tells them apart, and in more than 60 it is not for the status alone.
equal_to() {
	run unshare -rn "$BATS_TEST_DIRNAME/cni-compare" "${O:-$BATS_TEST_DIRNAME/../build}/bin/cni/vqp" \
		"/usr/lib/cni/$1" "$SOCKET"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "${output% equal}" -ge 60 ]
}

@test "as tuning" {
	equal_to tuning
}

@test "as bridge" {
	equal_to bridge
}
