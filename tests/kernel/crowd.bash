# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/crowd.bats does on a node, beside tests/kernel/rc.bash.

# shellcheck source=tests/kernel/rc.bash
source /vqp/tests/kernel/rc.bash

none_alive() { (($(alive vqp) == 0)); }

# The server is killed: how long does it take until it has gone?
gone_in_ms() {
	local begin=${EPOCHREALTIME/[.,]/}
	pkill -9 -x vqpt
	eventually not pgrep -x vqpt >&2
	echo $(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
}

# NAME TENANT ADDRESS: a box with an interface that has the address
housed() {
	ip netns add "$1"
	ip -n "$1" link add eth0 type dummy
	ip -n "$1" address add "$3/24" dev eth0
	vqpctl ns add --netns "/run/netns/$1" --tenant "$2" --address "$3" --name "$1"
}

# NAME TENANT ADDRESS: a box that vqpd takes for that of the container NAME
attached() {
	ip netns add "$1"
	vqpctl ns add --netns "/run/netns/$1" --tenant "$2" --address "$3" --name "$1/eth0"
}

# NAME...: these containers are detached, one after the other.
detach() {
	local name
	for name; do
		socat -t60 - UNIX-CONNECT:/run/vqp/vqpd.sock <<<"{\"op\":\"del\",\"id\":\"$name\",\"ifname\":\"eth0\"}" |
			jq -ce '.deleted == 1'
	done
}

# NETWORK NUMBER...: the boxes gone-NUMBER lose their addresses.
leave() {
	local number
	for number in "${@:2}"; do
		ip -n "gone-$number" address del "$1.$number/24" dev eth0
	done
}

begin_ends() { begin_probes 'p:vqp_test/end vqp:owners_kill' 'r:vqp_test/ended vqp:owners_kill'; }

# COUNT: so many namespaces have ended since begin_ends.
ended_are() { awk -v count="$1" '$1 == "ended" { ended = $2 } END { exit ended != count }' "$tracing/kprobe_profile"; }

# COUNT: so many namespaces end, each of which begins to before the first of them has.
ends_were_together() {
	eventually ended_are "$1"
	end_probes
	awk -v count="$1" '
		/ end: / { ends++ }
		/ ended: / && !first { first = ends }
		END { print first " of " ends " namespaces had begun to end when the first had"; exit first != count }
		' /run/vqp/trace
}

# NAME...: a server with 256 regions in each of these; prints for each "KEY ADDR"
serve_regions() {
	local name
	for name; do
		serve "$name" regions-server 730 --count=256
		echo "$key $addr"
	done
}

# ADDRESS PORT KEY ADDR: vqp-a reads there some dozens of times in a second, until stop_all.
reads_now_and_then() {
	touch /run/vqp/reading
	setsid -f ip netns exec vqp-a bash -c "while [[ -e /run/vqp/reading ]]; do
		vqpt read $* --count=20; sleep 0.3
	done" >/dev/null 2>&1 </dev/null
}

begin_asks() { begin_probes 'p:vqp_test/ask vqp_rc_target_room'; }

# SECONDS ADDRESS PORT KEY ADDR: vqp-f reads there all the time; no QP of the rc carrier is made.
asks_in_vain() {
	begin_probes 'p:vqp_test/made vqp_rc_qp_create'
	serve vqp-f flood read "${@:2}" --bytes=8 --depth=8
	sleep "$1"
	end_probes
	not grep ' made: ' /run/vqp/trace
}

asks_were_at_most() {
	end_probes
	local asks
	asks=$(grep -c ' ask: ' /run/vqp/trace)
	echo "$asks asks"
	((1 <= asks && asks <= $1))
}

begin_calls() { begin_probes 'p:vqp_test/ask vqp_rpc' 'r:vqp_test/asked vqp_rpc'; }

# COUNT: so many calls to other nodes have ended since begin_calls.
calls_are() { awk -v count="$1" '$1 == "asked" { asked = $2 } END { exit asked < count }' "$tracing/kprobe_profile"; }

# COUNT: so many had begun when the first ended.
calls_were_together() {
	end_probes
	awk -v count="$1" '
		/ ask: / { asks++ }
		/ asked: / && !first { first = asks }
		END { print first " of " asks " calls had begun when the first ended"; exit first != count }
		' /run/vqp/trace
}
