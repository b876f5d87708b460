# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/networks.bats does on a node. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"

LISTS=/etc/cni/net.d
PLUGINS=/opt/cni/bin

# containers may attach themselves to all the lists that there are but "secret"
policy_default() {
	local name rules=()

	for name in blue plain fixed failing slow asking nowhere broken; do
		rules+=("{\"network\": \"$name\", \"tenant\": 1, \"by_annotation\": true}")
	done
	policy "${rules[@]}" "$anything"
}

# NAME JQ: a list that is changed by a jq filter, of the subnet 10.66.NODE.0/24
list() {
	jq ".name = \"$1\" | $2" "$(network blue "$number" '.plugins[0].ipMasq = true')" >"$LISTS/$1.conflist"
}

# NAME: a plugin that does what comes in when it adds
plugin_script() {
	{ printf '#!/bin/bash\nconf=$(cat)\n[ "$CNI_COMMAND" = ADD ] || exit 0\n'; cat; } >"$PLUGINS/$1"
	chmod +x "$PLUGINS/$1"
}

# Once a node
networks() {
	prepare
	mkdir -p "$LISTS" "$PLUGINS"
	ln -sf /usr/lib/cni/* "$BIN/cni/vqp" "$PLUGINS"
	plugin_script vqp-test-fails <<<"echo '{\"code\": 100, \"msg\": \"told to fail\"}'; exit 1"
	plugin_script vqp-test-waits <<<'touch '"$WORK"'/waits; while :; do sleep 1; done'
	plugin_script vqp-test-asks <<<'env >'"$WORK"'/asked.env; cp /proc/$$/status '"$WORK"'/asked.status
		jq -c .prevResult <<<"$conf"'
	list blue .
	list secret .
	list plain 'del(.plugins[1])'
	list fixed '.plugins[0].bridge = "brfixed" | .plugins[0].ipam = {type: "static", addresses: [{address: "10.67.'"$number"'.5/24"}]}'
	list failing '.plugins[1].type = "vqp-test-fails"'
	list slow '.plugins[1].type = "vqp-test-waits"'
	list asking '.plugins += [{type: "vqp-test-asks"}]'
	list broken '.plugins[1].type = "vqp-test-is-not-there"'
}

networks_end() {
	rm -f "$LISTS"/{blue,secret,plain,fixed,failing,slow,asking,broken}.conflist "$PLUGINS"/vqp-test-* \
		/etc/docker/daemon.json{,.before-vqp}
	policy "$anything"
}

# a jq filter for bundle()
on_network() { echo ".annotations[\"io.vqp.network\"] = \"$1\""; }

# PID: the address of eth0 in its network namespace
address_in() { nsenter -t "$1" -n ip -4 -o address show dev eth0 | awk '{ sub("/.*", "", $4); print $4 }'; }

# What there is of networks of containers
remains() {
	find /run/vqp/netns /var/lib/cni/results "$WORK/ipam" -type f ! -name 'last_reserved_ip.*' ! -name lock 2>/dev/null || true
	ip -o link show type veth
	iptables-save -t nat | grep CNI- || true
	namespaces
}

nothing_remains() {
	local left

	left=$(remains)
	[ ! "$left" ] || { echo "$left" >&2; return 1; }
}

# NAME LIST: a container that has been refused
refused_network() {
	bundle "$1" "$(on_network "$2")"
	not launch "$1" create 2>"$WORK/refusal"
	cat "$WORK/refusal"
	nothing_remains
}

# FILE COMMAND...: trace the programs it runs and the files they open
traced() {
	local status=0
	# a file for each process: in one, a call may be torn in two by another's
	strace -ff -qq -e trace=execve,openat -s 200 -o "$1" "${@:2}" || status=$?
	cat "$1".* >"$1"
	rm "$1".*
	return "$status"
}

# LIST: Docker knows the runtime vqp-LIST, whose containers have that network; they get it from no annotation
docker_network() {
	vqpctl configure docker >/dev/null
	jq --arg path "$BIN/vqp-runtime" --arg list "$1" \
		'.runtimes["vqp-\($list)"] = {path: $path, runtimeArgs: ["--vqp-network=\($list)"]}' \
		/etc/docker/daemon.json >"$WORK/daemon.json"
	cp "$WORK/daemon.json" /etc/docker/daemon.json
}

# LIST NAME COMMAND...
docker_start_on() { docker run --detach --network none --runtime="vqp-$1" --name "$2" vqp-test "${@:3}" >/dev/null; }

crun_on_a_network() {
	export VQP_RUNTIME_REAL=crun
	start c1 "$(on_network blue) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	address=$(address_in "$(pid_of c1)")
	[ "$(namespaces)" = "1 $address" ]
	eventually is_served "$address"
	crun exec c1 vqpt --count=2 send "$address" 7000
	crun delete --force c1
	nothing_remains
}

ended_or_killed_leaves_nothing() {
	start c1 "$(on_network blue) | .process.args = [\"true\"]"
	start c2 "$(on_network blue)"
	kill -9 "$(pid_of c2)"
	for name in c1 c2; do
		eventually runc delete $name
	done
	nothing_remains
	run_once c3 "$(on_network blue) | $(shell "cat /sys/class/net/eth0/operstate")"
	nothing_remains
}

list_without_vqp() {
	policy '{"network": "plain", "subnet": "10.66.0.0/16", "tenant": 7, "by_annotation": true}'
	start c1 "$(on_network plain)"
	has_namespace "$(address_in "$(pid_of c1)")" 7
	runc delete --force c1
	nothing_remains
}

static_address() {
	start c1 "$(on_network fixed) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	[ "$(address_in "$(pid_of c1)")" = 10.67.1.5 ]
	eventually is_served 10.67.1.5
	runc exec c1 vqpt --count=2 send 10.67.1.5 7000
	runc delete --force c1
	nothing_remains
}

prestart_on_a_network() {
	operator '{"stage": "prestart"}'
	start c1 "$(on_network blue)"
	has_namespace "$(address_in "$(pid_of c1)")"
	runc delete --force c1
	nothing_remains
}

several_at_once() {
	for i in 1 2 3 4; do
		bundle c$i "$(on_network blue)"
		launch c$i run --detach &
	done
	wait
	[ "$(namespaces | sort -u | wc -l)" = 4 ]
	for i in 1 2 3 4; do runc delete --force c$i & done
	wait
	nothing_remains
}

killed_hook_leaves_nothing() {
	bundle c1 "$(on_network slow)"
	launch c1 create 2>$WORK/refusal &
	creator=$!
	eventually test -e $WORK/waits
	[ "$(remains)" ]
	kill -9 "$(pidof vqp-network)"
	not wait $creator
	pkill -x vqp-test-waits
	eventually nothing_remains
}

# Of two containers of one id, under two roots, the end of one leaves the other attached.
same_id_under_two_roots() {
	local other=(--root "$WORK/other-root")
	start c1 "$(on_network blue)"
	bundle c2 "$(on_network blue) | .linux.cgroupsPath = \"/other-c1\""
	vqp-runtime "${other[@]}" run --detach --bundle $WORK/c2 --pid-file $WORK/c2.pid c1 </dev/null >$WORK/c2.out 2>&1
	[ "$(address_in "$(pid_of c1)")" != "$(address_in "$(pid_of c2)")" ]
	runc "${other[@]}" delete --force c1
	[ "$(find $WORK/ipam/blue -name "10.*")" = "$WORK/ipam/blue/$(address_in "$(pid_of c1)")" ]
	[ "$(find /run/vqp/netns -type f | wc -l)" = 1 ]
	runc delete --force c1
	nothing_remains
}

# What an earlier version has attached, by the container's id alone, is detached.
earlier_pins_count() {
	local state='{id: "c1", $pid, annotations: {"io.vqp.network": "blue"}}'
	bundle c1
	RUNTIME=runc create c1
	jq -n --argjson pid "$(pid_of c1)" "$state" | vqp-network createRuntime
	[ -e /run/vqp/netns/c1 ]
	jq -n --argjson pid 0 "$state + {bundle: \"$WORK/c1\"}" | vqp-network poststop
	runc delete --force c1
	nothing_remains
}

crash_is_cleared_at_start() {
	local address id
	start c1 "$(on_network blue)"
	id=$(basename /run/vqp/netns/c1-*)
	mv /var/lib/cni/results $WORK/results
	# as after a boot: runc knows of no container, /run is empty, the disk as it was
	runc delete --force c1
	mv $WORK/results /var/lib/cni/results
	address=$(jq -r ".result.ips[0].address | split(\"/\")[0]" "/var/lib/cni/results/blue-$id-eth0")
	printf "%s\r\neth0" "$id" >$WORK/ipam/blue/"$address"
	start c1 "$(on_network blue)"
	[ "$(find $WORK/ipam/blue -name "10.*" | wc -l)" = 1 ]
	runc delete --force c1
	nothing_remains
}

other_networks_stay() {
	bundle c1 "$(on_network blue) | .linux.namespaces |= map(select(.type != \"network\"))"
	not launch c1 create 2>&1 | grep "uses the host.s network"
	ip netns add n1
	ip -n n1 link add eth0 type dummy
	bundle c2 "$(on_network blue) | $(netns n1)"
	not launch c2 create 2>&1 | grep "the container has a network, its eth0"
	ip -n n1 link show eth0
	nothing_remains
}

second_container_takes_nothing() {
	start c1 "$(on_network blue)"
	address=$(address_in "$(pid_of c1)")
	bundle c2 "$(on_network blue) | (.linux.namespaces[] | select(.type == \"network\")).path = \"/proc/$(pid_of c1)/ns/net\""
	not launch c2 create 2>&1 | grep "the container has a network"
	[ "$(address_in "$(pid_of c1)")" = "$address" ]
	has_namespace "$address"
}

hook_alone_says_what_is_missing() {
	bundle c1 "$(on_network blue)"
	VQP_RUNTIME_REAL=true vqp-runtime create --bundle $WORK/c1 c1
	jq "del(.hooks.createRuntime[0])" $WORK/c1/config.json >$WORK/c1/changed
	mv $WORK/c1/changed $WORK/c1/config.json
	not runc create --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "nobody has attached the container"
	nothing_remains
}

library_for_networks_alone() {
	bundle c1 "$(address 10.60.0.1) | $(shell true)"
	traced $WORK/trace vqp-runtime run --bundle $WORK/c1 c1 </dev/null
	grep -q "execve(\"$BIN/vqp-hook\"" $WORK/trace
	not grep -e vqp-network -e libvqpcni $WORK/trace
	bundle c2 "$(on_network blue) | $(shell true)"
	traced $WORK/trace vqp-runtime run --bundle $WORK/c2 c2 </dev/null
	grep -q "execve(\"$BIN/vqp-network\"" $WORK/trace
	grep -q "openat(.*libvqpcni.so.* = [0-9]" $WORK/trace
}

plugins_have_three_capabilities() {
	start c1 "$(on_network asking)"
	grep -q "^CapEff:.0000000000203000" $WORK/asked.status
	grep -q "^CapBnd:.0000000000203000" $WORK/asked.status
	grep -qx PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin $WORK/asked.env
	[ "$(cut -d= -f1 $WORK/asked.env | grep -vxE "CNI_[A-Z]*|PATH|PWD|SHLVL|_")" = "" ]
}

podman_annotated() {
	trap "podman_remove x1" EXIT
	podman run --detach --runtime $BIN/vqp-runtime --network none --annotation io.vqp.network=blue --name x1 \
		--rootfs $rootfs vqpt echo-server 7000
	address=$(address_in "$(podman_pid x1)")
	[ "$(namespaces)" = "1 $address" ]
	podman_exec x1 vqpt --count=2 send "$address" 7000
	podman_remove x1
	trap - EXIT
	eventually nothing_remains
}

docker_runtime_with_a_network() {
	docker_network blue
	daemons
	docker image inspect vqp-test >/dev/null 2>&1 || tar -C "$rootfs" -c . | docker import - vqp-test
	trap "docker rm --force x1 x2 >/dev/null 2>&1; daemons_end" EXIT
	before=$(remains)
	docker_start_on blue x1 vqpt echo-server 7000
	address=$(address_in "$(docker_pid x1)")
	[[ $address == 10.66.1.* ]]
	has_namespace "$address"
	docker_start_on blue x2 sleep 1000
	docker exec x2 vqpt --count=20 send "$address" 7000
	docker restart --time 1 x1
	again=$(address_in "$(docker_pid x1)")
	docker exec x2 vqpt --count=20 send "$again" 7000
	docker_stop x1
	kill -9 "$(docker_pid x2)"
	same() { [ "$(remains)" = "$before" ]; }
	eventually same
	docker wait x2
	docker start x2
	has_namespace "$(address_in "$(docker_pid x2)")"
	docker_remove x2
	eventually same
}
