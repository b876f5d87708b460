# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/far.bats and far-time.bats do on a node. Sourced there.

# shellcheck source=tests/sock/sockets.bash
source /vqp/tests/sock/sockets.bash
# shellcheck source=tests/sock/kinds.bash
source /vqp/tests/sock/kinds.bash

# FAR TCP COMMAND...: so many sockets of this node get connections of these kinds meanwhile.
ways() {
	local far tcp
	far=$(events sock_far) tcp=$(events sock_tcp)
	"${@:3}"
	far=$(($(events sock_far) - far)) tcp=$(($(events sock_tcp) - tcp))
	[[ "$far $tcp" == "$1 $2" ]] || { echo "far $far, TCP $tcp; not $1 and $2" >&2; return 1; }
}

# COMMAND...: this node sends parcels meanwhile, and fetches those of others.
by_parcels() {
	local sent fetched
	sent=$(events sock_parcels) fetched=$(events sock_fetched)
	"$@"
	sent=$(($(events sock_parcels) - sent)) fetched=$(($(events sock_fetched) - fetched))
	((sent > 9 && fetched > 9)) || { echo "parcels: $sent were sent, $fetched fetched" >&2; return 1; }
}

# FILE: what waits for it goes on, and comes to its end, however long a packet was not sent again.
goes_on() {
	touch "$1"
	within 60 test -e "$1.done"
}

# FILE ERROR: a `told` that waits for it, or waits no more, is told so
is_told() {
	touch "$1"
	within 60 eval "[[ \$(<$1.done) == $2 ]]"
}

# SIGNAL: to what sockets' processes of this node there are
signal_socks() { pkill "-$1" -f "$SOCKS"; }

# What the sockets of a node had is gone; trunks stay for those who come next.
no_streams() {
	eventually eval '[[ "$(alive sock) $(alive stream) $(alive chunk)" == "0 0 0" ]]'
}

# NAME ADDRESS SOCKETS: its VQP namespace, with that
turn() {
	vqpctl ns add --netns "/run/netns/$1" --tenant 9 --address "$2" --name "$1" --sockets "$3" --without-policy
}

# PORT JQ: of the far connections of this node to there
ss_of() { vqpctl ss --json | jq -e --argjson port "$1" "map(select(.kind == \"far\" and .remote_port == \$port)) | $2"; }

# PORT JQ: all of them are so, and there is one.
far_to() { ss_of "$1" "length > 0 and all(.[]; $2)"; }
