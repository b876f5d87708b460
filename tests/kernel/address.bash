# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/address.bats does on a node, beside tests/kernel/rc.bash.

# shellcheck source=tests/kernel/rc.bash
source /vqp/tests/kernel/rc.bash

number=$(hostname)
own=10.77.0.${number#node}/24
own6=fd77::${number#node}/64

# The kernel has said so since forget_log.
said() { dmesg | grep "vqp: $1" >/dev/null; }
forget_log() { dmesg --clear; }

# The module's parent has this address (as the kernel's log has it) and rank.
parent_is() { said "parent rxe0 port 1, $1, its $2 address"; }

# COUNT PREFIX: the RDMA device has so many GIDs that begin so.
gids_are() { (($(cat /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null | grep -c "^$2") == $1)); }

# ADDRESS...: the data link has these, in this order, and one of its own that does not reach beyond it.
has_addresses() {
	local address count4=0 count6=0
	ip -4 address flush dev data0
	ip -6 address flush dev data0 scope global
	for address; do
		ip address add "$address" dev data0 nodad 2>/dev/null || ip address add "$address" dev data0
		if [[ $address == *::* ]]; then ((++count6)); else ((++count4)); fi
	done
	eventually gids_are $count4 0000:0000:0000:0000:0000:ffff
	eventually gids_are $count6 fd77
}

# ADDRESS...: the module anew, while the data link has these
loads_with() {
	bash /vqp/tests/programs/services unload
	has_addresses "$@"
	forget_log
	insmod "/vqp/build/kmod-$(uname -r)/vqp.ko"
}

# As every node has it
restored() {
	bash /vqp/tests/programs/services unload
	ip link del data0.9 2>/dev/null || true
	has_addresses "$own" "$own6"
	ip link set data0 mtu 9000
}

# The node's address goes, and comes back when COMMAND has seen that.
goes_until() {
	ip address del "$own" dev data0
	eventually "$@"
	ip address add "$own" dev data0
}

# Address handles have been made anew since begin_probes.
handles_are_new() {
	end_probes
	grep ' renew: ' /run/vqp/trace >/dev/null
}

# Addresses come and go on the data link, and cause at most ten looks in a second.
flapping_costs_few_looks() {
	local begin=${EPOCHREALTIME/[.,]/} i took looks
	begin_probes 'p:vqp_test/look parent_work'
	for i in {1..100}; do
		ip address add "fd77:1::$i/64" dev data0 nodad
		ip address del "fd77:1::$i/64" dev data0
	done
	end_probes
	took=$((${EPOCHREALTIME/[.,]/} - begin))
	looks=$(awk '$1 == "look" { print $2 }' /run/vqp/hits)
	echo "$looks looks in $((took / 1000)) ms"
	((1 <= looks && looks <= took / 100000 + 2))
}
