# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/systemd.bats does on a node whose init is systemd: vqp is installed there as `make install` leaves it, and
# its units, Docker's and containerd's run what is run. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"
# what was installed, and not what the other suites take from the source tree
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
BIN=/usr/local/bin
rootfs=/var/lib/vqp-test/rootfs

# UNIT: it runs, and has never been started anew by systemd
runs_steadily() { [ "$(systemctl show --property NRestarts,ActiveState "$1" | sort | xargs)" = 'ActiveState=active NRestarts=0' ]; }

# The node's own daemon answers, and has a meta server.
is_ready() { vqpctl status --json | jq -e .vqpd.ok && vqpctl meta list --json | grep -q node_gid; }

# Once a node, with what stands in / as installed: a root file system for containers, and the units, enabled.
installed() {
	local applet

	depmod
	mkdir -p "$rootfs/bin"
	cp /bin/busybox /vqp/build/bin/vqpt "$rootfs/bin/"
	for applet in sh sleep true; do
		ln -sf busybox "$rootfs/bin/$applet"
	done
	echo 'VQPD_OPTIONS="--meta 10.77.0.1"' >/etc/default/vqpd
	systemctl daemon-reload
	mkdir -p /etc/credstore
	(umask 077; echo "the key of the meta server of these nodes" >/etc/credstore/vqp-meta.key)
	[ "$number" != 1 ] || systemctl enable --now vqp-metad
	systemctl enable --now vqpd
	within 60 is_ready
}

# The directory of keys is root's alone, as systemd's package makes it: the unit's user sees nothing of it.
metad_without_key() {
	local options=/etc/default/vqp-metad status

	trap 'mv /etc/vqp-meta.key /etc/credstore/; rm -f /etc/default/vqp-metad; systemctl reset-failed vqp-metad
		systemctl restart vqp-metad' EXIT
	chmod 700 /etc/credstore
	mv /etc/credstore/vqp-meta.key /etc/
	! systemctl restart vqp-metad || return 1
	status=$(systemctl show --property ExecMainStatus --value vqp-metad)
	[ "$status" = 78 ]
	journalctl --boot --unit vqp-metad --grep "without a key, whoever reaches this server" --no-pager --quiet | grep .
	echo 'VQP_METAD_OPTIONS="--listen :7471"' >"$options"
	systemctl reset-failed vqp-metad
	systemctl restart vqp-metad
	runs_steadily vqp-metad
}

# Docker and podman know the runtime, and each has a subnet of this node.
engines() {
	docker_set_up
	vqpctl configure docker
	systemctl restart docker
	eventually docker_knows_vqp
	tar -C "$rootfs" -c . | docker import - vqp-test
	vqpctl configure podman
	podman_set_up
}

# as a distribution with systemd has it, where other nodes' is cgroupfs
podman() { command podman --cgroup-manager systemd "$@"; }

# NAME: the systemd unit that a container of Docker is in
docker_unit() { echo "docker-$(docker inspect --format '{{.Id}}' "$1").scope"; }

# NAME: that container of Docker runs, with a VQP namespace in which somebody listens
is_back() {
	[ "$(docker inspect --format '{{.State.Running}}' "$1")" = true ] && is_served "$(docker_address "$1")"
}

ask_vqpd() { socat -t60 - UNIX-CONNECT:/run/vqp/vqpd.sock <<<'{"op":"list"}'; }

# What vqp-metad tells is an information, and what it refuses a warning.
has_levels() {
	# Debian 13's fails if the connection is reset behind the answer.
	{ socat -t10 - TCP:10.77.0.1:7471 <<<nonsense || true; } | grep EKEYREJECTED
	eventually eval 'journalctl --boot --unit vqp-metad --priority info..info --no-pager --quiet | grep "vqp-metad: table of"'
	eventually eval 'journalctl --boot --unit vqp-metad --priority warning --no-pager --quiet | grep "vqp-metad: refused a client"'
	not eval 'journalctl --boot --unit vqp-metad --priority warning --no-pager --quiet | grep "vqp-metad: table of"'
}

# UNIT COMMAND...: when systemd says that it has started, the command gets its answer; those that are ordered after it
# find it
serves_when_started() {
	local try

	for try in 1 2 3 4 5; do
		systemctl restart "$1"
		"${@:2}" | jq -e .ok
	done
}

# However often vqpd ends, it is started anew, unless its command line is wrong.
is_started_anew() {
	local try pid

	for try in 1 2 3 4 5 6 7; do
		pid=$(systemctl show --property MainPID --value vqpd)
		kill -KILL "$pid"
		eventually eval '[ "$(systemctl show --property MainPID --value vqpd)" != "$pid" ] && systemctl is-active vqpd'
	done
	cp /etc/default/vqpd /run/vqpd.options
	trap 'cp /run/vqpd.options /etc/default/vqpd; systemctl restart vqpd' EXIT
	echo 'VQPD_OPTIONS="--bogus"' >/etc/default/vqpd
	not systemctl restart vqpd
	[ "$(systemctl show --property NRestarts,ActiveState vqpd | sort | xargs)" = 'ActiveState=failed NRestarts=0' ]
}

# Whoever asks while vqpd is away waits for the next one, longer than a container's start would try again: systemd keeps
# its socket, when it is killed as well as when it is restarted.
requests_wait() {
	mkdir -p /run/systemd/system/vqpd.service.d
	printf '[Service]\nRestartSec=15s\n' >/run/systemd/system/vqpd.service.d/slow.conf
	trap 'rm -r /run/systemd/system/vqpd.service.d; systemctl daemon-reload; systemctl reset-failed vqpd; systemctl start vqpd' EXIT
	systemctl daemon-reload
	systemctl kill --signal KILL vqpd
	eventually eval '[ "$(systemctl show --property SubState --value vqpd)" = auto-restart ]'
	ask_vqpd | jq -e .ok
	systemctl restart vqpd
	ask_vqpd | jq -e .ok
	# A name that an administrator removes is made anew.
	rm /run/vqp/vqpd.sock
	systemctl restart vqpd
	ask_vqpd | jq -e .ok
	# One that is stopped is not running, and says so at once.
	systemctl stop vqpd
	not ask_vqpd
	vqpctl status 2>&1 | grep "vqpd is not running: systemctl start vqpd"
}

# Names of meta servers that do not resolve, or not while the node starts: its name server never answers.
slow_names() {
	echo 'VQPD_OPTIONS="--meta nobody.invalid --meta slow.example --meta 10.77.0.1"' >/etc/default/vqpd
	cp /etc/resolv.conf /etc/resolv.conf.before || : >/etc/resolv.conf.before
	printf '%s\n' 'nameserver 10.77.0.2' 'options timeout:30 attempts:5' >/etc/resolv.conf
}

no_slow_names() {
	[ -e /etc/resolv.conf.before ] || return 0
	echo 'VQPD_OPTIONS="--meta 10.77.0.1"' >/etc/default/vqpd
	mv /etc/resolv.conf.before /etc/resolv.conf
	systemctl restart vqpd
}

silent_name_server() {
	setsid socat -u UDP-RECV:53 - >/dev/null 2>&1 </dev/null &
	echo $! >/run/silent-name-server.pid
}

no_silent_name_server() {
	kill "$(cat /run/silent-name-server.pid)"
	rm /run/silent-name-server.pid
}

confined_by_apparmor() {
	docker run --detach --device vqp.io/device=vqp --name x1 vqp-test vqpt echo-server 7000
	[ "$(cat /proc/"$(docker_pid x1)"/attr/current)" = "docker-default (enforce)" ]
	eventually is_served "$(docker_address x1)"
	docker_exec x1 vqpt --count=5 send "$(docker_address x1)" 7000
	docker_remove x1
	eventually has_namespaces 0
}

device_survives_unit_changes() {
	docker_start x1 sleep 1000
	systemctl set-property --runtime "$(docker_unit x1)" CPUWeight=50 TasksMax=100
	docker update --cpus 0.5 x1
	docker exec --detach x1 vqpt echo-server 7000
	eventually is_served "$(docker_address x1)"
	docker_exec x1 vqpt --count=2 send "$(docker_address x1)" 7000
	docker_remove x1
}

containers_survive_vqpd() {
	docker_start x1 vqpt echo-server 7000
	address=$(docker_address x1)
	eventually is_served "$address"
	systemctl kill --signal KILL vqpd
	docker_exec x1 vqpt --count=2 send "$address" 7000
	eventually is_ready
	docker_exec x1 vqpt --count=2 send "$address" 7000
	docker_remove x1
	eventually has_namespaces 0
	systemctl reset-failed vqpd
}

# ---- upgrades ----

# What `make install` takes, at a place where it may write as make does: $1.
source_tree() {
	mkdir -p "$1/build/lib"
	cp -r /vqp/{node,cni-plugin,oci-hook,libcni} "$1/"
	cp -r /vqp/build/bin "$1/build/"
	cp /vqp/build/lib/libvqpcni.so "$1/build/lib/"
}

# SCRIPT: until $WORK/upgrading has gone, install vqp by that script, and have systemd start what is new. How often is in
# $WORK/upgrades.
upgrades() {
	local count=0

	while [ -e "$WORK/upgrading" ]; do
		sh -e "$1" >/dev/null
		systemctl daemon-reload
		systemctl restart vqpd
		echo $((++count)) >"$WORK/upgrades"
	done
}

# ...by_WAY NUMBER: a container runs that opens the device and makes a VQP, and goes.

runs_by_runc() {
	bundle "u$1" "$(address "10.60.9.$1") | .process.args = [\"vqpt\", \"hold\", \"vqps\"]" &&
		VQP_RUNTIME_REAL=runc vqp-runtime run --bundle "$WORK/u$1" "u$1" </dev/null &&
		rm -r "${WORK:?}/u$1"
}

runs_by_docker() { docker run --rm --runtime=vqp vqp-test vqpt hold vqps; }

# The engine that asks the plugins is cni-exec.
runs_by_cni() {
	ip netns add "u$1" && by_cni add "$1" >/dev/null &&
		ip netns exec "u$1" "$rootfs/bin/vqpt" hold vqps &&
		by_cni del "$1" && ip netns del "u$1"
}

by_cni() {
	CNI_PATH=/opt/cni/bin:/usr/lib/cni /vqp/tests/programs/cni-exec "$1" "$WORK/up.conflist" "cni-u$2" \
		"/run/netns/u$2" eth0
}

# COUNT SCRIPT: so many containers run, one after the other, while vqp is installed by that script time and again. All do,
# and nothing of them is left, nor of what was installed.
run_beside_upgrades() {
	local i way failed=0 upgrader ways=(runc cni runc cni docker)

	template "$rootfs"
	trap 'mv "$WORK/policy.json" /etc/vqp/' EXIT
	cp /etc/vqp/policy.json "$WORK/"
	policy_default
	network up 9 >/dev/null
	live_objects >"$WORK/objects"
	touch "$WORK/upgrading"
	upgrades "$2" &
	upgrader=$!
	for ((i = 1; i <= $1; i++)); do
		way=${ways[i % ${#ways[@]}]}
		{ "runs_by_$way" $((i % 250)) >"$WORK/said" 2>&1 && grep -q 'made=1 ' "$WORK/said"; } ||
			{ echo "number $i, by $way, beside upgrade $(cat "$WORK/upgrades"): $(<"$WORK/said")"; ((++failed)); }
	done
	rm "$WORK/upgrading"
	wait "$upgrader"
	echo "$(($1 - failed)) of $1 ran, beside $(<"$WORK/upgrades") upgrades"
	within 60 is_ready
	eventually has_namespaces 0
	eventually live_objects_are "$WORK/objects"
	[ -z "$(find /usr/local /opt/cni -name '.*.new')" ]
	((!failed))
}
