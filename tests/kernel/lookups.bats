#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,long,budget:180
# What many VQPs, and those of a hostile function, may cost meta servers and others that look addresses up. The meta
# server is on node 1, and whoever asks it is on node 2.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/lookups.bash

setup_file() {
	on_each bash /vqp/tests/programs/services unload
	# What is silent is so for long: 20 s. A process that waits for it at each of its VQPs takes many times that.
	start_services giveup_ms=20000
	on 1 'box lookups-a 13 10.97.0.1'
	on 2 'box lookups-b 13 10.97.0.2; box lookups-c 14 10.97.0.3'
	on 2 'known lookups-b 10.97.0.1'
}

teardown() {
	fault off
	on 1 stop_all && on 2 'rm -f /run/vqp/asking; stop_all; vqpctl ns set --netns lookups-b --max-rate unlimited'
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

@test "an address that nobody has is looked up once for all who ask at a time" {
	fault partition 1
	on 2 'looks_up_at_most 5 asks_at_once 200 lookups-b 10.97.9.9'
}
@test "an address that was not there is found soon after it has come" {
	on 2 '! inside lookups-b vqpt send 10.97.0.4 700 && touch /run/vqp/not-there'
	on 1 'box lookups-d 13 10.97.0.4; serve lookups-d echo-server 700'
	on 2 'test -e /run/vqp/not-there && eventually inside lookups-b vqpt send 10.97.0.4 700'
}
@test "VQPs whose target falls silent look it up once for all" {
	on 1 'serve lookups-a echo-server 700; kill -STOP $pid'
	on 2 'storm lookups-b 10.97.0.1 700 500'
	fault partition 1
	on 2 'looks_up_at_most 20 sleep 3; storm_ends_within 20'
}
@test "a process with 5,000 VQPs whose target and meta server are silent waits for none of them when it is killed" {
	on 2 tells_by_probes || skip "this kernel has no events by kprobes"
	on 1 'serve lookups-a echo-server 700 --bytes=4000; kill -STOP $pid'
	# Requests that a rate holds back do not fail, however long the machine takes to post all of them; some 16 a
	# second are sent. The target has contexts for the first two thousand.
	on 2 'vqpctl ns set --netns lookups-b --max-rate 64K'
	NODE_TIMEOUT=300 on 2 'storm lookups-b 10.97.0.1 700 5000 4000'
	fault partition 1
	NODE_TIMEOUT=300 on 2 'storm_ends_without_lookups lookups-b 5000'
}
@test "who asks for what nobody has does not keep another tenant waiting" {
	on 1 'box lookups-e 14 10.97.0.5; serve lookups-e echo-server 700'
	on 2 'asks_for_many lookups-b; eventually inside lookups-c vqpt send 10.97.0.5 700'
}
@test "a tenant has four lookups under way at most, and another tenant's begin beside them" {
	on 2 'eventually is_answered lookups-b'
	fault partition 1
	on 2 'begin 4 lookups-b 10.98.1.{1..9}; begin 1 lookups-c 10.98.1.1'
}
@test "who wants to know what another waits to look up looks it up himself, if he may" {
	on 2 'box lookups-f 13 10.97.0.6; eventually is_answered lookups-b'
	fault partition 1
	on 2 'begin 4 lookups-b 10.98.2.{1..4}; begin 0 lookups-b 10.98.2.5; begin 1 lookups-f 10.98.2.5'
}
@test "a tenant's 2,000 VQPs whose target and meta server are silent do not keep another's from ending" {
	on 1 'serve lookups-a echo-server 700; kill -STOP $pid'
	on 2 'box lookups-g 14 10.97.0.7; serve lookups-g echo-server 700'
	on 2 'eventually is_answered lookups-c; storm lookups-b 10.97.0.1 700 2000'
	fault partition 1
	on 2 'sleep 3; end_beside_storm lookups-c 10.97.0.7 700'
}
