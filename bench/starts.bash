# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# How bench/bench measures what vqp adds to the start of a container. Sourced on a node.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

HERE=/var/tmp/bench	# on the node's own disk: what is on /vqp crosses to the host
ADDS=32

# ROUNDS: the times of ADDs by the plugin, and by one that only validates and echoes
adds()
{
	local i

	mkdir -p $HERE/input
	cp /vqp/build/bench/{starts,cni-echo} /vqp/build/bin/cni/vqp $HERE/
	for ((i = 1; i <= ADDS; i++)); do
		ip netns add start$i
		cat >$HERE/input/$i.json <<-END
			{"cniVersion": "1.0.0", "name": "net", "type": "vqp", "limits": {"max_vqps": 100}, "prevResult": {
			"cniVersion": "1.0.0", "interfaces": [{"name": "br0"}, {"name": "veth0"}, {"name": "eth0", "sandbox": "/x"}],
			"ips": [{"interface": 2, "address": "10.71.0.$i/24", "gateway": "10.71.0.254"}],
			"routes": [{"dst": "0.0.0.0/0"}], "dns": {}}}
		END
	done
	$HERE/starts $HERE/input $ADDS "$1" $HERE/{cni-echo,vqp}
	for ((i = 1; i <= ADDS; i++)); do
		ip netns del start$i
	done
}

# BUNDLE RUNTIME...: milliseconds until a container that does nothing has run, without what prepares its bundle
run_ms()
{
	local start end
	cp "$1" $HERE/bundle/config.json
	start=$EPOCHREALTIME
	"${@:2}" run --bundle $HERE/bundle run </dev/null >&2
	end=$EPOCHREALTIME
	echo "$(( ${end/./} - ${start/./} ))e-3"
}

# ROUNDS: what runc takes alone, in a wrapper and with hooks that do nothing, and with vqp, which makes and deletes
# a VQP namespace; by turns
runs()
{
	local i kind
	declare -A runtime=([plain]=runc [empty]=$HERE/wrapper [vqp]=$HERE/vqp-runtime)

	mkdir -p $HERE/bundle/rootfs/{dev,proc,sys,tmp}
	cp /vqp/build/bin/vqp-{runtime,hook,network} /vqp/build/bench/{noop,wrapper} $HERE/
	cp $HERE/noop $HERE/bundle/rootfs/
	ip netns add run
	ip -n run link add eth0 type dummy
	ip -n run address add 10.70.0.1/24 dev eth0
	ip -n run link set eth0 up
	jq '.process.args = ["/noop"] | .linux.namespaces += [{type: "network", path: "/run/netns/run"}]' \
		/vqp/examples/fn/config.json | tee $HERE/plain.json >$HERE/vqp.json
	jq --arg noop $HERE/noop '.hooks = {createRuntime: [{path: $noop}], poststop: [{path: $noop}]}' \
		$HERE/plain.json >$HERE/empty.json
	for ((i = 0; i <= $1; i++)); do
		for kind in plain empty vqp; do
			run_ms $HERE/$kind.json "${runtime[$kind]}" >>$HERE/$kind.times
		done
	done
	ip netns del run
	# the first round is not counted: it finds nothing in memory
	jq -n --slurpfile plain $HERE/plain.times --slurpfile empty $HERE/empty.times --slurpfile vqp $HERE/vqp.times \
		'{plain_ms: $plain[1:], empty_ms: $empty[1:], vqp_ms: $vqp[1:]}'
}
