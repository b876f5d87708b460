#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=heart,budget:45
# The CNI plugin beside those of Debian's containernetworking-plugins: the same exit status and error
# code for each input of tests/programs/cni-inputs. On the machine that builds, with a vqpd that says yes.

bats_require_minimum_version 1.5.0

load cni

# PEER: no input tells them apart, and in more than 60 it is not for the status alone.
equal_to() {
	run unshare -rn "$BATS_TEST_DIRNAME/../programs/cni-compare" "$PLUGIN" "/usr/lib/cni/$1" "$SOCKET"
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
