# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/platforms-faults.bats does on a node. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source /vqp/tests/lib/platforms.bash

# Docker's daemons, a container and its shim are killed, and the daemons start it anew.
docker_starts_anew() {
	local old
	docker run --detach --restart=always --runtime=vqp --name x1 vqp-test vqpt echo-server 7000
	old=$(docker_pid x1)
	# containerd is gone first, since it ends the container of a shim that dies
	pkill -9 -x dockerd
	pkill -9 -x containerd
	eventually gone dockerd
	eventually gone containerd
	pkill -9 -f "^/usr/bin/containerd-shim-runc-v2"
	kill -9 "$old"
	daemons
	eventually is_anew x1 "$old"
	has_namespaces 1
	docker_exec x1 vqpt --count=2 send "$(docker_address x1)" 7000
	docker_remove x1
}

# NAME PID: the container runs, not as that process, and has its VQP namespace.
is_anew() {
	local new
	new=$(docker_pid "$1") && ((new > 0 && new != $2)) && has_namespace "$(docker_address "$1")"
}
