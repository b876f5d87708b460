# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The demo's second act on a node: the service of examples/grpc in containers that differ in nothing but the name of
# their network list, by which the policy gives stream sockets to those of "rpc-vqp" and none to those of "rpc-tcp".
# Sourced there; the source tree is /vqp.
#
#   node 1: asks-tcp, serves-tcp on the bridge rpc-tcp; asks-vqp, serves-vqp on rpc-vqp
#   node 2: serves-tcp, serves-vqp

# shellcheck source=bench/node.bash
source /vqp/bench/node.bash

RPC=$HERE/rpc
RPC_PORT=50051
RPC_BYTES=(64 1024 8192 65536)
RPC_MS=300	# for each size
CONNECT_MS=/sys/module/vqp/parameters/connect_ms

# BY: where the third number of a subnet's addresses begins
declare -A rpc_subnets=([tcp]=10.91 [vqp]=10.92)

# BY NODE: a network list
rpc_network()
{
	jq -n --arg name "rpc-$1" --arg subnet "${rpc_subnets[$1]}.$2.0/24" '{cniVersion: "1.0.0", $name, plugins: [
		{type: "bridge", bridge: $name, isDefaultGateway: true, ipam: {type: "host-local",
			dataDir: "/run/demo/ipam", ranges: [[{$subnet}]]}},
		{type: "vqp", tenant: 1}]}' > "$RPC/$1.conflist"
}

# NAME BY: a container of the service
rpc_container()
{
	local bundle=$RPC/$1-$2
	mkdir -p "$bundle"
	jq --arg root "$RPC/rootfs" --arg netns "/run/netns/$1-$2" '.process.args = ["/server"]
		| .process.env = []
		| .root.path = $root
		| .linux.namespaces += [{type: "network", path: $netns}]' /vqp/examples/fn/config.json > "$bundle/config.json"
	ip netns add "$1-$2"
	cni-exec add "$RPC/$2.conflist" "$1-$2" "/run/netns/$1-$2" eth0 |
		jq -r '.ips[-1].address | split("/")[0]' > "$bundle/address"
	vqp-runtime run --detach --bundle "$bundle" "$1-$2" < /dev/null > "$bundle/log" 2>&1 || { cat "$bundle/log" >&2; return 1; }
	eventually rpc_is_served "$1-$2"
}

rpc_is_served() { ip netns exec "$1" ss -Hltn "sport = :$RPC_PORT" | grep -q .; }

# NODE: which containers there are
rpc_names() { (($1 == 1)) && echo asks serves || echo serves; }

# NODE: the policy, the networks and the containers. No connection is to be of TCP because nodes are slow.
rpc_begin()
{
	local by name other=$((3 - $1)) policy=/etc/vqp/policy.json new
	mkdir -p "$RPC"
	cp -a $BUILD/grpc/images/go "$RPC/rootfs"
	cp $BUILD/bench/rpc "$RPC/rootfs/"
	new=$(jq '.rules = [{network: "rpc-vqp", tenant: 1, sockets: true}] + .rules' $policy)
	echo "$new" > $policy
	echo 60000 > $CONNECT_MS
	for by in tcp vqp; do
		rpc_network "$by" "$1"
		ip route add "${rpc_subnets[$by]}.$other.0/24" via "10.77.0.$other"
		for name in $(rpc_names "$1"); do
			rpc_container "$name" "$by"
		done
	done
}

# NODE: all of it is gone
rpc_end()
{
	local by name
	for by in tcp vqp; do
		for name in $(rpc_names "$1"); do
			vqp-runtime delete --force "$name-$by"
			cni-exec del "$RPC/$by.conflist" "$name-$by" "/run/netns/$name-$by" eth0
			ip netns delete "$name-$by"
		done
		ip link delete "rpc-$by"
		ip route delete "${rpc_subnets[$by]}.$((3 - $1)).0/24"
	done
	echo 300 > $CONNECT_MS
	eventually rpc_sockets_gone
}

rpc_sockets_gone()
{
	vqpctl status --json |
		jq -e 'all(.counters[] | select(.name | IN("sock", "stream", "chunk")); .made == .freed)'
}

# BY: where this node serves that
rpc_address() { cat "$RPC/serves-$1/address"; }

# which kinds sockets of this node have got, and how many of each
rpc_kinds()
{
	vqpctl status --json | jq -c '[.counters[] | select(.name | IN("sock_near", "sock_far", "sock_tcp"))
		| {key: .name, value}] | from_entries'
}

# what a round has come to, for people who wait
rpc_says()
{
	jq -r '"\({same: " one node", two: "two nodes"}[.place]), by \({tcp: "TCP", vqp: "vqp"}[.by]): "
		+ (.sizes | map("\(.bytes) bytes \(.median_us | round) us") | join(", "))
		+ "; \(.crowd) callers \(.per_second | round) a second"'
}

# BY PLACE ADDRESS KIND: one round, as JSON. The connection is of that kind of vqp's sockets; "": it is none of them.
rpc_round()
{
	local before after round
	before=$(rpc_kinds)
	round=$(runc exec "asks-$1" /rpc "$3:$RPC_PORT" "$RPC_MS" "${RPC_BYTES[@]}" < /dev/null |
		jq -c --arg by "$1" --arg place "$2" '{$place, $by} + .')
	after=$(rpc_kinds)
	jq -en --argjson before "$before" --argjson after "$after" --arg kind "$4" \
		'[$after | to_entries[] | select(.value > $before[.key]).key] == (if $kind == "" then [] else [$kind] end)' > /dev/null ||
		{ echo "calls by $1, $2: not ${4:-TCP}: $before, then $after" >&2; return 1; }
	rpc_says <<< "$round" >&2
	echo "$round"
}

# ROUNDS TCP VQP: from containers of this node to those of this node and to those at these addresses of the other, in turn
rpc_measure()
{
	local i
	eventually vqpctl ping --netns asks-vqp --count 1 "$3" > /dev/null
	for ((i = 0; i < $1; i++)); do
		rpc_round tcp same "$(rpc_address tcp)" ''
		rpc_round vqp same "$(rpc_address vqp)" sock_near
		rpc_round tcp two "$2" ''
		rpc_round vqp two "$3" sock_far
	done
}
