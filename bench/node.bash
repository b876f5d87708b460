# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What bench/demo does on a node. Sourced there; the source tree is /vqp.

set -eu -o pipefail
shopt -s inherit_errexit

BUILD=/vqp/build
HERE=/var/tmp/demo	# on the node's own disk: programs, images, networks
FUNCTIONS=$HERE/images

export PATH=$HERE/bin:$PATH
export CNI_PATH=$HERE/bin/cni:/usr/lib/cni

# Everything a node needs, copied to its own disk: what is on /vqp crosses to the host.
install_programs()
{
	mkdir -p $HERE/bin
	cp -a $BUILD/bin/. $BUILD/fn/fn-agent $BUILD/bench/{measure,noop,empty-ioctl,probe-*} \
		/vqp/examples/fn/fn-container /vqp/tests/cni-exec $HERE/bin/
	cp -a $BUILD/fn/images $HERE/
}

# network NODE NAME [PLUGIN...]: a network list of point-to-point links in 10.88.NODE.0/24
network()
{
	local node=$1 name=$2
	shift 2
	jq -n --arg node "$node" --arg name "$name" '{cniVersion: "1.0.0", $name, plugins: ([
		{type: "ptp", ipam: {type: "host-local", dataDir: "/run/demo/ipam",
			ranges: [[{subnet: "10.88.\($node).0/24"}]]}}] + $ARGS.positional)}' \
		--jsonargs "$@" > "$HERE/$name.conflist"
}

# prepare NODE: the module, the daemons, the programs and the networks
prepare()
{
	/vqp/tests/services start
	install_programs
	network "$1" plain
	network "$1" vqp '{"type": "vqp", "tenant": 1}'
}

# agent_start NODE ROLE: run the functions of that role (sender or receiver) in every build
agent_start()
{
	fn-agent --detach --listen "10.77.0.$1:8080" $FUNCTIONS/{vqp,verbs,best}-"$2" > $HERE/agent.pid
}

# Also checks that no VQP namespace but the host's is left.
agent_stop()
{
	local pid tries
	pid=$(< $HERE/agent.pid)
	kill "$pid"
	while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
	for ((tries = 0; tries < 50; tries++)); do
		if vqpctl ns list --json | jq -e 'all(.tenant == 0)' > /dev/null; then
			return
		fi
		sleep 0.1
	done
	echo "VQP namespaces are left:" >&2
	vqpctl ns list >&2
	return 1
}

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

# container_once NAME RUNTIME: milliseconds from the network to the end of a container that does nothing
container_once()
{
	local list=$HERE/$1.conflist runtime=$2 start end
	ip netns add start
	start=$EPOCHREALTIME
	cni-exec add "$list" start /run/netns/start eth0 > /dev/null
	"$runtime" run --bundle "$HERE/start" start < /dev/null > /dev/null
	end=$EPOCHREALTIME
	cni-exec del "$list" start /run/netns/start eth0
	ip netns delete start
	echo "$(( (${end/./} - ${start/./}) / 10 ))e-2"
}

# container_starts COUNT: {"plain_ms": median, "vqp_ms": median}, taking turns
container_starts()
{
	local i plain=() vqp=()
	mkdir -p $HERE/start/rootfs/{dev,proc,sys,tmp}
	cp $HERE/bin/noop $HERE/start/rootfs/
	jq '.process.args = ["/noop"]
		| .linux.namespaces += [{type: "network", path: "/run/netns/start"}]' \
		/vqp/examples/fn/config.json > $HERE/start.json
	for ((i = 0; i < $1; i++)); do
		cp $HERE/start.json $HERE/start/config.json
		plain+=("$(container_once plain runc)")
		vqp+=("$(container_once vqp vqp-runtime)")
	done
	jq -n --argjson plain "[$(IFS=,; echo "${plain[*]}")]" --argjson vqp "[$(IFS=,; echo "${vqp[*]}")]" '
		def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
		{plain_ms: ($plain | median), vqp_ms: ($vqp | median)}'
}
