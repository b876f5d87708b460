# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/node.bats does on a node: daemons with options of their own, and
# requests to them. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source "${BASH_SOURCE[0]%/*}/../lib/vqp.bash"

run=/run/vqp

# REQUEST: vqpd's answer.
ask() { socat -t60 - UNIX-CONNECT:$run/vqpd.sock <<<"$1"; }

# REQUEST: the meta server's answer.
ask_meta() { socat -t60 - TCP:10.77.0.1:7471 <<<"$1"; }

# ID NETNS TENANT ADDRESS [LIMITS]: an add, of $network if that is set.
request() {
	jq -nc --arg id "$1" --arg netns "/run/netns/$2" --argjson tenant "$3" --arg address "$4" \
		--argjson limits "${5-null}" --arg network "${network-}" \
		'{op: "add", id: $id, ifname: "eth0", netns: $netns, tenant: $tenant, address: $address, limits: $limits}
			+ if $network == "" then {} else {network: $network} end'
}

# As request: vqpd's answer.
add() { ask "$(request "$@")"; }

# TENANT ADDRESS: the limits of this node's namespace, as max_vqps/max_mrs/max_bytes, -: unlimited.
limits_of() {
	vqpctl ns list --json | jq -er --argjson tenant "$1" --arg gid "::ffff:$2" \
		'.[] | select(.tenant == $tenant and .gid == $gid) | [.max_vqps, .max_mrs, .max_bytes] | map(if . == "unlimited" then "-" else . end) | join("/")'
}

# TENANT ADDRESS: what this node's namespace may send, as max_rate/priority, -: unlimited.
sending_of() {
	vqpctl ns list --json | jq -er --argjson tenant "$1" --arg gid "::ffff:$2" \
		'.[] | select(.tenant == $tenant and .gid == $gid) | "\(if .max_rate == "unlimited" then "-" else .max_rate end)/\(.priority)"'
}

# ID: vqpd's answer to a del, of $network if that is set.
del() { ask "{\"op\":\"del\",\"id\":\"$1\",\"ifname\":\"eth0\"${network+,\"network\":\"$network\"}}"; }

# TENANT ADDRESS [NODE]: the meta server knows it, as NODE's.
announced() {
	ask_meta '{"op":"list"}' | jq -e --argjson tenant "$1" --arg gid "::ffff:$2" --arg node "${3+::ffff:10.77.0.$3}" \
		'any(.entries[]; .tenant == $tenant and .gid == $gid and ($node == "" or .node_gid == $node))'
}

# TENANT ADDRESS: this node has the namespace.
present() {
	vqpctl ns list --json | jq -e --argjson tenant "$1" --arg gid "::ffff:$2" \
		'any(.[]; .tenant == $tenant and .gid == $gid)'
}

# NETNS ADDRESS: who is there can connect and is heard of, right now.
reaches() { vqpctl ping --netns "$1" "$2" --count 1; }

# DAEMON [OPTION...]: start it; its log starts anew.
start() {
	setsid -f "$1" "${@:2}" >"$run/$1.log" 2>&1 </dev/null
	eventually pidof "$1"
}

# DAEMON [SIGNAL]: stop it, and wait until it is gone.
stop() {
	pkill "${2--TERM}" -x "$1" || true
	eventually not pidof "$1"
}

# How vqpd sees its first meta server: true or false.
meta_up() { [[ $(ask '{"op":"status"}' | jq '.meta[0].up') == "$1" ]]; }

# The table's place that the kernel knows.
table_key() { vqpctl meta list --json | jq -e '.[0].key'; }

# COUNT: that many adds at once, of as many netns that are there; all answers.
add_many() {
	local i
	for ((i = 1; i <= $1; i++)); do
		add "many$i" "many$i" 5 "10.95.1.$i" &
	done
	wait
}

# DAEMON CAPABILITIES: it has these alone, in the kernel's notation, a filter of system calls, and gets nothing back
is_confined() {
	local status
	status=/proc/$(pidof "$1")/status
	grep -q "^CapPrm:.$2" "$status" && grep -q "^CapEff:.$2" "$status" &&
		grep -q '^Seccomp:.2' "$status" && grep -q '^NoNewPrivs:.1' "$status"
}

# DAEMON USER OPTION...: start it with the capabilities that its unit gives it, as that user.
start_as_unit() {
	local caps
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "/vqp/node/$1.service" | tr -d '\n' | sed 's/CAP_/+/g; s/ /,/g; s/^/-all,/')
	caps=${caps,,}
	setsid -f setpriv --bounding-set="$caps" --inh-caps="$caps" --ambient-caps="$caps" --reuid="$2" --no-new-privs \
		"$1" "${@:3}" >"$run/$1.log" 2>&1 </dev/null
	eventually pidof "$1"
}
