# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# How much slower the slow ones of a namespace's requests are beside another namespace, which does
# its worst. What bench/bench does on a node for that. Sourced there; the source tree is /vqp.

# shellcheck source=bench/duel.bash
source /vqp/bench/duel.bash

READS=2000

# BYTES: on the node of the requests' targets; prints ADDRESS PORT KEY ADDR.
target()
{
	box target 4 10.94.0.1 >&2
	serve target mem-server 701 "--bytes=$1"
	# shellcheck disable=SC2154 # by serve
	echo "10.94.0.1 701 $key $addr"
}

requesters()
{
	box good 4 10.94.0.2
	box other 4 10.94.0.3
	known good 10.94.0.1
	known other 10.94.0.1
}

# TARGET...: of one run
reads() { inside good vqpt tail "$@" --count=$READS; }

# COMMAND... -- TARGET...: alone, then while the other one runs that, until it is killed
beside()
{
	local command=() alone
	while [[ $1 != -- ]]; do command+=("$1"); shift; done
	shift
	alone=$(reads "$@")
	serve other "${command[@]}"
	jq -cn --argjson alone "$alone" --argjson beside "$(reads "$@")" '{$alone, $beside}'
	stop_all
}

# ROUNDS TARGET...: the other one has a lower priority, and floods the target
flood()
{
	local i
	vqpctl ns set --netns good --priority high
	vqpctl ns set --netns other --priority low
	for ((i = 0; i < $1; i++)); do
		beside flood write "${@:2}" --bytes=64K --depth=16 -- "${@:2}"
	done
}

# TARGET...: while a process computes, which costs a processor, and nothing of vqp
computing()
{
	local pid
	while :; do :; done & pid=$!
	reads "$@"
	kill $pid
	wait $pid || true
}

# ROUNDS TARGET...: it makes every malformed request there is
malformed()
{
	local i
	vqpctl ns set --netns good --priority normal
	vqpctl ns set --netns other --priority normal
	for ((i = 0; i < $1; i++)); do
		{ beside bad all "${@:2}" -- "${@:2}"; computing "${@:2}"; } | jq -cs '.[0] + {computing: .[1]}'
	done
}

