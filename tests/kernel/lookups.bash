# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/lookups.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

# MOST COMMAND...: while it runs, the kernel looks addresses up no more often.
looks_up_at_most() {
	local before lookups
	before=$(events lookups)
	"${@:2}"
	lookups=$(($(events lookups) - before))
	echo "$lookups lookups"
	((lookups <= $1))
}

# COUNT NAME ADDRESS: so many processes there connect to it at a time, in vain.
asks_at_once() {
	local i
	for ((i = 0; i < $1; i++)); do
		inside "$2" vqpt send "$3" 700 >/dev/null 2>&1 &
	done
	wait
}

# NAME: one process after the other there asks for addresses that nobody has, until stop_all.
asks_for_many() {
	touch /run/vqp/asking
	setsid -f ip netns exec "$1" bash -c 'for i in {1..200}; do
		[[ ! -e /run/vqp/asking ]] || vqpt send "10.98.0.$i" 700
	done' >/dev/null 2>&1 </dev/null
}

# NAME ADDRESS PORT COUNT: that many VQPs of one process there are connected, and wait for the server to receive.
storm() {
	setsid -f ip netns exec "$1" vqpt storm "$2" "$3" --count="$4" --depth="$4" --bytes=64 >/dev/null 2>&1 </dev/null
	eventually all_send "$4"
}

# The server has receives for some of the messages.
all_send() {
	vqpctl vqps --json | jq -e --argjson count "$1" \
		'map(select(.state == "connected" and .sends_pending + .tx_msgs > 0)) | length >= $count'
}

# SECONDS: the storm is killed, and its process gone by then.
storm_ends_within() {
	local begin=${EPOCHREALTIME/[.,]/} took
	pkill -9 -x vqpt
	eventually eval '! pgrep -x vqpt'
	took=$((${EPOCHREALTIME/[.,]/} - begin))
	echo "gone after $((took / 1000)) ms"
	((took <= $1 * 1000000))
}
