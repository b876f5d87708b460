#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:300
# Every way in which containers are started here: runc, crun, Docker, podman, and containerd by ctr with
# CNI. What goes wrong with them is in platforms-faults.bats; what is done on the nodes in platforms.bash.
# On one kernel, and on more in `make test-containers`: little of it is the kernel's.

bats_require_minimum_version 1.5.0
load ../lib/testbed

setup_file() {
	vqp_up
	NODE_TIMEOUT=300 on_each bash -c 'source /vqp/tests/lib/platforms.bash; engines'
}

# A test that succeeds has taken away what it made: to look for containers of each platform takes a while.
teardown() {
	on_each bash -c "source /vqp/tests/lib/platforms.bash; policy_default
		[ '${BATS_TEST_COMPLETED-}' ] || platforms_cleanup
		eventually has_namespaces 0"
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/lib/platforms.bash; daemons_end'
}

helpers=containers/platforms.bash

# PLATFORM: a container reaches one on the other node, and that itself from a second process. Of the one that is
# stopped nothing is left, nor of the one that is killed.
lives_and_ends() {
	local address starter

	on_each bash -c 'source /vqp/tests/lib/platforms.bash; live_objects >/run/vqp-test-before'
	on 1 "$1_start x1 vqpt --arena --bytes=20000 --depth=8 echo-server 7000" &
	starter=$!
	on 2 "$1_start x2 sleep 1000"
	wait "$starter"
	address=$(on 1 "address=\$($1_address x1); eventually is_served \$address; echo \$address")
	on 2 "$1_exec x2 vqpt --arena --bytes=20000 --depth=8 --count=20 send $address 7000"
	on 1 "$1_exec x1 vqpt --count=5 send $address 7000
		kill -9 \$($1_pid x1)
		eventually live_objects_are /run/vqp-test-before
		has_namespaces 0
		$1_remove x1" &
	starter=$!
	on 2 "$1_stop x2
		eventually live_objects_are /run/vqp-test-before
		has_namespaces 0"
	wait "$starter"
}

@test "runc: start, transfer, exec, stop, kill -9" { lives_and_ends runc; }
@test "crun: start, transfer, exec, stop, kill -9" { lives_and_ends crun; }
@test "Docker: start, transfer, exec, stop, kill -9" { lives_and_ends docker; }
@test "podman: start, transfer, exec, stop, kill -9" { lives_and_ends podman; }
@test "containerd: start, transfer, exec, stop, kill -9" { lives_and_ends containerd; }

@test "vqpctl policy explain knows the containers of each" {
	on 1 'for platform in runc crun docker podman containerd; do explained $platform; done
		jq -e ".network == \"net\"" "$WORK/x1.said"'
}

@test "cgroup v1: runc and crun grant the device, and no more" {
	on 1 cgroup_v1_grants_the_device
}

# ---- what a container can choose ----

@test "Docker: labels and environment of a container choose nothing" {
	on 1 'docker run --detach --runtime=vqp --name x1 --label io.vqp.tenant=2 --label io.vqp.address=10.60.0.9 \
			--env VQP_TENANT=2 --env VQP_RUNTIME_REAL=/bin/false --env io.vqp.tenant=2 vqp-test sleep 1000
		has_namespace $(docker_address x1) 1
		docker_remove x1'
}

@test "Docker: the tenant is that of the network, which the container cannot choose" {
	on 1 docker_tenant_of_the_network
}

# Docker from version 28 on makes the network when all hooks that run outside of the container have run.
@test "Docker: the CDI device brings the namespace before the process starts, with any runtime" {
	local address
	on 1 docker_knows_cdi || skip "Docker before 25 has no CDI"
	on 1 'docker run --detach --device vqp.io/device=vqp --name x1 vqp-test vqpt echo-server 7000 >/dev/null
		has_namespace $(docker_address x1)' &
	on 2 'docker run --detach --device vqp.io/device=vqp --name x2 vqp-test sleep 1000 >/dev/null'
	wait $!
	address=$(on 1 'docker_address x1')
	on 2 "docker_exec x2 vqpt --count=5 send $address 7000
		docker_remove x2"
	# nobody waits for a start any more
	on 1 'eventually gone vqp-hook
		docker_remove x1
		eventually has_namespaces 0'
}

@test "Docker: a container that asks for the CDI device does not start without a namespace" {
	on 1 docker_knows_cdi || skip "Docker before 25 has no CDI"
	run on 1 'docker run --rm --device vqp.io/device=vqp --network none vqp-test echo started'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output != *started* && $output == *"network namespace has no address"* ]]
	run on 1 'docker run --rm --device vqp.io/device=vqp --network host vqp-test echo started'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output != *started* && $output == *"uses the host's network"* ]]
	on 1 'eventually gone vqp-hook'
}

@test "podman: the CDI device brings the namespace, with any runtime" {
	on 1 podman_cdi
}

@test "podman: an annotation brings the namespace by hooks.d, and --device the device" {
	on 1 podman_hooks_d
}

# podman makes the network between create and start then, as Docker does from version 28 on.
@test "podman: a container with a user namespace has its VQP namespace when it starts" {
	on 1 podman_user_namespace
}

@test "podman: hostile annotations start no container" {
	run on 1 'policy "{\"subnet\": \"any\", \"tenant\": 1, \"may_choose\": {\"tenants\": [2]}}"
		podman run --rm --runtime vqp --annotation io.vqp.tenant=9 --network vqp-test --rootfs $rootfs true'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"rule 1 of /etc/vqp/policy.json (line 3): tenant 9"* ]]
}

@test "rootless podman says that only root can" {
	run on 1 'id guest >/dev/null 2>&1 || useradd --create-home --key SUB_UID_COUNT=0 --key SUB_GID_COUNT=0 guest
		cp -r $rootfs /home/guest/rootfs && chown -R guest /home/guest/rootfs
		su guest -c "cd; podman --cgroup-manager cgroupfs run --rm --network none --runtime $BIN/vqp-runtime \
			--rootfs /home/guest/rootfs true"'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"rootless containers can have no VQP namespace"* ]]
}

@test "containerd: a container that is started before its network gets its namespace by CNI" {
	on 1 'containerd_start x1 vqpt echo-server 7000
		[[ $(vqpctl ns list --json | jq -r ".[] | select(.tenant == 1) | .name") == default-x1/eth0/* ]]
		containerd_remove x1'
}

# ---- vqpctl configure ----

@test "configure: Docker has been told of the runtime by a reload, and its file comes back" {
	on 1 configure_docker_and_back
}

@test "configure: containerd takes the runtime beside all that it had" {
	on 1 configure_containerd_beside_the_rest
}

@test "configure: what was there before vqp is kept, as private as it was, until it is back" {
	on 1 configure_keeps_what_was_there
}

@test "configure: containerd tells vqp-runtime what it tells runc" {
	on 1 configure_containerd_as_runc
}

@test "configure: what podman was told of is gone when it is removed" {
	on 1 configure_podman_and_back
}

@test "configure: what CRI-O needs, too, stays when podman needs it no more" {
	on 1 configure_crio_needs_podmans
}

@test "configure: a file that is refused stays as it is, and so do all others" {
	on 1 configure_refuses_a_broken_file
}

@test "configure: owner, mode and links of a file stay" {
	on 1 configure_keeps_owner_and_links
}
