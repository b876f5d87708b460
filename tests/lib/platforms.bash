# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/platforms*.bats do on a node: the same few things with containers of
# each platform: runc, crun, docker, podman, containerd. Sourced there.
#
# PLATFORM_start NAME COMMAND...   in the background, with vqp-runtime
# PLATFORM_exec NAME COMMAND...    in that container
# PLATFORM_stop NAME               as its operator does, and it is forgotten
# PLATFORM_remove NAME             the same in whatever state it is
# PLATFORM_pid NAME                of its first process
# PLATFORM_address NAME            of its VQP namespace
#
# Addresses of node N are 10.60.N.x (runc, crun: annotated), 10.71.N.x (Docker's bridge), 10.72.N.x
# (a network of podman's) and 10.66.N.x (CNI). `all PLATFORM` names the containers there are.

# shellcheck source=tests/lib/containers.bash
source "${BASH_SOURCE[0]%/*}/containers.bash"

number=$(hostname)
number=${number#node}
rootfs=$WORK/rootfs

# DAEMON TRY...: start it unless it runs, and wait until TRY succeeds
daemon() {
	pidof "$1" >/dev/null || setsid -f "${@:1:$#-1}" </dev/null >>"$WORK/$1.log" 2>&1
	SECONDS=0
	until eval "${*: -1}" >/dev/null 2>&1; do
		((SECONDS < 100)) || { tail -n 30 "$WORK/$1.log" >&2; return 1; }
		sleep 0.5
	done
}

daemons() {
	daemon containerd 'ctr version'
	daemon dockerd --containerd=/run/containerd/containerd.sock 'docker info'
}

daemons_end() {
	local name

	for name in dockerd containerd; do
		pkill -x "$name" || true
		eventually gone "$name"
	done
}

docker_knows_vqp() { docker info --format '{{json .Runtimes}}' | jq -e .vqp; }

# Docker has a subnet of this node, and CDI, which before 28 is off.
docker_set_up() {
	mkdir -p /etc/docker
	[ -s /etc/docker/daemon.json ] ||
		echo "{\"bip\": \"10.71.$number.1/24\", \"features\": {\"cdi\": true}}" >/etc/docker/daemon.json
}

# podman has a network in a subnet of this node. Without names: what gives them is another package, which netavark misses.
podman_set_up() {
	podman network exists vqp-test || podman network create --disable-dns --subnet "10.72.$number.0/24" vqp-test
}

# Once a node, as an operator would: engines know the runtime, each has a subnet of this node.
engines() {
	prepare
	mkdir -p /etc/cni/net.d /opt/cni/bin
	docker_set_up
	vqpctl configure podman
	ln -sf /usr/lib/cni/* "$BIN/cni/vqp" /opt/cni/bin/
	jq '.cniVersion = "0.4.0"' "$(network "net" "$number")" >/etc/cni/net.d/10-net.conflist
	daemons
	vqpctl configure docker
	pkill -HUP -x dockerd
	eventually docker_knows_vqp
	docker image inspect vqp-test >/dev/null 2>&1 || tar -C "$rootfs" -c . | docker import - vqp-test
	podman_set_up
}

# ---- runc and crun: the same, with RUNTIME before ----

oci_start() {
	local runtime=$1 name=$2 host

	shift 2
	host=$(flock "$WORK" sh -c 'n=$(cat "$1" 2>/dev/null || echo 0); n=$((n % 250 + 1)); echo $n | tee "$1"' sh /run/vqp-test-host)
	bundle "$name" "$(address "10.60.$number.$host") | .process.args = $(printf '%s\n' "$@" | jq -Rnc '[inputs]')"
	VQP_RUNTIME_REAL=$runtime launch "$name" run --detach
	echo "10.60.$number.$host" >"$WORK/$name/address"
}

oci_exec() { "$1" exec "${@:2}"; }
oci_stop() {
	"$1" kill "$2" KILL
	eventually "$1" delete "$2"
}
oci_remove() { "$1" delete --force "$2"; }
oci_pid() { pid_of "$2"; }
oci_address() { cat "$WORK/$2/address"; }
oci_all() { "$1" list -q; }

for runtime in runc crun; do
	for verb in start exec stop remove pid address all; do
		eval "${runtime}_$verb() { oci_$verb $runtime \"\$@\"; }"
	done
done

# ---- Docker ----

docker_start() { docker run --detach --runtime=vqp --name "$1" vqp-test "${@:2}" >/dev/null; }
docker_exec() { docker exec "$@"; }
docker_stop() {
	docker stop --time 1 "$1" >/dev/null
	docker rm "$1" >/dev/null
}
docker_remove() { docker rm --force "$1" >/dev/null; }
docker_pid() { docker inspect --format '{{.State.Pid}}' "$1"; }
docker_address() { docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1"; }
# Docker up to 24 knows no CDI, nor where its specifications are
docker_knows_cdi() { docker info --format '{{json .CDISpecDirs}}' 2>/dev/null | grep -q /etc/cdi; }
docker_all() { docker ps --all --format '{{.Names}}'; }

# ---- podman ----

podman_start() {
	podman run --detach --runtime vqp --network vqp-test --name "$1" --rootfs "$rootfs" "${@:2}" >/dev/null
}
podman_exec() { podman exec "$@"; }
podman_stop() {
	podman stop --time 1 "$1" >/dev/null
	podman rm "$1" >/dev/null
}
podman_remove() { podman rm --force --time 0 "$1" >/dev/null; }
podman_pid() { podman inspect --format '{{.State.Pid}}' "$1"; }
podman_address() { podman inspect --format '{{(index .NetworkSettings.Networks "vqp-test").IPAddress}}' "$1"; }
podman_all() { podman ps --all --format '{{.Names}}'; }

# ---- containerd ----

containerd_start() {
	ctr run --detach --cni --runc-binary "$BIN/vqp-runtime" --rootfs "$rootfs" "$1" "/bin/$2" "${@:3}"
}
containerd_exec() { ctr task exec --exec-id "x$RANDOM$RANDOM" "$1" "/bin/$2" "${@:3}"; }
containerd_stop() {
	ctr task kill --signal KILL "$1"
	eventually ctr task delete "$1"
	containerd_forget "$1"
}
# With many at once containerd refuses some, and is asked again.
containerd_end() {
	local tasks
	tasks=$(ctr task list --quiet) || return
	! grep -qxF "$1" <<<"$tasks" || ctr task delete --force "$1"
}
containerd_remove() {
	within 120 containerd_end "$1"
	containerd_forget "$1"
}
containerd_forget() {
	within 120 ctr container delete "$1"
	# ctr calls DEL for those alone that it waits for
	CNI_PATH=/opt/cni/bin cni-exec del /etc/cni/net.d/10-net.conflist "default-$1" "" eth0
	# what it keeps of the ADD goes with its own DEL alone
	rm -f "/var/lib/cni/results/net-default-$1-eth0"
}
containerd_pid() { ctr task list | awk -v name="$1" '$1 == name { print $2 }'; }
containerd_address() {
	vqpctl ns list --json | jq -er --arg name "default-$1/" \
		'.[] | select(.name | startswith($name)) | .gid | ltrimstr("::ffff:")'
}
containerd_all() { ctr container list --quiet; }

# ---- cgroup v1 ----

# In a mount namespace of our own: the controllers that the kernel has left for version 1.
cgroup_v1() {
	local controller

	umount --lazy /sys/fs/cgroup
	mount -t tmpfs cgroup /sys/fs/cgroup
	for controller in devices freezer cpuacct; do
		mkdir "/sys/fs/cgroup/$controller"
		mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
	done
}

# NAME: of the devices controller
container_cgroup() { sed -n 's/^[0-9]*:devices://p' "/proc/$(pid_of "$1")/cgroup"; }

device_number() { echo "$((0x$(stat -c %t /dev/vqp))):$((0x$(stat -c %T /dev/vqp)))"; }

# As in containers.bash, but for what a node remembers of others that it has talked to.
live_objects() {
	vqpctl status --json | jq -ec '[.counters[] |
		select(has("made") and (.name | IN("peer", "cache", "deferred", "held", "kernel_vqp", "link", "rc_target", "rkey", "window") | not)) | [.name, .made - .freed]]'
}

# FILE: what live_objects said then
live_objects_are() { [ "$(live_objects)" = "$(<"$1")" ]; }

# ---- Several ----

# PLATFORM COUNT VERB ARGUMENT...: the same with containers x1 to xCOUNT, all at once
at_once() {
	local i pids=() status=0

	for ((i = 1; i <= $2; i++)); do
		"$1_$3" "x$i" "${@:4}" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	return "$status"
}

# The runtime's processes, but for those that become the container's.
runtimes() {
	local name

	for name in runc crun vqp-runtime vqp-hook; do
		pgrep -x "$name" || true
	done
}

# PID: until a runtime works for it, or it has ended
await_runtime() {
	until [ "$(runtimes)" ] || ! kill -0 "$1" 2>/dev/null; do
		sleep 0.02
	done
}

# PLATFORM: kill -9 of the runtime
kill_runtime() {
	local pid

	for pid in $(runtimes); do
		kill -9 "$pid" || true
	done
	# for four minutes podman waits for what a runtime leaves that would have become the container
	[ "$1" != podman ] || pkill -9 '^runc:' || true
}

# PLATFORM: those who watch over its containers
watchers() {
	case $1 in
	docker | containerd) pgrep -f '^/usr/bin/containerd-shim-runc-v2' ;;
	podman) pgrep -x conmon ;;
	esac
}

# Whatever a test left behind.
platforms_cleanup() {
	local platform name

	for platform in runc crun docker podman containerd; do
		for name in $("${platform}_all"); do
			"${platform}_remove" "$name" || true
		done
	done
	find "$WORK" -mindepth 1 -maxdepth 1 -name 'x*' -exec rm -rf {} +
}
