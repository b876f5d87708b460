#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,strings,virtual,long,budget:120
# Words that one side writes while the other reads them, on processors that copy byte by byte.

bats_require_minimum_version 1.5.0
load ../lib/testbed
load links

# The rc carrier leaves copies to the device, and soft RoCE does not do them by words.
setup_file() {
	set_up_links rc_max=0
	on 1 'box vqp-b 9 10.90.0.2'
}

# NODE BOX ADDRESS BYTES CHANGES: with a server there, until so many changes were seen
no_word_is_torn() {
	local server
	server=$(on "$1" "serve $2 words-server 700 --bytes=$4"' ; echo $key $addr')
	on 1 "inside vqp-a vqpt words $3 700 $server --bytes=$4 --count=$5"
}

@test "the processors copy by string instructions" {
	on_each grep -qw erms /proc/cpuinfo
}
@test "on one node a word is never seen half written" { no_word_is_torn 1 vqp-b 10.90.0.2 8 2000; }
@test "on one node the last word of 64 bytes is seen after the others" { no_word_is_torn 1 vqp-b 10.90.0.2 64 2000; }
@test "from another node a word is never seen half written" { no_word_is_torn 2 vqp-c 10.90.0.3 8 200; }
@test "from another node the last word of 64 bytes is seen after the others" { no_word_is_torn 2 vqp-c 10.90.0.3 64 200; }
