# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # helpers is lib/testbed.bash's
# The nodes of the suites of far connections, which load it.
#
#   node 1: near 10.95.1.2 --- br-sock
#                                 |
#                                data0
#                                 |
#   node 2: far  10.95.2.2 --- br-sock

helpers=sock/far.bash

setup_file() {
	vqp_up
	on 1 'hook N; bridge 1; wired near 1 2'
	on 2 'hook N; bridge 2; wired far 2 2'
	on 1 'known near 10.95.2.2'
	on 2 'known far 10.95.1.2'
}

teardown() {
	fault off && on_each bash -c 'source /vqp/tests/sock/far.bash; stop_socks && stop_all' &&
		on 1 'turn near 10.95.1.2 on' && on 2 'turn far 10.95.2.2 on' &&
		on_each bash -c 'source /vqp/tests/sock/far.bash; no_streams'
}

teardown_file() {
	on 1 'wired_end 1; hook Y' && on 2 'wired_end 2; hook Y'
}
