#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:150
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
		vqpctl ns list --json | jq -e 'any(.[]; .name == \"c1/eth0/blue\")'
		iptables-save -t nat | grep -q $address
		runc delete --force c1
		nothing_remains"
	on 2 'runc delete --force c2; nothing_remains'
}

@test "crun: the same" {
	on 1 'export VQP_RUNTIME_REAL=crun
		start c1 "$(on_network blue) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		address=$(address_in $(pid_of c1))
		[ "$(namespaces)" = "1 $address" ]
		eventually is_served $address
		crun exec c1 vqpt --count=2 send $address 7000
		crun delete --force c1
		nothing_remains'
}

@test "a container that ends by itself, or is killed, leaves nothing when it is deleted" {
	on 1 'start c1 "$(on_network blue) | .process.args = [\"true\"]"
		start c2 "$(on_network blue)"
		kill -9 $(pid_of c2)
		for name in c1 c2; do
			eventually runc delete $name
		done
		nothing_remains
		run_once c3 "$(on_network blue) | $(shell "cat /sys/class/net/eth0/operstate")"
		nothing_remains'
}

@test "a list without vqp gives the address, and vqp-hook the namespace" {
	on 1 'operator "{\"networks\": [{\"subnet\": \"10.66.0.0/16\", \"tenant\": 7}], \"annotations\": {\"networks\": [\"plain\"]}}"
		start c1 "$(on_network plain)"
		has_namespace $(address_in $(pid_of c1)) 7
		runc delete --force c1
		nothing_remains'
}

@test "a list with a static address" {
	on 1 'start c1 "$(on_network fixed) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		[ "$(address_in $(pid_of c1))" = 10.67.1.5 ]
		eventually is_served 10.67.1.5
		runc exec c1 vqpt --count=2 send 10.67.1.5 7000
		runc delete --force c1
		nothing_remains'
}

@test "at prestart, for runtimes that know no createRuntime" {
	on 1 'operator "{\"stage\": \"prestart\", \"annotations\": {\"networks\": [\"blue\"]}}"
		start c1 "$(on_network blue)"
		has_namespace $(address_in $(pid_of c1))
		runc delete --force c1
		nothing_remains'
}

@test "several at once have an address each" {
	on 1 'for i in 1 2 3 4; do
			bundle c$i "$(on_network blue)"
			launch c$i run --detach &
		done
		wait
		[ "$(namespaces | sort -u | wc -l)" = 4 ]
		for i in 1 2 3 4; do runc delete --force c$i & done
		wait
		nothing_remains'
}

# ---- what goes wrong ----

@test "an ADD that fails ends the creation with its reason, and is undone" {
	refused_with failing 'told to fail'
}

@test "a hook that is killed while plugins work leaves nothing" {
	on 1 'bundle c1 "$(on_network slow)"
		launch c1 create 2>$WORK/refusal &
		creator=$!
		eventually test -e $WORK/waits
		[ "$(remains)" ]
		kill -9 $(pidof vqp-network)
		not wait $creator
		pkill -x vqp-test-waits
		eventually nothing_remains'
}

@test "what a crash left is deleted when the container starts again" {
	on 1 'start c1 "$(on_network blue)"
		mv /var/lib/cni/results $WORK/results
		# as after a boot: runc knows of no container, /run is empty, the disk as it was
		runc delete --force c1
		mv $WORK/results /var/lib/cni/results
		address=$(jq -r ".result.ips[0].address | split(\"/\")[0]" /var/lib/cni/results/blue-c1-eth0)
		printf "c1\r\neth0" >$WORK/ipam/blue/$address
		start c1 "$(on_network blue)"
		[ "$(find $WORK/ipam/blue -name "10.*" | wc -l)" = 1 ]
		runc delete --force c1
		nothing_remains'
}

@test "an annotation that is not allowed starts no container, and loads nothing" {
	refused_with secret 'annotation io.vqp.network: secret is not among \"networks\" of \"annotations\" in /etc/vqp/runtime.json'
	on 1 'bundle c1 "$(on_network secret)"
		not traced $WORK/trace vqp-runtime create --bundle $WORK/c1 c1 </dev/null
		grep -q "execve(\"$BIN/vqp-network\"" $WORK/trace
		not grep libvqpcni $WORK/trace'
	on 1 'operator; bundle c1 "$(on_network blue)"; not launch c1 create 2>&1 | grep "blue is not among"'
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
	on 1 'bundle c1 "$(on_network blue) | .linux.namespaces |= map(select(.type != \"network\"))"
		not launch c1 create 2>&1 | grep "uses the host.s network"
		ip netns add n1
		ip -n n1 link add eth0 type dummy
		bundle c2 "$(on_network blue) | $(netns n1)"
		not launch c2 create 2>&1 | grep "the container has a network, its eth0"
		ip -n n1 link show eth0
		nothing_remains'
}

@test "a second container in a network namespace does not take the first one's network away" {
	on 1 'start c1 "$(on_network blue)"
		address=$(address_in $(pid_of c1))
		bundle c2 "$(on_network blue) | (.linux.namespaces[] | select(.type == \"network\")).path = \"/proc/$(pid_of c1)/ns/net\""
		not launch c2 create 2>&1 | grep "the container has a network"
		[ "$(address_in $(pid_of c1))" = $address ]
		has_namespace $address'
}

@test "vqp-hook alone says what is missing" {
	on 1 'bundle c1 "$(on_network blue)"
		VQP_RUNTIME_REAL=true vqp-runtime create --bundle $WORK/c1 c1
		jq "del(.hooks.createRuntime[0])" $WORK/c1/config.json >$WORK/c1/changed
		mv $WORK/c1/changed $WORK/c1/config.json
		not runc create --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "nobody has attached the container"
		nothing_remains'
}

# ---- who pays for it ----

@test "an ordinary start runs neither hook nor library for networks; one with a network does" {
	on 1 'bundle c1 "$(address 10.60.0.1) | $(shell true)"
		traced $WORK/trace vqp-runtime run --bundle $WORK/c1 c1 </dev/null
		grep -q "execve(\"$BIN/vqp-hook\"" $WORK/trace
		not grep -e vqp-network -e libvqpcni $WORK/trace
		bundle c2 "$(on_network blue) | $(shell true)"
		traced $WORK/trace vqp-runtime run --bundle $WORK/c2 c2 </dev/null
		grep -q "execve(\"$BIN/vqp-network\"" $WORK/trace
		grep -q "openat(.*libvqpcni.so.* = [0-9]" $WORK/trace'
}

@test "plugins have three capabilities and the system's PATH, and hold no more than the list gives" {
	on 1 'start c1 "$(on_network asking)"
		grep -q "^CapEff:.0000000000203000" $WORK/asked.status
		grep -q "^CapBnd:.0000000000203000" $WORK/asked.status
		grep -qx PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $WORK/asked.env
		[ "$(cut -d= -f1 $WORK/asked.env | grep -vxE "CNI_[A-Z]*|PATH|PWD|SHLVL|_")" = "" ]'
}

# ---- podman and Docker ----

@test "podman: a container that is annotated gets its list under --network none" {
	on 1 'trap "podman_remove x1" EXIT
		podman run --detach --runtime $BIN/vqp-runtime --network none --annotation io.vqp.network=blue --name x1 \
			--rootfs $rootfs vqpt echo-server 7000
		address=$(address_in $(podman_pid x1))
		[ "$(namespaces)" = "1 $address" ]
		podman_exec x1 vqpt --count=2 send $address 7000
		podman_remove x1
		trap - EXIT
		eventually nothing_remains'
}

@test "Docker: containers of a runtime with a network get it under --network none; stop, kill -9, restart" {
	NODE_TIMEOUT=300 on 1 'docker_network blue
		daemons
		docker image inspect vqp-test >/dev/null 2>&1 || tar -C "$rootfs" -c . | docker import - vqp-test
		trap "docker rm --force x1 x2 >/dev/null 2>&1; daemons_end" EXIT
		before=$(remains)
		docker_start_on blue x1 vqpt echo-server 7000
		address=$(address_in $(docker_pid x1))
		[[ $address == 10.66.1.* ]]
		has_namespace $address
		docker_start_on blue x2 sleep 1000
		docker exec x2 vqpt --count=20 send $address 7000
		docker restart --time 1 x1
		again=$(address_in $(docker_pid x1))
		docker exec x2 vqpt --count=20 send $again 7000
		docker_stop x1
		kill -9 $(docker_pid x2)
		same() { [ "$(remains)" = "$before" ]; }
		eventually same
		docker wait x2
		docker start x2
		has_namespace $(address_in $(docker_pid x2))
		docker_remove x2
		eventually same'
}
