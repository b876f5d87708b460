#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:150
# CNI networks for containers that no CNI runtime started: vqp-network and libvqpcni.so, with Debian's plugins, for
# runc, crun, podman and Docker. What runs on the nodes is in tests/containers/networks.bash.
# On one kernel, and on more in `make test-containers`: little of it is the kernel's.

bats_require_minimum_version 1.5.0
load ../lib/testbed

setup_file() {
	vqp_up
	on_each bash -c 'source /vqp/tests/containers/networks.bash; networks'
}

teardown() {
	on_each bash -c 'source /vqp/tests/containers/networks.bash; cleanup && eventually nothing_remains'
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/containers/networks.bash; networks_end'
}

helpers=containers/networks.bash

# LIST: a container of runc is refused with this text, and nothing of it remains.
refused_with() {
	run on 1 "refused_network c1 $1"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"$2"* ]]
}

@test "runc: a container without a network gets the list that its annotation names, and a VQP namespace" {
	local address starter
	on 1 'start c1 "$(on_network blue) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"' &
	starter=$!
	on 2 'start c2 "$(on_network blue)"'
	wait "$starter"
	address=$(on 1 'address_in $(pid_of c1)')
	[[ $address == 10.66.1.* ]]
	on 1 "eventually is_served $address"
	on 2 "runc exec c2 vqpt --count=20 send $address 7000"
	# one namespace, and the plugin has made it
	on 1 "[ \"\$(namespaces)\" = '1 $address' ]
		vqpctl ns list --json | jq -e 'any(.[]; .name | test(\"^c1-[0-9a-f]+/eth0/blue\"))'
		iptables-save -t nat | grep -q $address
		runc delete --force c1
		nothing_remains"
	on 2 'runc delete --force c2; nothing_remains'
}

@test "crun: the same" {
	on 1 crun_on_a_network
}

@test "of two containers of one id, under two roots, the end of one leaves the other attached" {
	on 1 same_id_under_two_roots
}

@test "what an earlier version attached, by the container's id alone, is detached" {
	on 1 earlier_pins_count
}

@test "a container that ends by itself, or is killed, leaves nothing when it is deleted" {
	on 1 ended_or_killed_leaves_nothing
}

@test "a list without vqp gives the address, and vqp-hook the namespace" {
	on 1 list_without_vqp
}

@test "a list with a static address" {
	on 1 static_address
}

@test "at prestart, for runtimes that know no createRuntime" {
	on 1 prestart_on_a_network
}

@test "several at once have an address each" {
	on 1 several_at_once
}

# ---- what goes wrong ----

@test "an ADD that fails ends the creation with its reason, and is undone" {
	refused_with failing 'told to fail'
}

@test "a hook that is killed while plugins work leaves nothing" {
	on 1 killed_hook_leaves_nothing
}

@test "what a crash left is deleted when the container starts again" {
	on 1 crash_is_cleared_at_start
}

@test "an annotation that is not allowed starts no container, and loads nothing" {
	refused_with secret 'annotation io.vqp.network: no rule of the policy for network secret has \"by_annotation\": true'
	on 1 'bundle c1 "$(on_network secret)"
		not traced $WORK/trace vqp-runtime create --bundle $WORK/c1 c1 </dev/null
		grep -q "execve(\"$BIN/vqp-network\"" $WORK/trace
		not grep libvqpcni $WORK/trace'
	on 1 'policy; bundle c1 "$(on_network blue)"; not launch c1 create 2>&1 | grep "annotation io.vqp.network: .*blue"'
	on 1 'no_policy; bundle c1 "$(on_network blue)"; not launch c1 create 2>&1 | grep "annotation io.vqp.network: .*vqpctl policy init"'
}

@test "a hostile name is no name" {
	for name in ../blue blue/../secret .blue 'blue secret' ''; do
		refused_with "'$name'" 'is no name of a network list'
	done
}

@test "what is missing is named with the way out" {
	refused_with nowhere 'there is no network list \"nowhere\" in /etc/cni/net.d: write one, as /etc/cni/net.d/nowhere.conflist'
	refused_with broken 'failed to find plugin \"vqp-test-is-not-there\"'
	on 1 'mv $WORK/lib/libvqpcni.so $WORK/lib/away'
	run on 1 'refused_network c1 blue'
	on 1 'mv $WORK/lib/away $WORK/lib/libvqpcni.so'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *'libvqpcni.so: cannot open shared object file'*'make -C libcni install'* ]]
}

@test "a container on the host's network, or with a network, keeps what it has" {
	on 1 other_networks_stay
}

@test "a second container in a network namespace does not take the first one's network away" {
	on 1 second_container_takes_nothing
}

@test "vqp-hook alone says what is missing" {
	on 1 hook_alone_says_what_is_missing
}

# ---- who pays for it ----

@test "an ordinary start runs neither hook nor library for networks; one with a network does" {
	on 1 library_for_networks_alone
}

@test "plugins have three capabilities and the system's PATH, and hold no more than the list gives" {
	on 1 plugins_have_three_capabilities
}

# ---- podman and Docker ----

@test "podman: a container that is annotated gets its list under --network none" {
	on 1 podman_annotated
}

@test "Docker: containers of a runtime with a network get it under --network none; stop, kill -9, restart" {
	NODE_TIMEOUT=300 on 1 docker_runtime_with_a_network
}
