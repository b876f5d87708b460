#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:180
# vqpctl doctor: a node in order has no fault, and each fault that is planted is found by its name. What runs on the
# nodes is in tests/node/doctor.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=node/doctor.bash

in_touch() { on_each bash -c 'source /vqp/tests/node/node.bash; eventually meta_up true'; }

setup_file() {
	vqp_up && in_touch && on_each bash -c 'source /vqp/tests/node/doctor.bash; forget_engines'
}

# A test that stops a daemon or unloads the module calls this first.
disturb() { touch "$BATS_FILE_TMPDIR/disturbed"; }

teardown() {
	on 1 'remove_boxes; clean' && on 2 clean || return
	if [ -e "$BATS_FILE_TMPDIR/disturbed" ]; then
		rm "$BATS_FILE_TMPDIR/disturbed" && vqp_services_stop && vqp_up && in_touch
	fi
}

teardown_file() {
	vqp_services_stop
}

@test "doctor: a node in order has no fault" {
	local number

	for number in 1 2; do
		run -0 on "$number" 'vqpctl doctor'
		[[ $output == *" 0 faults, "* ]]
	done
	on 1 'vqpctl doctor --json | jq -e ".ok and all(.findings[]; .state != \"fault\")"'
	on 1 'for id in module.loaded module.device module.answers device.parent device.port device.mtu device.gid device.address \
		vqpd.answers meta.answers meta.room policy.file policy.vqpd; do finds ok $id || { echo "$id"; exit 1; }; done'
}

@test "doctor: each finding that is not ok says what to do, and --all shows those that are" {
	on 1 'vqpctl doctor --json | jq -e "all(.findings[]; (.state == \"ok\") == (.remedy == null))"'
	run on 1 'vqpctl doctor'
	[[ $output != *$'\nok '* && $output != "ok "* ]]
	run -0 on 1 'vqpctl doctor --all'
	[[ $output == *"ok       device.parent      the module uses "* ]]
}

@test "doctor: who is not root is told what could not be looked at" {
	on 1 'setpriv --reuid 65534 --clear-groups vqpctl doctor --json |
		jq -e "[.findings[] | select(.id | IN(\"module.answers\", \"vqpd.answers\")) | .state] == [\"ok\", \"unknown\"]"'
}

@test "doctor: the module is not loaded" {
	disturb
	on 2 'bash /vqp/tests/programs/services unload; finds fault module.loaded'
	run on 2 'vqpctl doctor'
	[ "$status" -eq 1 ]
	[[ $output == *"-> modprobe vqp"* ]]
}

@test "doctor: vqpd does not run" {
	disturb
	on 2 'stop vqpd; finds fault vqpd.answers'
	run on 2 'vqpctl doctor'
	[ "$status" -eq 1 ]
	[[ $output == *"-> systemctl start vqpd"* ]]
}

@test "doctor: vqpd knows no meta server" {
	disturb
	on 2 'stop vqpd; start vqpd; eventually finds warning meta.named'
}

@test "doctor: a meta server is away" {
	disturb
	on 1 'stop vqp-metad'
	on 2 'finds fault meta.answers'
}

@test "doctor: another node has announced an address since" {
	on 1 'box node-a 3 10.95.0.1; eventually announced 3 10.95.0.1 1; not finds fault address.taken'
	on 2 'box node-b 3 10.95.0.1'
	on 1 'eventually announced 3 10.95.0.1 2; finds fault address.taken'
	on 2 remove_boxes
}

@test "doctor: the CNI list that an engine uses has lost the plugin" {
	on 1 'configure containerd vqpctl
		write_list "[{\"type\": \"vqp\"}]"; not finds fault cni.list
		write_list "[]"; finds fault cni.list'
}

@test "doctor: an engine is told of a runtime that is gone" {
	on 1 'install_other vqpctl vqp-runtime vqp-hook; configure podman "$other/vqpctl"; finds ok engine.podman
		rm "$other/vqp-runtime"; finds fault engine.podman'
}

@test "doctor: a program is of another version" {
	on 1 'install_other vqpctl; printf "#!/bin/sh\necho vqpd 0.0.1\n" >"$other/vqpd"; chmod +x "$other/vqpd"
		finds warning version "$other/vqpctl"
		"$other/vqpctl" doctor | grep "vqpd is \"vqpd 0.0.1\""'
}

@test "doctor: the policy is not what it should be" {
	on 1 misses_policy
}

@test "doctor: the MTU is too small" {
	disturb
	on 2 misses_mtu
}

@test "doctor: the node's address is not on its interface" {
	disturb
	on 2 'eventually misses_address'
}

@test "doctor: a bundle has what a report needs, for its owner alone, and no secret" {
	on 1 bundle_has_no_secrets
}

@test "doctor: a bundle replaces nothing" {
	on 1 'echo mine >/run/vqp-doctor.tar.gz'
	run on 1 'vqpctl doctor --bundle /run/vqp-doctor.tar.gz'
	[ "$status" -eq 73 ]
	[[ $output == *"is there already"* ]]
	on 1 'grep mine /run/vqp-doctor.tar.gz'
}

@test "doctor: a bundle is a directory if its name is no archive's" {
	on 1 bundle_is_a_directory
}
