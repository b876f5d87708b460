# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/networks.bats does on a node. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"

LISTS=/etc/cni/net.d
PLUGINS=/opt/cni/bin

# all the lists that there are but "secret"
operator_default() {
	operator '{"annotations": {"addresses": ["10.60.0.0/16"],
		"networks": ["blue", "plain", "fixed", "failing", "slow", "asking", "nowhere", "broken"]}}'
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
