# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What rc.bats, pull.bats and others have in common: vqp-a on node 1 and vqp-c on node 2, and links that
# fail between them. What runs on the nodes is in tests/kernel/rc.bash.

helpers=kernel/rc.bash

# PARAMETER...: the module anew, with links for peers that are little busy, and with these
set_up_links() {
	on_each bash /vqp/tests/programs/services unload
	start_services rc_busy=16 "$@"
	on 1 'box vqp-a 9 10.90.0.1'
	on 2 'box vqp-c 9 10.90.0.3'
	on 1 'known vqp-a 10.90.0.3'
}

# COMMAND [OPTION...]: a server on node 2, whose key and address the clients are told.
server() {
	on 2 "serve vqp-c $*"' ; echo $port $key $addr'
}

# NODE: a test whose packets are lost there is skipped where none passes the kernel.
can_lose() { fault opcode "$1" off; }

teardown() {
	fault off
	on 1 stop_all && on 2 'stop_all; can_send_again'
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}
