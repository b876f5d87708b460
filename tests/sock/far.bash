# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/far.bats does on a node. Sourced there.

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

# What the sockets of a node had is gone; trunks stay for those who come next.
no_streams() {
	eventually eval '[[ "$(alive sock) $(alive stream) $(alive chunk)" == "0 0 0" ]]'
}

# NAME ADDRESS SOCKETS: its VQP namespace, with that
turn() {
	vqpctl ns add --netns "/run/netns/$1" --tenant 9 --address "$2" --name "$1" --sockets "$3" --without-policy
}
