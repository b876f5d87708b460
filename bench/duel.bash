# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What bench/bench does on a node. Sourced there; the source tree is /vqp.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

HERE=/var/tmp/bench	# on the node's own disk: what is on /vqp crosses to the host
PATH=$HERE:$PATH

prepare()
{
	mkdir -p $HERE
	cp /vqp/build/bench/duel $HERE/
	/vqp/tests/programs/services start rc_busy=1
}

# Until somebody listens at bench/talk.c's port
is_served() { eventually listens; }
listens() { ss -Hltn 'sport = :7100' | grep -q .; }

# How many system calls were counted
calls() { awk '$2 == "total" { print $1 }' /run/calls; }

# READs that it took to look up an address
lookup_reads() { jq -n --argjson reads "$(events lookup_reads)" --argjson lookups "$(events lookups)" '$reads / $lookups'; }

# N: so many links of the rc carrier may there be; 0: dc alone
links() { echo "$1" > /sys/module/vqp/parameters/rc_max; }

# On the one node, and with what it prints on the other: how long a VQP's requests wait when it changes carriers
weave_serve()
{
	box bench-weave 77 10.91.0.1
	serve bench-weave weave-server 7101
	echo "7101 $key $addr"
}

weave()
{
	local switches pause_us
	box bench-weave 77 10.91.0.2
	known bench-weave 10.91.0.1
	switches=$(events rc_switches) pause_us=$(events rc_pause_us)
	inside bench-weave vqpt weave 10.91.0.1 "$@" --count=100 >&2
	jq -n --argjson switches $(($(events rc_switches) - switches)) --argjson pause_us $(($(events rc_pause_us) - pause_us)) \
		'{$switches, $pause_us}'
}

weave_end() { remove_boxes; }
