#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:2400
# What goes wrong with containers of every platform. `make test-containers` runs it.

bats_require_minimum_version 1.5.0
load ../lib/testbed

platforms='runc crun docker podman containerd'

setup_file() {
	vqp_up
	NODE_TIMEOUT=300 on_each bash -c 'source /vqp/tests/lib/platforms.bash; engines'
}

teardown() {
	NODE_TIMEOUT=600 on_each bash -c "source /vqp/tests/lib/platforms.bash
		[ '${BATS_TEST_COMPLETED-}' ] || platforms_cleanup
		eventually has_namespaces 0"
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/lib/platforms.bash; daemons_end'
}

helpers=containers/platforms-faults.bash

# PLATFORM: the runtime is killed at any time while it makes a container; then another has its place. Not its name:
# containerd cleans up behind a runtime that failed when it gets round to it.
dies_while_it_starts() {
	NODE_TIMEOUT=400 on 1 "p=$1"'
		live_objects >/run/vqp-test-before
		for pause in 0.05 0.2 0.4 0.8; do
			${p}_start x$pause vqpt echo-server 7000 >/dev/null 2>&1 &
			starter=$!
			await_runtime $starter
			sleep $pause
			kill_runtime $p
			wait $starter || true
			${p}_remove x$pause || true
			eventually has_namespaces 0
		done
		${p}_start x1 vqpt echo-server 7000
		${p}_exec x1 vqpt --count=2 send $(${p}_address x1) 7000
		${p}_remove x1
		eventually has_namespaces 0
		eventually live_objects_are /run/vqp-test-before'
}

# PLATFORM: shim or conmon, and the container, are killed together
dies_with_its_watcher() {
	NODE_TIMEOUT=400 on 1 "p=$1"'
		live_objects >/run/vqp-test-before
		${p}_start x1 vqpt echo-server 7000
		kill -9 $(watchers $p) $(${p}_pid x1)
		${p}_remove x1 || ${p}_remove x1
		eventually has_namespaces 0
		${p}_start x1 vqpt echo-server 7000
		${p}_exec x1 vqpt --count=2 send $(${p}_address x1) 7000
		${p}_remove x1
		eventually has_namespaces 0
		eventually live_objects_are /run/vqp-test-before'
}

# PLATFORM: as many as AT_ONCE start at once, each with a namespace of its own, and go at once
many_at_once() {
	NODE_TIMEOUT=2400 on 1 "p=$1 n=${AT_ONCE-32}"'
		live_objects >/run/vqp-test-before
		at_once $p $n start vqpt echo-server 7000
		has_namespaces $n
		${p}_exec x1 vqpt --count=2 send $(${p}_address x$n) 7000
		at_once $p $n remove
		eventually has_namespaces 0
		eventually live_objects_are /run/vqp-test-before'
}

@test "runc: killed while it starts" { dies_while_it_starts runc; }
@test "crun: killed while it starts" { dies_while_it_starts crun; }
@test "Docker: the runtime is killed while it starts" { dies_while_it_starts docker; }
@test "podman: the runtime is killed while it starts" { dies_while_it_starts podman; }
@test "containerd: the runtime is killed while it starts" { dies_while_it_starts containerd; }

@test "Docker: shim and container are killed" { dies_with_its_watcher docker; }
@test "podman: conmon and container are killed" { dies_with_its_watcher podman; }
@test "containerd: shim and container are killed" { dies_with_its_watcher containerd; }

@test "runc: 32 at once" { many_at_once runc; }
@test "crun: 32 at once" { many_at_once crun; }
@test "Docker: 32 at once" { many_at_once docker; }
@test "podman: 32 at once" { many_at_once podman; }
@test "containerd: 32 at once" { many_at_once containerd; }

@test "Docker: a container whose daemons are all killed is started anew by them" {
	NODE_TIMEOUT=400 on 1 docker_starts_anew
}

# All platforms at once, for a node takes its time to boot. Those of runc and crun have the addresses that they had,
# and are looked for where they were.
@test "a node crashes: containers of every platform serve again after its reboot" {
	local p
	declare -A before

	on 1 'runc_start x1 sleep 10000'
	on 2 'rm -f /run/vqp-test-host'
	for p in $platforms; do
		NODE_TIMEOUT=300 on 2 "${p}_start x-$p vqpt echo-server 7000"
		before[$p]=$(on 2 "${p}_address x-$p")
		on 1 "runc_exec x1 vqpt --count=2 send ${before[$p]} 7000"
	done
	"$testbed" fault crash 2
	run on 1 "runc_exec x1 vqpt send ${before[runc]} 7000"
	[ "$status" -ne 0 ]
	"$testbed" fault crash 2 off
	vqp_up
	NODE_TIMEOUT=300 on 2 engines
	for p in $platforms; do
		NODE_TIMEOUT=300 on 2 "${p}_start x-$p vqpt echo-server 7000"
		[[ $p != @(runc|crun) || $(on 2 "${p}_address x-$p") == "${before[$p]}" ]]
		on 1 "runc_exec x1 vqpt --count=2 send $(on 2 "${p}_address x-$p") 7000"
		on 2 "${p}_remove x-$p"
	done
	on 1 'runc_remove x1'
}
