#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,heart,newest,debug,budget:150
# The short forms of tests/programs/soak/soak.
# On the debug kernel, too: it comes by most of the module.

bats_require_minimum_version 1.5.0
load ../lib/testbed

soak() { "$tests/programs/soak/soak" "$@"; }

@test "a minute of everything at random, with kills" {
	! real_machines || skip "it wants files that nodes share, and their devices"
	soak --seconds 60
}
@test "400 processes killed after their first transfer, and the module unloads" { soak --cycles 400; }
