# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Stream sockets against TCP: what bench/bench does on a node for that. Sourced there; the source tree is /vqp.

# shellcheck source=bench/duel.bash
source /vqp/bench/duel.bash
# shellcheck source=tests/sock/sockets.bash
source /vqp/tests/sock/sockets.bash

# TCP, and IPPROTO_VQP
PROTOCOLS=(6 258)

# NODE: its containers, of which the first is the client
streams_begin()
{
	cp /vqp/build/bench/streams $HERE/
	# who asks for TCP is to get it
	hook N
	bridge "$1"
	if (($1 == 1)); then
		wired near 1 2
		wired beside 1 3
	else
		wired far 2 2
	fi
}

streams_end()
{
	wired_end "$1"
	hook Y
}

# NAME ADDRESS [COMMAND...]: be the other end there, run by that, until stop_streams
serve_streams()
{
	local said=/run/vqp/streams-$1
	rm -f "$said"
	inside "$1" setsid -f "${@:3}" streams serve "$2" "${PROTOCOLS[@]}" < /dev/null > "$said" 2>&1
	eventually grep -qx ready "$said"
}

stop_streams()
{
	pkill -x streams
	eventually no_streams
}

no_streams() { ! pgrep -x 'streams|strace' > /dev/null; }

# ADDRESS ROUNDS NAME...: from the first container
streams_measure() { inside near streams "$1" "${PROTOCOLS[@]}" "${@:2}"; }

# ADDRESS: all system calls of both ends, for one round and for three
streams_calls()
{
	local rounds tracer=(strace -f -c -U 'calls,name' -o)
	PROTOCOLS=("${PROTOCOLS[1]}" "${PROTOCOLS[1]}")
	for rounds in 1 3; do
		serve_streams beside "$1" "${tracer[@]}" /run/calls-served
		inside near "${tracer[@]}" /run/calls-asked streams "$1" "${PROTOCOLS[@]}" "$rounds" rr1k > /dev/null
		stop_streams
		cat /run/calls-served /run/calls-asked | awk -v rounds="$rounds" \
			'$2 == "total" { sum += $1 } END { print "{\"rounds\":", rounds, ", \"calls\":", sum "}" }'
	done
}

# ROUNDS: between containers of this node
streams_same()
{
	serve_streams beside 10.95.1.3
	streams_measure 10.95.1.3 "$1" rr1k rr1k_cpu stream4k few many
	stop_streams
}

# ROUNDS: from a container of this node to one of the other, where serve_streams was
streams_far()
{
	known near 10.95.2.2
	streams_measure 10.95.2.2 "$1" rr1k stream64k first_byte conn_bytes
}

# ROUNDS: between the same, after streams_far
streams_waits() { streams_measure 10.95.2.2 "$1" waits; }
