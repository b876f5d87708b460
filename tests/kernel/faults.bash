# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/faults.bats does on a node: programs that run while something goes
# wrong. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source "${BASH_SOURCE[0]%/*}/../lib/vqp.bash"

run=/run/faults
mkdir -p $run
export -f inside

# JOB COMMAND...: start it; it goes on when this shell has ended.
begin() {
	rm -f "$run/$1".*
	# shellcheck disable=SC2016 # expanded by the shell that stays
	setsid -f bash -c 'echo $$ >"$0.pid"; status=0; "$@" || status=$?; echo $status >"$0.status"' \
		"$run/$1" "${@:2}" >"$run/$1.log" 2>&1 </dev/null
}

# JOB: it has ended.
ended() { [[ -s $run/$1.status ]]; }

running() { ! ended "$1"; }

# JOB: its exit status, once it has ended. A minute is far beyond all of the module's time-outs.
outcome() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		ended "$1" && break
		sleep 0.2
	done
	cat "$run/$1.log"
	ended "$1" || { echo "$1 has not ended" >&2; return 99; }
	return "$(<"$run/$1.status")"
}

# JOB PATTERN: it ends with an error, whose text ends so.
fails_with() {
	local text
	if text=$(outcome "$1"); then
		echo "$1 has not failed: $text" >&2
		return 1
	fi
	[[ $text =~ ($2)$ ]] || { echo "$1: $text" >&2; return 1; }
}

# How many requests were posted on this node.
posted() { vqpctl status --json | jq '.counters[] | select(.name == "send") | .made'; }

# What there is is known, and the kernel tells other nodes nothing meanwhile: of what went wrong before, or of a link
# that is let go.
rests() { census >$run/census && grep -q '"send":0' $run/census; }

# Requests follow one another.
busy() {
	local before
	before=$(posted)
	sleep 0.2
	(($(posted) > before + 1))
}

# JOB ADDRESS PORT: reads from a mem-server, until something is wrong. There is always one under
# way, and no more, so that the node's one processor has time for others.
read_on() {
	local readable
	{ read -r; read -ra readable; } <"$run/memory"
	begin "$1" inside fault-a vqpt read "$2" "$3" "${readable[@]}" --bytes=20000 \
		--count=100000000 --timeout=60000
	goes_on "$1"
}

# JOB: it reads, or has overcome what went wrong.
goes_on() {
	eventually eval "ended $1 || busy"
	running "$1" || { outcome "$1"; false; }
}

# ADDRESS: messages, writes and reads, small and large; every byte is verified.
transfers() {
	local written readable
	{ read -ra written; read -ra readable; } <"$run/memory"
	inside fault-a vqpt send "$1" 700 --bytes=64 --count=500 --depth=16 --imm
	inside fault-a vqpt send "$1" 700 --bytes=60000 --count=10 --depth=4
	inside fault-a vqpt write "$1" 701 "${written[@]}" --bytes=300000 --count=2
	inside fault-a vqpt read "$1" 702 "${readable[@]}" --bytes=300000 --count=2
}

# NAME: the servers that transfers() talks to; prints where their memory is.
serve_transfers() {
	serve "$1" mem-server 701 --bytes=300000
	echo "$key $addr"
	serve "$1" mem-server 702 --bytes=300000
	echo "$key $addr"
	serve "$1" echo-server 700 --bytes=100000 --depth=32
}

# What netem has dropped on the way out.
dropped() { tc -s -j qdisc show dev "$link" | jq '.[0].drops'; }

lookup_can_be_killed() {
	vqpctl cache flush
	inside fault-c vqpt send 10.91.0.1 700 & pid=$!
	eventually in_use fault-c
	sleep 0.5
	kill -9 $pid
	for ((i = 0; i < 10; i++)); do
		kill -0 $pid 2>/dev/null || return 0
		sleep 0.1
	done
	echo "it is still there"
	return 1
}

no_memory_leaves_nothing() {
	before=$(census)
	mkdir -p /sys/fs/cgroup/faults
	echo 4M >/sys/fs/cgroup/faults/memory.max
	begin hungry bash -c "echo \$\$ >/sys/fs/cgroup/faults/cgroup.procs
		exec ip netns exec fault-a vqpt storm 10.91.0.3 701 --bytes=8 --count=100000 --depth=16384"
	status=0
	outcome hungry || status=$?
	((status == 1 || status == 137))	# refused or killed
	inside fault-a vqpt send 10.91.0.3 700 --count=100
	eventually census_is "$before"
	eventually rmdir /sys/fs/cgroup/faults
}
