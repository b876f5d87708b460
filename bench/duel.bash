# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What bench/bench does on a node. Sourced there; the source tree is /vqp.

# shellcheck source=tests/vqp.bash
source /vqp/tests/vqp.bash

HERE=/var/tmp/bench	# on the node's own disk: what is on /vqp crosses to the host
PATH=$HERE:$PATH

prepare()
{
	mkdir -p $HERE
	cp /vqp/build/bench/duel $HERE/
	/vqp/tests/services start
}

# Until somebody listens at bench/talk.c's port
is_served() { eventually listens; }
listens() { ss -Hltn 'sport = :7100' | grep -q .; }

# How many system calls were counted
calls() { awk '$2 == "total" { print $1 }' /run/calls; }

# READs that it took to look up an address
lookup_reads() { jq -n --argjson reads "$(events lookup_reads)" --argjson lookups "$(events lookups)" '$reads / $lookups'; }
