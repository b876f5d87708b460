#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:100
# Pods of CNI networks that start and end at random while daemons are killed and DELs are lost: after GC
# nothing is left. What runs on the node is in tests/node/leftovers.bash. `make leftovers` is the long form.
# On one kernel: little of it is the kernel's.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=node/leftovers.bash

setup_file() {
	vqp_up
	on 1 prepare
}

teardown() {
	on 1 'pkill -9 -x vqpt || true; cleanup' && vqp_up
}

# STARTS and SEED repeat a run.
@test "nothing is left of pods, whatever became of them" {
	local starts=${STARTS-40}
	NODE_TIMEOUT=$((200 + 5 * starts))
	on 1 "leftovers $starts ${SEED-$RANDOM}"
}
