# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/crowd.bats does on a node, beside tests/kernel/rc.bash.

# shellcheck source=tests/kernel/rc.bash
source /vqp/tests/kernel/rc.bash

# COUNT: there are so many windows at least
windows_are() { (($(alive window) >= $1)); }

# The server is killed: how long does it take until it has gone?
gone_in_ms() {
	local begin=${EPOCHREALTIME/[.,]/}
	pkill -9 -x vqpt
	eventually not pgrep -x vqpt >&2
	echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
}

# NAME...: a server with 256 regions in each of these; prints for each "KEY ADDR"
serve_regions() {
	local name
	for name; do
		serve "$name" regions-server 730 --count=256
		echo "$key $addr"
	done
}
