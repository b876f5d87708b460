#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:300
# Devices whose drivers do what soft RoCE does not (tests/programs/liar). `make test-lies` has this, and the suites
# rc, pull and soak where all lies are told.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

helpers=kernel/lies.bash

setup_file() {
	export VQP_LIES=all
	set_up_links
}

# What fails is what receives; the lanes of node 2 have sent nothing since.
@test "a lane that fails without sending is revived when its receives complete" {
	on 2 'lies events=N; serve vqp-c echo-server 720; fail_qps ud'
	on 1 'inside vqp-a vqpt send 10.90.0.3 720 --count=20'
}
@test "a lane that fails without sending is revived when an event is all that tells of it" {
	on 2 'lies events=Y; serve vqp-c echo-server 720; fail_qps ud'
	on 1 'inside vqp-a vqpt send 10.90.0.3 720 --count=20'
}
@test "lanes that fail time and again cost no request" {
	on_each bash -c 'source /vqp/tests/kernel/lies.bash; lies psn=N stopped=N'
	on 1 "weave 10.90.0.3 $(server weave-server 710)"
	on 2 'for _ in {1..10}; do fail_qps ud; sleep 0.3; done'
	on 1 woven_end
	on_each bash -c 'source /vqp/tests/kernel/lies.bash; lies psn=Y stopped=Y'
}
@test "where a queue pair that was stopped tells of no progress, what may have been carried out is not repeated" {
	can_lose 1
	on_each bash -c 'source /vqp/tests/kernel/lies.bash; lies psn=N stopped=Y'
	on 1 "weave 10.90.0.3 $(server weave-server 712)"
	on 1 'lose 0x11; eventually woven_ended || { lose_no_more; false; }
		lose_no_more; grep "completed with status 12" $woven-vqp-a'
	# the server has seen nothing wrong
	on 2 'pgrep -x vqpt'
	on_each bash -c 'source /vqp/tests/kernel/lies.bash; lies psn=Y'
}

# A target looks for progress each minute.
@test "a link that is used is not taken for dead where the PSN does not move" {
	target=$(server mem-server 711)
	NODE_TIMEOUT=400 on 1 "serve vqp-a flood read 10.90.0.3 $target --bytes=64 --depth=1; stays_up 130"
}
@test "where the PSN does not move, a link carries READs, and its failure costs no request" {
	target=$(server mem-server 711)
	on 1 "serve vqp-a flood read 10.90.0.3 $target --bytes=64 --depth=8; goes_on"
	failures=$(on 1 'events rc_failures')
	on 2 'fail_qps rc'
	on 1 "eventually more_than rc_failures $failures; goes_on; pgrep -x vqpt"
}
