#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,systemd,virtual,long,budget:480
# Nodes as their operators have them: systemd is init, vqp is what `make install` puts there, its units start the
# daemons, Docker's and containerd's are the packages' own, and cgroups are systemd's business. What is done on the
# nodes is in systemd.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

# What `make install` puts on a machine goes to the directory $1.
install_to() {
	local part release

	for part in node cni-plugin libcni oci-hook; do
		make --no-print-directory -s -C "$tests/../$part" O="$tests/../build" DESTDIR="$1" install
	done
	release=$(node 1 uname -r)
	install -D -m 0644 -t "$1/lib/modules/$release/updates" "$tests/../build/kmod-$release/vqp.ko"
}

setup_file() {
	local tree=$BATS_FILE_TMPDIR/tree number

	install_to "$tree" 3>&-
	for number in "${nodes[@]}"; do
		tar -C "$tree" -c . | node "$number" tar -C / -x --keep-directory-symlink --no-same-owner
	done
	on_each bash -c 'source /vqp/tests/node/systemd.bash; installed; engines'
}

# What the test with slow names sets up goes also if that fails.
teardown() {
	[ -n "${has_slow_names-}" ] || return 0
	on 1 no_slow_names
	on 2 no_silent_name_server
}

teardown_file() {
	# the last test leaves a node that has nothing
	on_each bash -c 'source /vqp/tests/node/systemd.bash
		type -P vqpd >/dev/null || exit 0
		docker ps --all --quiet | xargs --no-run-if-empty docker rm --force >/dev/null
		podman rm --all --force --time 0
		systemctl stop docker.socket docker containerd
		systemctl disable --now vqpd vqp-metad'
}

helpers=node/systemd.bash

# PLATFORM: a container on node 1 serves one on node 2, and both still may when systemd has read its units anew, and
# has set the device rules of all cgroups again.
outlives_daemon_reload() {
	local address

	on 1 "$1_start x1 vqpt echo-server 7000"
	on 2 "$1_start x2 sleep 1000"
	address=$(on 1 "$1_address x1")
	on 1 "eventually is_served $address"
	on 2 "$1_exec x2 vqpt --count=5 send $address 7000"
	on_each systemctl daemon-reload
	on 2 "$1_exec x2 vqpt --count=5 send $address 7000"
	on 1 "$1_exec x1 vqpt --count=5 send $address 7000"
	on 1 "$1_remove x1; eventually has_namespaces 0"
	on 2 "$1_remove x2; eventually has_namespaces 0"
}

@test "the units start the daemons, and their sandboxes leave them what they need" {
	on_each bash -c 'source /vqp/tests/node/systemd.bash
		runs_steadily vqpd
		systemd-analyze verify --man=no vqpd.service vqp-metad.service
		vqpctl selftest --json | jq -e ".checks | length > 0"'
	on 1 'runs_steadily vqp-metad'
	run on 1 'journalctl --boot --unit vqpd --unit vqp-metad --grep "not permitted|denied|failed" --no-pager --quiet'
	echo "$output"
	[ -z "$output" ]
}

@test "the journal has the levels of lines" {
	on 1 'systemctl restart vqp-metad; has_levels'
}

@test "the units have started when the daemons serve" {
	on 1 'serves_when_started vqpd ask_vqpd; serves_when_started vqp-metad vqp-metad --ask 10.77.0.1'
}

@test "without a key vqp-metad starts where it is told to listen, and not otherwise" {
	on 1 metad_without_key
	on_each bash -c 'source /vqp/tests/node/systemd.bash; within 60 is_ready'
}

@test "vqpd is started anew however often it ends, but not with a wrong command line" {
	on 2 is_started_anew
	on 2 'eventually is_ready; systemctl reset-failed vqpd'
}

@test "requests wait while vqpd is started anew" {
	on 2 requests_wait
	on 2 'eventually is_ready'
}

@test "Docker with systemd's cgroups: containers keep the device when units are read anew" {
	on 1 '[ "$(docker info --format "{{.CgroupDriver}}")" = systemd ]'
	outlives_daemon_reload docker
}

@test "podman with systemd's cgroups: containers keep the device when units are read anew" {
	outlives_daemon_reload podman
}

@test "Docker: a container confined by AppArmor has its namespace by the CDI device" {
	on 1 docker_knows_cdi || skip "Docker before 25 has no CDI"
	on 1 confined_by_apparmor
}

@test "a container keeps the device when limits of its unit are changed" {
	on 1 device_survives_unit_changes
}

@test "vqpd is started anew when it is killed, and its containers do not notice" {
	on 1 containers_survive_vqpd
}

# The commands by which `make install` puts what it finds in the source tree at $1 into place: its own words, as a node has
# no make.
installing() {
	local part

	for part in node cni-plugin libcni oci-hook; do
		echo "cd $tests/../$part"
		make --no-print-directory -n -o all -C "$tests/../$part" O="$tests/../build" install
	done | sed "s|$tests/\.\.|$1|g; s|$(realpath "$tests/..")|$1|g"
}

# STARTS says how many.
@test "every container that starts runs while vqp is installed anew, time and again, and vqpd is started anew" {
	local starts=${STARTS-25} tree=/var/tmp/vqp-tree

	installing $tree | node 1 tee /var/tmp/vqp-install >/dev/null
	NODE_TIMEOUT=$((200 + 20 * starts)) on 1 "source_tree $tree; run_beside_upgrades $starts /var/tmp/vqp-install"
}

@test "after a reboot all is there again, containers that Docker restarts, too, although the name server is silent" {
	local address

	has_slow_names=yes

	on 2 silent_name_server
	on 1 slow_names
	on 1 'docker run --detach --restart always --runtime=vqp --name x1 vqp-test vqpt echo-server 7000
		eventually is_served "$(docker_address x1)"
		sync'
	on 2 'docker_start x2 sleep 1000'
	"$testbed" reboot 1
	on 1 'within 60 is_ready; within 60 is_back x1; runs_steadily vqpd; runs_steadily vqp-metad
		eventually eval "vqpctl status | grep \"^meta  .*nobody.invalid, down: its name\""'
	address=$(on 1 'docker_address x1')
	on 2 "eventually docker_exec x2 vqpt --count=5 send $address 7000
		docker_remove x2"
	on 1 'docker_remove x1; eventually has_namespaces 0'
}

@test "a node whose kernel dies is dead to the testbed, although its process stays" {
	run "$testbed" exec --timeout 20 2 sh -c 'echo c >/proc/sysrq-trigger; sleep 300'
	[ "$status" -eq 125 ]
	[[ $output == *"sysrq triggered crash"* ]]
	run "$testbed" status
	[ "$status" -eq 1 ]
	"$testbed" fault crash 2 off
	[ "$(node 2 hostname)" = node2 ]
}
