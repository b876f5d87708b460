# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/uapi.bats and tests/kernel/vqp.bats do on a node: network namespaces that
# stand for containers, vqpt in them. Sourced there.

set -eu -o pipefail
# shellcheck source=tests/lib/expect.bash
source "${BASH_SOURCE[0]%/*}/expect.bash"
PATH=${BIN-/vqp/build/bin}:$PATH

# what the link and the RDMA device of the node are called
link=${VQP_LINK-data0} device=${VQP_DEVICE-rxe0}

# what is slow has not failed
[[ $(</proc/sys/kernel/osrelease) != *-debug ]] || export VQPT_TIMEOUT_MS=150000

tracing=/sys/kernel/tracing

# The kernel's tracer is there, and has nothing to tell.
begin_tracing() {
	mountpoint -q "$tracing" || mount -t tracefs tracefs "$tracing"
	echo >"$tracing/trace"
}

# The kernel has events by kprobes.
tells_by_probes() { begin_tracing; [[ -e $tracing/kprobe_events ]]; }

# DEFINITION...: events of the group vqp_test, which kprobes count and trace until end_probes.
begin_probes() {
	begin_tracing
	printf '%s\n' "$@" >"$tracing/kprobe_events"
	echo 1 >"$tracing/events/vqp_test/enable"
}

# They are not traced any more, and what was, and how often each happened, is in /run/vqp/trace and /run/vqp/hits.
end_probes() {
	echo 0 >"$tracing/events/vqp_test/enable"
	cat "$tracing/trace" >/run/vqp/trace
	cat "$tracing/kprobe_profile" >/run/vqp/hits
	echo >"$tracing/kprobe_events"
}

# EVENT: how often it has happened since begin_probes.
hits() { awk -v event="$1" '$1 == event { hits = $2 } END { print hits + 0 }' "$tracing/kprobe_profile"; }

# EVENT COUNT: so often at least.
hits_are() { (($(hits "$1") >= $2)); }

# NAME TENANT ADDRESS: a network namespace with its VQP namespace.
box() {
	ip netns add "$1"
	vqpctl ns add --netns "/run/netns/$1" --tenant "$2" --address "$3" --name "$1"
}

# NAME ADDRESS: wait until NAME reaches a box of another node, which that node's vqpd finds at its next look.
known() { eventually vqpctl ping --netns "$1" --count 1 "$2"; }

# NAME: somebody has opened the device there.
in_use() {
	vqpctl ns list --json | jq -e --arg name "$1" 'any(.[]; .name == $name and .contexts > 0)'
}

# NAME COMMAND...: run it in that network namespace.
inside() { ip netns exec "$@"; }

# EVENT COUNT: it has happened more often than that.
more_than() { (($(events "$1") > $2)); }

# NAME SERVER-COMMAND...: start a vqpt server there; sets pid, port, key, addr.
serve() {
	local words
	words=$(inside "$1" vqpt --background "${@:2}")
	eval "$words"
}

# NAME CASE EXPECTED [TARGET...]: one thing done wrong in NAME gives exactly EXPECTED.
bad() {
	local got
	got=$(inside "$1" vqpt bad "$2" "${@:4}")
	[[ $got == "$3" ]] || { echo "$2 gave '$got', not '$3'" >&2; return 1; }
}

# NAME EXPECTED WHAT [OPTION...]: `vqpt hold` there makes and says exactly that.
holds() {
	local got
	got=$(inside "$1" vqpt hold "${@:3}")
	[[ ${got% pid=*} == "$2" ]] || { echo "hold ${*:3}: '$got', not '$2'" >&2; return 1; }
}

# Kill what tests have left running, and wait until it is gone.
stop_all() {
	pkill -9 -x vqpt || return 0
	eventually eval '! pgrep -x vqpt'
}

remove_boxes() {
	local name
	stop_all
	for name in $(ip netns list | cut -d' ' -f1); do
		ip netns del "$name"
	done
}

# OBJECT: how many of it the module has made and not freed.
alive() {
	vqpctl status --json | jq -e --arg name "$1" '.counters[] | select(.name == $name) | .made - .freed'
}

# EVENT: how often it happened.
events() {
	vqpctl status --json | jq -e --arg name "$1" '.counters[] | select(.name == $name) | .value'
}

# PORT COUNT: the VQP bound to PORT has received so many messages.
has_received() {
	vqpctl vqps --json | jq -e --argjson port "$1" --argjson count "$2" \
		'any(.[]; .state == "bound" and .port == $port and .rx_msgs == $count)'
}

# What is alive of each kind of object, on one line. The host's own services hold a constant few.
alive_all() {
	vqpctl status --json | jq -ec '[.counters[] |
		select(.made and (.name | IN("peer", "cache", "deferred", "held", "kernel_vqp", "link", "rc_target", "rkey", "window") | not)) |
		{key: .name, value: (.made - .freed)}] | from_entries'
}

# The same, when what has just ended is gone: for a while nothing has changed.
census() {
	local before='' now same=0 tries
	for ((tries = 0; tries < 60 && same < 3; tries++)); do
		now=$(alive_all) || return
		((++same))
		[[ $now == "$before" ]] || same=0
		before=$now
		sleep 0.25
	done
	((same == 3)) && echo "$now"
}

# CENSUS: there is as much as then again.
census_is() { [[ $(alive_all) == "$1" ]]; }

# Kernel memory that is not given back, in KiB.
slab_kib() { awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo; }
