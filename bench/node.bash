# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What bench/demo does on a node. Sourced there; the source tree is /vqp.

set -eu -o pipefail
shopt -s inherit_errexit
# shellcheck source=tests/lib/expect.bash
source /vqp/tests/lib/expect.bash

BUILD=/vqp/build
HERE=/var/tmp/demo	# on the node's own disk: programs, images, network
FUNCTIONS=$HERE/images

export PATH=$HERE/bin:$PATH
export CNI_PATH=$HERE/bin/cni:/usr/lib/cni

# Everything a node needs, copied to its own disk: what is on /vqp crosses to the host.
install_programs()
{
	mkdir -p $HERE/bin
	cp -a $BUILD/bin/. $BUILD/fn/fn-agent $BUILD/bench/{measure,noop,empty-ioctl,probe-*} \
		/vqp/examples/fn/fn-container /vqp/tests/programs/cni-exec $HERE/bin/
	cp -a $BUILD/fn/images $HERE/
}

# network NODE: a network list of point-to-point links in 10.88.NODE.0/24, with vqp behind
network()
{
	jq -n --arg node "$1" '{cniVersion: "1.0.0", name: "functions", plugins: [
		{type: "ptp", ipam: {type: "host-local", dataDir: "/run/demo/ipam",
			ranges: [[{subnet: "10.88.\($node).0/24"}]]}},
		{type: "vqp", tenant: 1}]}' > $HERE/vqp.conflist
}

# prepare NODE: the programs, the network, the policy, the module and the daemons
prepare()
{
	install_programs
	network "$1"
	vqpctl policy init
	/vqp/tests/programs/services start
}

# agent_start NODE ROLE: run the functions of that role (sender or receiver) in every build
agent_start()
{
	fn-agent --detach --listen "10.77.0.$1:8080" $FUNCTIONS/{vqp,verbs,best}-"$2" > $HERE/agent.pid
}

# Also checks that no VQP namespace but the host's is left.
agent_stop()
{
	local pid
	pid=$(< $HERE/agent.pid)
	kill "$pid"
	while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
	eventually nobody_is_left || { vqpctl ns list >&2; return 1; }
}

nobody_is_left() { vqpctl ns list --json | jq -e 'all(.tenant == 0)'; }

# measure_all RUNS: on the senders' node
measure_all()
{
	# The probes speak verbs as the functions do.
	eval "export $(jq -r '.process.env[] | select(startswith("RDMA_GID_INDEX="))' \
		/run/fn/best-sender/config.json)"
	measure --receivers http://10.77.0.1:8080 --senders http://10.77.0.2:8080 \
		--probes $HERE/bin --netns /run/netns/fn-vqp-sender \
		--flush 'vqpctl cache flush > /dev/null' --runs "$1"
}

# plugin COMMAND TYPE CONFIG: call one CNI plugin for the container `start`, without anything in between
plugin()
{
	CNI_COMMAND=$1 CNI_CONTAINERID=start CNI_NETNS=/run/netns/start CNI_IFNAME=eth0 \
		"$(PATH=$CNI_PATH type -P "$2")" <<< "$3"
}

# The configuration of each plugin, as a runtime makes it from the list of a network
PTP='{"cniVersion": "1.0.0", "name": "start", "type": "ptp", "ipam": {"type": "host-local",
	"dataDir": "/run/demo/ipam", "ranges": [[{"subnet": "10.89.0.0/24"}]]}}'
vqp_config()
{
	printf '{"cniVersion": "1.0.0", "name": "start", "type": "vqp", "tenant": 1, "prevResult": %s}' "$1"
}

# Milliseconds from the first plugin to the end of a container that does nothing
plain_start()
{
	local start=$EPOCHREALTIME end
	plugin ADD ptp "$PTP" > /dev/null
	runc run --bundle $HERE/start start < /dev/null
	end=$EPOCHREALTIME
	plugin DEL ptp "$PTP"
	echo "$(( ${end/./} - ${start/./} ))e-3"
}

# The same with vqp behind the first plugin, and vqp-runtime
vqp_start()
{
	local start=$EPOCHREALTIME end result config
	result=$(plugin ADD ptp "$PTP")
	config=$(vqp_config "$result")
	plugin ADD vqp "$config" > /dev/null
	vqp-runtime run --bundle $HERE/start start < /dev/null
	end=$EPOCHREALTIME
	plugin DEL vqp "$config"
	plugin DEL ptp "$PTP"
	echo "$(( ${end/./} - ${start/./} ))e-3"
}

# container_starts COUNT: {"plain_ms": median, "vqp_ms": median}, taking turns
container_starts()
{
	local i kind
	mkdir -p $HERE/start/rootfs/{dev,proc,sys,tmp}
	cp $HERE/bin/noop $HERE/start/rootfs/
	jq '.process.args = ["/noop"]
		| .linux.namespaces += [{type: "network", path: "/run/netns/start"}]' \
		/vqp/examples/fn/config.json > $HERE/start.json
	for ((i = 0; i < $1; i++)); do
		for kind in plain vqp; do
			cp $HERE/start.json $HERE/start/config.json
			ip netns add start
			"${kind}_start" >> "$HERE/$kind.times"
			ip netns delete start
		done
	done
	jq -n --slurpfile plain $HERE/plain.times --slurpfile vqp $HERE/vqp.times '
		def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 * 100 | round / 100;
		{plain_ms: ($plain | median), vqp_ms: ($vqp | median)}'
}
