# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The suites of tests/programs/sockt's cases: where they run. To be loaded after lib/testbed.
#
#   node 1: near 10.95.1.2 --- br-sock --- beside 10.95.1.3
#                                 |
#                                data0
#                                 |
#   node 2: far  10.95.2.2 --- br-sock

# shellcheck disable=SC2034  # on() reads it.
helpers=sock/sockets.bash
NODE_TIMEOUT=900

setup_file() {
	vqp_up
	on 1 'hook N; bridge 1; wired near 1 2; wired beside 1 3'
	on 2 'hook N; bridge 2; wired far 2 2; serve_cases far 10.95.2.2'
	on 1 'known near 10.95.2.2'
}

teardown() {
	on 1 'stop_serving && hook N'
}

teardown_file() {
	on 1 'wired_end 1 && hook Y' && on 2 'wired_end 2 && hook Y'
}

# PROTOCOL GROUP: between containers of one node, and of two
cases() {
	on 1 "cases_here $*"
	on 1 "cases_there $*"
}
