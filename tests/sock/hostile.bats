#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:600
# Functions that mean harm by stream sockets: what they have is bounded and charged to them, another tenant's requests
# on the same two nodes are answered meanwhile, and nothing is left when they are gone.
#
#   node 1: near 10.95.1.2, calm 10.95.1.4 --- br-sock
#                                                |
#                                               data0
#                                                |
#   node 2: far  10.95.2.2, calm 10.95.2.4 --- br-sock
#
# near and far are of the hostile tenant.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/hostile.bash

# for how many seconds requests are counted
SECONDS_EACH=5

setup_file() {
	vqp_up
	on 1 'hook N; bridge 1; wired near 1 2; wired calm 1 4 10'
	on 2 'hook N; bridge 2; wired far 2 2; wired calm 2 4 10'
	on 1 'known near 10.95.2.2; known calm 10.95.2.4; ip address add 10.77.0.101/24 dev data0'
	on 2 'known far 10.95.1.2; known calm 10.95.1.4'
}

teardown() {
	on_each bash -c 'source /vqp/tests/sock/hostile.bash; contained_end' &&
		on_each bash -c 'source /vqp/tests/sock/hostile.bash; no_streams'
}

teardown_file() {
	on 1 'ip address del 10.77.0.101/24 dev data0; wired_end 1; hook Y' && on 2 'wired_end 2; hook Y'
}

# [COMMAND]: how many of the other tenant's requests are answered now; meanwhile that runs on node 1, up to its end
answered() { on 1 "${1+$1 &} hostile calm requests 10.95.2.4 7100 $SECONDS_EACH; wait"; }

# Have it said in peace how many are.
in_peace() {
	on 2 'sock calm serve 10.95.2.4 7100'
	peace=$(answered)
}

# [COMMAND]: meanwhile as in peace, but for what the nodes have to do besides: the hostile one has half a processor, of
# two.
undisturbed() {
	local now
	now=$(answered "$@")
	echo "$now requests were answered, $peace in peace"
	((now * 5 >= peace))
}

@test "100,000 sockets: their function is charged for them" {
	in_peace
	on 1 'contained 2048 hostile near opens 100000'
	undisturbed
	on 1 '(($(alive sock) == 100000 && $(charged) > 100000 * 1024))'
}

@test "100,000 sockets are no more than there is memory for" {
	in_peace
	# it is killed, as it has no more
	on 1 'contained 64 hostile near opens 100000 || true; (($(alive sock) < 100000))'
	undisturbed
}

@test "connections that are never read hold no more than their share, and their reader is charged for it" {
	in_peace
	on 2 'contained 512 hostile far reads_none 10.95.2.2 7101'
	on 1 'ways 1000 0 hostile near connects 10.95.2.2 7101 1000 /run/vqp/go'
	on 2 'charged >/run/vqp/charged'
	on 1 'touch /run/vqp/go; within 120 test -e /run/vqp/go.done'
	undisturbed
	# who comes later finds something, too
	on 1 'ways 1 0 sock calm talk 10.95.2.4 7100 1000000'
	# a half of 64 MiB, and a page of each
	on 2 'pages=$(pages); more=$(($(charged) - $(</run/vqp/charged)))
		echo "$pages pages, and $more bytes more are charged"
		((pages > 1000 && pages <= (32 << 20) / 4096 + 1000 && more >= pages * 4096 * 9 / 10))'
}

@test "who floods a listener that accepts nothing fills its backlog, and no more" {
	in_peace
	on 2 'sock far backlog 10.95.2.2 7102'
	on 1 'contained 512 hostile near floods 10.95.2.2 7102'
	undisturbed
	# a backlog of 2 takes 3; and one of the other tenant's
	on 2 'ends_at_most 4'
}

@test "clients that are killed while they connect leave nothing at their server" {
	in_peace
	on 2 'contained 512 hostile far closes 10.95.2.2 7103'
	on 1 'contained 512 hostile near floods 10.95.2.2 7103'
	undisturbed
	on 1 'contained_end'
	on 2 'eventually ends_at_most 1'
	on 1 'eventually ways 1 0 sock near talk 10.95.2.2 7103 0'
}

# Programs cannot do that, since their kernel goes on: a node forges the frames.
@test "connections that are opened and never go on are bounded, and dropped after ten seconds" {
	in_peace
	target=10.95.2.2:701:$(on 2 'contained 512 hostile far closes 10.95.2.2 7104
		events rx_malformed >/run/vqp/malformed
		serve far mem-server 701 --bytes=64K --access=15; echo $key:$addr:65536')
	undisturbed "fuzz-packets --stranger --to 10.77.0.2 --from 10.77.0.101 --target $target --listener 7104 \
		--seed $RANDOM --seconds 15 >/run/vqp/forged 2>&1"
	# what goes on by chance is accepted
	on 2 'echo "$(alive stream) ends, $(alive sock) sockets"; (($(alive stream) > 16)); ends_at_most $((1024 + 100))'
	on 1 'cat /run/vqp/forged; grep -q "packets: [1-9]" /run/vqp/forged'
	on 2 '(($(events rx_malformed) > $(</run/vqp/malformed))); contained_end; stop_all; within 120 ends_at_most 0'
}
