#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,budget:120
# Stream sockets of a namespace that has them on for some ports and peers only: its rules decide the
# kind of a connection, at either end.
#
#   sock-a 10.91.0.1 fd91::1 ── veth ── socks (bridge) ── veth ── sock-b 10.91.0.2 fd91::2

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/kinds.bash

setup_file() {
	vqp_up
	on 1 boxes
}

teardown() {
	on 1 'stop_socks && give_all on && nothing_left'
}

teardown_file() {
	on 1 no_boxes
}

@test "a port that is out is of TCP, by the rules of who connects or of who listens" {
	on 1 'sock sock-b serve 10.91.0.2 7000; sock sock-b serve 10.91.0.2 7001
		for box in sock-a sock-b; do
			give_all on; vqpctl ns set --netns "$box" --sockets except:7001-7005,6000
			kinds 2 0 sock sock-a talk 10.91.0.2 7000; kinds 0 2 sock sock-a talk 10.91.0.2 7001
			vqpctl ns set --netns "$box" --sockets only:22,7001
			kinds 0 2 sock sock-a talk 10.91.0.2 7000; kinds 2 0 sock sock-a talk 10.91.0.2 7001
		done'
}

@test "the port of who connects does not count" {
	on 1 'sock sock-b serve 10.91.0.2 7000; give_all only:7000; kinds 2 0 sock sock-a talk 10.91.0.2 7000'
}

@test "ranges have both their ends" {
	on 1 'for port in 6999 7000 7002 7003; do sock sock-b serve 10.91.0.2 "$port"; done
		give sock-a 1 only:7000-7002
		kinds 0 2 sock sock-a talk 10.91.0.2 6999; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		kinds 2 0 sock sock-a talk 10.91.0.2 7002; kinds 0 2 sock sock-a talk 10.91.0.2 7003'
}

@test "a peer that is out is of TCP, by the rules of who connects or of who listens" {
	on 1 'sock sock-b serve :: 7000
		give sock-a 1 except:10.91.0.2; kinds 0 2 sock sock-a talk 10.91.0.2 7000; kinds 2 0 sock sock-a talk fd91::2 7000
		give sock-a 1 only:fd91::/64; kinds 0 2 sock sock-a talk 10.91.0.2 7000; kinds 2 0 sock sock-a talk fd91::2 7000
		give sock-a 1 on
		give sock-b 2 except:10.0.0.0/8; kinds 0 2 sock sock-a talk 10.91.0.2 7000; kinds 2 0 sock sock-a talk fd91::2 7000
		give sock-b 2 only:fd91::1; kinds 0 2 sock sock-a talk 10.91.0.2 7000; kinds 2 0 sock sock-a talk fd91::2 7000'
}

@test "a prefix counts to its last bit, and is of the peer, not of its own address" {
	on 1 'sock sock-b serve 10.91.0.2 7000
		give sock-b 2 only:10.91.0.0/31; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-b 2 on; give sock-a 1 only:10.91.0.0/31; kinds 0 2 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 only:10.91.0.0/30; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 only:0.0.0.0/0; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 except:any; kinds 0 2 sock sock-a talk 10.91.0.2 7000'
}

@test "with ports and peers both must be in, and none out" {
	on 1 'sock sock-b serve :: 7000; sock sock-b serve :: 7001
		give sock-a 1 only:7000,7001,fd91::/64,10.92.0.0/16,except:7001
		kinds 2 0 sock sock-a talk fd91::2 7000; kinds 0 2 sock sock-a talk 10.91.0.2 7000
		kinds 0 2 sock sock-a talk fd91::2 7001'
}

@test "what is set replaces all rules, and what does not speak of sockets none" {
	on 1 'sock sock-b serve 10.91.0.2 7000
		sockets() { vqpctl ns list --json | jq -c ".[] | select(.gid == \"::ffff:10.91.0.1\").sockets"; }
		give sock-a 1 only:22,7000; vqpctl ns set --netns sock-a --max-vqps 5
		vqpctl ns add --netns sock-a --tenant 9 --address 10.91.0.1 --max-vqps 6 --without-policy
		[ "$(sockets)" = "{\"only\":[\"22\",\"7000\"]}" ]; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 except:080,10.91.0.0/30; [ "$(sockets)" = "{\"except\":[\"80\",\"10.91.0.0/30\"]}" ]
		kinds 0 2 sock sock-a talk 10.91.0.2 7000
		vqpctl ns list | grep "10.91.0.1 .* except:80,10.91.0.0/30$"
		give sock-a 1 only:7001,22,7000,7001; [ "$(sockets)" = "{\"only\":[\"22\",\"7000-7001\"]}" ]
		kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 on; [ "$(sockets)" = true ]; kinds 2 0 sock sock-a talk 10.91.0.2 7000
		give sock-a 1 off; [ "$(sockets)" = false ]; sock sock-a no_socket
		vqpctl ns set --netns sock-a --max-vqps unlimited'
}

@test "a connection goes on when rules put it out, and the next is of TCP" {
	on 1 'sock sock-b serve 0.0.0.0 7000 258 "" /run/vqp/go-b
		kinds 1 0 sock sock-a talk_connected 10.91.0.2 7000 /run/vqp/go
		give_all except:7000; kinds 1 0 eval "touch /run/vqp/go-b; go /run/vqp/go"
		kinds 0 2 sock sock-a talk 10.91.0.2 7000'
}

@test "64 rules are taken, shown and counted, in every namespace; with more nothing is set" {
	on 1 'sock sock-b serve :: 7000
		prefixes=$(seq -s , -f "fd91:%g::/64" 62) most=except:$prefixes,22,6999
		give_all "$most"; kinds 2 0 sock sock-a talk fd91::2 7000
		vqpctl ns list --json | jq -e "[.[] | select(.sockets | type == \"object\") | .sockets.except | length] == [64, 64, 64, 64]"
		give sock-a 1 "except:$prefixes,22,7000"; kinds 0 2 sock sock-a talk fd91::2 7000
		run=0; said=$(vqpctl ns set --netns sock-a --sockets "$most,23" 2>&1) || run=$?
		((run == 64)); [[ $said == "vqpctl: --sockets: \"sockets\" has 65 ports and subnets, and at most 64 can be: take larger ones" ]]
		kinds 0 2 sock sock-a talk fd91::2 7000'
}

@test "lists that make no sense are refused with what does" {
	on 1 'refused() {
			local run=0 said
			said=$(vqpctl ns set --netns sock-a --sockets "$1" 2>&1) || run=$?
			[[ $run == 64 && $said == "vqpctl: --sockets: "*"$2"* ]] || { echo "$1: $run, $said" >&2; return 1; }
		}
		refused yes "sockets are \"on\", \"off\", or as \"only:80,"
		refused 80 "sockets are \"on\", \"off\", or as \"only:80,"
		refused only:0 "\"8000-8999\""; refused only:90-80 "\"8000-8999\""; refused except:65536 "\"8000-8999\""
		refused except:80,::/0 "\"::/0\" has all of IPv4 in it, too: \"any\""
		refused only:80,10.91.0.1/24 "not \"10.91.0.1/24\""; refused only: "not \"\""
		sock sock-b serve 10.91.0.2 7000; kinds 2 0 sock sock-a talk 10.91.0.2 7000'
}
