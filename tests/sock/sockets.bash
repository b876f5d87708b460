# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/sockets.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source "${BASH_SOURCE[0]%/*}/../lib/vqp.bash"

# where a `sockt serve` is
SERVE_PORT=7200

# what is slow has not failed
[[ $(</proc/sys/kernel/osrelease) != *-debug ]] || export SOCKT_LIMIT_S=300

# Y or N: do programs that ask for TCP get such sockets?
hook() { echo "$1" >/sys/module/vqp/parameters/hook; }

# For how many milliseconds a connect waits for another node
CONNECT_MS=/sys/module/vqp/parameters/connect_ms

# NODE: the bridge of its boxes, from which the other node's are reached. No connection is of TCP because nodes are slow.
bridge() {
	local other=$((3 - $1))

	echo 60000 >$CONNECT_MS
	ip link add br-sock type bridge
	ip address add "10.95.$1.1/24" dev br-sock
	ip address add "fd95:$1::1/64" dev br-sock nodad
	ip link set br-sock up
	echo 1 >/proc/sys/net/ipv4/ip_forward
	echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
	ip route add "10.95.$other.0/24" via "10.77.0.$other"
	ip route add "fd95:$other::/64" via "fd77::$other"
}

# NAME NODE NUMBER [TENANT]: a box whose sockets may go by vqp, with an interface on that node's bridge, at
# 10.95.NODE.NUMBER and fd95:NODE::NUMBER
wired() {
	box "$1" "${4-9}" "10.95.$2.$3"
	vqpctl ns set --netns "/run/netns/$1" --sockets on
	plugged "$@"
}

# NAME NODE NUMBER: the network namespace has such an interface
plugged() {
	ip link add "$1" type veth peer name eth0 netns "$1"
	ip link set "$1" master br-sock up
	inside "$1" ip link set lo up
	inside "$1" ip address add "10.95.$2.$3/24" dev eth0
	inside "$1" ip address add "fd95:$2::$3/64" dev eth0 nodad
	inside "$1" ip link set eth0 up
	inside "$1" ip route add default via "10.95.$2.1"
	inside "$1" ip route add default via "fd95:$2::1"
}

# NAME ADDRESS: others may run cases against it, until stop_serving
serve_cases() {
	inside "$1" setsid -f sockt "--far=$2" "--port=$SERVE_PORT" serve </dev/null >"/run/vqp/sockt-$1.log" 2>&1
	eventually is_served "$1"
}

is_served() { inside "$1" ss -Hltn "sport = :$SERVE_PORT" | grep -q .; }

stop_serving() {
	pkill -9 -x sockt || return 0
	eventually gone_sockt
}

gone_sockt() { ! pgrep -x sockt; }

# What does not hold for vqp: TCP's table does not know the ports of near and far connections; and what a listener has
# accepted by TCP is a socket of TCP. docs/sockets.md has more of both.
declare -A differs=(["258 near"]="bind-of-client,bind-restart" ["258 far"]="bind-of-client,bind-restart"
	["258 tcp"]="option-identity")

# PROTOCOL KIND ARGUMENT...: sockt there, where connections by vqp are of that kind; $SHOWN: what SO_PROTOCOL tells, if it
# is another
cases_of_kind() {
	local shown=${SHOWN-$1}
	inside near sockt "--protocol=$1" "--shown=$shown" "--differs=${differs["$shown $2"]-}" "${@:3}"
}

# GROUP...: between two boxes of this node, by programs that ask for TCP and get sockets of vqp
cases_hooked() {
	hook Y
	SHOWN=258 cases_here 0 "$@"
	SHOWN=258 cases_here 6 "$@"
}

# PROTOCOL GROUP...: between two boxes of this node
cases_here() {
	cases_of_kind "$1" near --near=10.95.1.2 --far=10.95.1.3 --netns=/run/netns/beside "${@:2}"
}

# PROTOCOL GROUP...: the same by IPv6, and so by TCP, since these addresses are of no VQP namespace
cases_here6() {
	cases_of_kind "$1" tcp --near=fd95:1::2 --far=fd95:1::3 --netns=/run/netns/beside "${@:2}"
}

# PROTOCOL GROUP...: from a box of this node to one of the other
cases_there() {
	cases_of_kind "$1" far --near=10.95.1.2 --far=10.95.2.2 "--port=$SERVE_PORT" "${@:2}"
}

# PROTOCOL GROUP...: in a box alone, by the loopback address
cases_loopback() {
	cases_of_kind "$1" tcp "${@:2}"
}

# NODE
wired_end() {
	local name

	stop_serving
	echo 300 >$CONNECT_MS
	for name in near beside far calm; do
		ip link del "$name" 2>/dev/null || true
	done
	remove_boxes
	ip link del br-sock
	ip route del "10.95.$((3 - $1)).0/24"
	ip route del "fd95:$((3 - $1))::/64"
}
