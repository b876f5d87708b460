# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/vqp.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

clients_killed_in_mid_transfer() {
	before=$(census)
	for i in 1 2 3; do
		serve vqp-a send 10.90.0.3 700 --bytes=1M --count=1000000 --depth=4
		kill -9 "$pid"
	done
	eventually census_is "$before"
	inside vqp-a vqpt send 10.90.0.3 700 --bytes=1M --count=10 --depth=2
}

netns_takes_its_vqps() {
	before=$(census)
	box vqp-d 9 10.90.0.4
	serve vqp-d echo-server 700
	inside vqp-a vqpt send 10.90.0.4 700 --count=10
	kill -9 "$pid"
	ip netns del vqp-d
	eventually census_is "$before"
}

anew_has_other_numbers() {
	numbers() { vqpctl vqps --json | jq -c "map(select(.gid == \"::ffff:10.90.0.77\") | .qp_num)"; }
	box vqp-again 9 10.90.0.77
	serve vqp-again mem-server 701
	then=$(numbers) key_then=$key
	[ "$then" != "[]" ]
	stop_all
	ip netns del vqp-again
	box vqp-again 9 10.90.0.77
	serve vqp-again mem-server 701
	[ "$(numbers)" != "$then" ]
	[ $((key >> 16)) != $((key_then >> 16)) ]
	stop_all
	ip netns del vqp-again
}

# NAME ADDRESS: the number of a flow by which the node sends while NAME reaches that address
a_flow() {
	begin_tracing
	echo 1 >"$tracing/events/vqp/vqp_tx_packet/enable"
	known "$@" >&2
	echo 0 >"$tracing/events/vqp/vqp_tx_packet/enable"
	awk 'match($0, / vqp_tx_packet: .*flow=[0-9]+/) { sub(/.*flow=/, ""); print $1; exit }' "$tracing/trace"
}

cycles_leave_nothing() {
	inside vqp-a vqpt cycle 10.90.0.3 701 --count=200
	before=$(census) memory=$(slab_kib)
	inside vqp-a vqpt cycle 10.90.0.3 701 --count=1000
	eventually census_is "$before"
	steady() { (($(slab_kib) - memory < 1000)); }
	eventually steady || { echo "grown by $(($(slab_kib) - memory)) KiB"; return 1; }
}

killed_at_any_moment() {
	before=$(census)
	for i in {1..100}; do
		ip netns exec vqp-a vqpt send 10.90.0.3 700 --bytes=5000 --count=1000000 & pid=$!
		sleep "0.0$((i % 10))"
		kill -9 "$pid"
		wait "$pid" || true
	done
	eventually census_is "$before"
}

full_queue_fails_nothing() {
	tc qdisc replace dev "$link" root tbf rate 8mbit burst 10kb limit 20kb
	inside vqp-a vqpt send 10.90.0.3 700 --bytes=100000 --count=20 --depth=16 --timeout=30000
	tc qdisc del dev "$link" root
	for i in {1..16}; do
		inside vqp-a vqpt send 10.90.0.3 700 --count=10 --timeout=10000
	done
	if rdma resource show qp | grep "state ERR"; then return 1; fi
}

address_on_the_wire_is_not_the_nodes() {
	ip netns add vqp-macvlan
	ip link add macvlan0 link "$link" type macvlan mode bridge
	ip link set macvlan0 netns vqp-macvlan
	inside vqp-macvlan ip addr add 10.77.0.201/24 dev macvlan0
	inside vqp-macvlan ip link set macvlan0 up
	in_gids() { grep -qs 0a4d:00c9 /sys/class/infiniband/"$device"/ports/1/gids/*; }
	eventually in_gids
	ip addr del 10.77.0.1/24 dev "$link"
	node_gid() { vqpctl status --json | jq -er .node_gid; }
	# between two parents there is none
	changed() { gid=$(node_gid) && [[ $gid != *10.77.0.1 ]]; }
	eventually changed || gid=never
	ip addr add 10.77.0.1/24 dev "$link"
	# a real machine may have others
	[[ $gid == fd77::1 || ${VQP_NODE-} && $gid != never && $gid != *10.77.0.201 ]] || { echo "the node is $gid"; return 1; }
}

named_address_is_the_nodes() {
	is_node() { [[ $(vqpctl status --json | jq -r .node_gid) == "::ffff:$1" ]]; }
	is_node 10.77.0.1
	ip addr add 10.77.0.11/24 dev "$link"
	eventually is_node 10.77.0.11
	known vqp-a 10.90.0.3
	inside vqp-a vqpt send 10.90.0.3 700 --count=10
	remove_boxes
	bash /vqp/tests/programs/services unload
	ip addr del 10.77.0.11/24 dev "$link"
}

thread_takes_its_vqp_along() {
	inside vqp-a taskset -c 0 vqpt send 10.90.0.3 700 --count=20
	before=$(events followed)
	inside vqp-a taskset -c 0 vqpt send 10.90.0.3 700 --count=200 --depth=1
	(( $(events followed) == before ))
	(($(nproc) > 1)) || return 0
	setsid -f ip netns exec vqp-a taskset -c 0 vqpt send 10.90.0.3 700 --count=100000000 --depth=1 >/dev/null </dev/null 2>&1
	pid=; finds_pid() { pid=$(pgrep -x vqpt); }; eventually finds_pid
	for cpu in 1 0 1; do
		before=$(events followed)
		taskset -cp $cpu "$pid"
		follows() { (($(events followed) > before)); }
		eventually follows
	done
	pkill -x vqpt
}
