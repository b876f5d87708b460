# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/kinds.bats, rules.bats and hook.bats do on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

# Two containers on a bridge, as engines make them: 10.91.0.1 and 10.91.0.2, of one tenant.
boxes() {
	local name n=0
	ip link add socks type bridge
	ip link set socks up
	for name in sock-a sock-b; do
		((++n))
		ip netns add "$name"
		ip link add "sock$n" type veth peer name eth0 netns "$name"
		ip link set "sock$n" up master socks
		ip -n "$name" link set lo up
		ip -n "$name" link set eth0 up
		ip -n "$name" address add "10.91.0.$n/24" dev eth0
		ip -n "$name" address add "fd91::$n/64" dev eth0 nodad
		give "$name" "$n" on
	done
}

# NAME N SOCKETS: its VQP namespaces, with that.
give() {
	local address
	for address in "10.91.0.$2" "fd91::$2"; do
		vqpctl ns add --netns "/run/netns/$1" --tenant 9 --address "$address" --name "$1" --sockets "$3" --without-policy
	done
}

# Y or N: do programs that ask for TCP get such sockets?
hook() { echo "$1" >/sys/module/vqp/parameters/hook; }

no_boxes() {
	stop_socks
	remove_boxes
	ip link del socks
}

# NAME WORD...: what kinds.py does with them in that network namespace.
sock() { inside "$1" /vqp/tests/sock/kinds.py "${@:2}"; }

# the programs that have sockets
SOCKS='tests/sock/([k]inds|[h]ostile)\.py'

stop_socks() {
	rm -f /run/vqp/go* /run/vqp/background
	pkill -9 -f "$SOCKS" || return 0
	eventually eval '! pgrep -f "$SOCKS"'
}

# NEAR TCP COMMAND...: so many sockets get connections of these kinds meanwhile.
kinds() {
	local near tcp
	near=$(events sock_near) tcp=$(events sock_tcp)
	"${@:3}"
	near=$(($(events sock_near) - near)) tcp=$(($(events sock_tcp) - tcp))
	[[ "$near $tcp" == "$1 $2" ]] || { echo "near $near, TCP $tcp; not $1 and $2" >&2; return 1; }
}

# COMMAND...: sets spun and vain: how often a receive spins meanwhile until bytes come, and how often in vain.
spins() {
	spun=$(events sock_spun) vain=$(events sock_spun_in_vain)
	"$@"
	spun=$(($(events sock_spun) - spun)) vain=$(($(events sock_spun_in_vain) - vain))
	echo "$spun spun until bytes came, $vain in vain"
}

# MIN COMMAND...: at least so many of its receives need not sleep.
spins_at_least() {
	spins "${@:2}"
	((spun >= $1))
}

# MAX COMMAND...: at most so many of its receives spin at all.
spins_at_most() {
	spins "${@:2}"
	((spun + vain <= $1))
}

# COMMAND...: it gets descriptors that lead into a cgroup with 1 % of a processor (8), and out of it (9).
starve() {
	local group=/sys/fs/cgroup/starve
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p "$group"
	echo '1000 100000' >"$group/cpu.max"
	"$@" 8>"$group/cgroup.procs" 9>/sys/fs/cgroup/cgroup.procs
	rmdir "$group"
}

# COMMAND...: there are busy polls by epoll meanwhile. It gets a descriptor that has all epolls do so, until its end (8).
polled() {
	local polled status=0 sysctl=/proc/sys/net/core/busy_poll
	polled=$(events sock_polled)
	"$@" 8>"$sysctl" || status=$?
	echo 0 >"$sysctl"
	polled=$(($(events sock_polled) - polled))
	echo "$polled busy polls"
	((!status && polled > 0))
}

# NAME FLAGS EXPECTED ADDRESS PORT: the calls of <vqp/raas.h> with these flags do not connect, or send, and say that
raas_fails() {
	local got run=0
	got=$(inside "$1" vqpt --bytes=1000 raas "$4" "$5" "$2" 2>&1) || run=$?
	[[ $run != 0 && $got == "vqpt: $3" ]] || { echo "'$got', not 'vqpt: $3'" >&2; return 1; }
}

# FILE: what waits for it goes on, and comes to its end.
go() {
	touch "$1"
	eventually test -e "$1.done" || { background_said >&2; return 1; }
}

# What has become of those in the background, and of all connections.
background_said() {
	cat /run/vqp/background
	ip -all netns exec ss -tanoi
}

# No socket, connection or page of theirs is left.
nothing_left() {
	eventually eval '[[ "$(alive sock) $(alive stream) $(alive chunk)" == "0 0 0" ]]'
}

# SOCKETS: both boxes have their VQP namespaces, with that.
give_all() { give sock-a 1 "$1" && give sock-b 2 "$1"; }

# ADDRESS: what the sockets of that namespace have done: near, far, tcp, ruled out, broken, bytes sent and received
tallies() {
	vqpctl ns list --json | jq -ce --arg gid "::ffff:$1" '[.[] | select(.gid == $gid).counters[] | select(.name | startswith("sock_")).value]'
}

# TALLIES ADDRESS: by how much they have grown since
since() { tallies "$2" | jq -ce --argjson before "$1" '[., $before] | transpose | map(.[0] - .[1])'; }

# GROWTH ADDRESS COMMAND...: by so much they grow meanwhile.
tallied() {
	local before
	before=$(tallies "$2")
	"${@:3}"
	[[ $(since "$before" "$2") == "$1" ]] || { echo "$(since "$before" "$2"); not $1" >&2; return 1; }
}

# ADDRESS JQ: the namespace is so.
namespace_is() { vqpctl ns list --json | jq -e --arg gid "::ffff:$1" "any(.[]; .gid == \$gid and ($2))"; }
