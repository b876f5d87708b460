# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What bench/bench does with the CNI plugin on a node. Sourced there.

# shellcheck source=tests/vqp.bash
source /vqp/tests/vqp.bash

HERE=/var/tmp/bench	# on the node's own disk: what is on /vqp crosses to the host
STARTS=32

# ROUNDS: the times of ADDs by the plugin, and by one that only validates and echoes
starts()
{
	local i

	mkdir -p $HERE/input
	cp /vqp/build/bench/{starts,cni-echo} /vqp/build/bin/cni/vqp $HERE/
	for ((i = 1; i <= STARTS; i++)); do
		ip netns add start$i
		cat >$HERE/input/$i.json <<-END
			{"cniVersion": "1.0.0", "name": "net", "type": "vqp", "limits": {"max_vqps": 100}, "prevResult": {
			"cniVersion": "1.0.0", "interfaces": [{"name": "br0"}, {"name": "veth0"}, {"name": "eth0", "sandbox": "/x"}],
			"ips": [{"interface": 2, "address": "10.71.0.$i/24", "gateway": "10.71.0.254"}],
			"routes": [{"dst": "0.0.0.0/0"}], "dns": {}}}
		END
	done
	$HERE/starts $HERE/input $STARTS "$1" $HERE/{cni-echo,vqp}
	for ((i = 1; i <= STARTS; i++)); do
		ip netns del start$i
	done
}
