#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:600
# The services of examples/ under Docker, where nothing but the runtime and the policy is vqp's: what they answer where
# the policy has no sockets, and their connections are of TCP, they answer where it has, and their connections go by
# vqp. Clients of node 1 ask servers of both nodes. What runs on the nodes is in services.bash.
# `make test-containers` runs it.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=containers/services.bash
NODE_TIMEOUT=600

setup_file() {
	vqp_up
	on_each bash -c 'source /vqp/tests/containers/services.bash; services'
}

teardown() {
	remove_services
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/containers/services.bash; services_end'
}

# SOCKETS: both nodes have containers of all services, by a policy with that; $here and $there are where node 1 finds the
# servers of each
have() {
	on_each bash -c "source /vqp/tests/containers/services.bash; have $1"
	mapfile -t here < <(on 1 addresses)
	if [ "$1" = true ]; then
		mapfile -t there < <(on 2 addresses)
		on 1 "is_known ${there[3]}"
	else
		mapfile -t there < <(on 2 published)
	fi
}

remove_services() {
	on_each bash -c 'source /vqp/tests/containers/services.bash; none'
}

@test "gRPC in Go, C++ and Python: each client with each server, by TCP and by vqp" {
	have false
	on 1 "all_digest TCP here-tcp ${here[*]}; all_digest TCP there-tcp ${there[*]}"
	remove_services
	have true
	on 1 "all_digest near here-vqp ${here[*]}; all_digest far there-vqp ${there[*]}
		for name in there-tcp here-vqp there-vqp; do diff \$answers/here-tcp \$answers/\$name; done"
}

@test "gRPC: vqpctl ss shows the connection of a client that waits" {
	have true
	for language in 0:go 1:cc 2:python; do
		on 1 "shows_who_waits near ${language#*:} ${here[${language%:*}]}
			shows_who_waits far ${language#*:} ${there[${language%:*}]}"
	done
}

@test "redis: a function's notes, by TCP and by vqp" {
	have false
	on 1 "guestbook init <<<'{}'; by TCP notes ${here[3]} here-tcp; by TCP notes ${there[3]} there-tcp"
	remove_services
	have true
	on 1 "guestbook init <<<'{}'; by near notes ${here[3]} here-vqp; by far notes ${there[3]} there-vqp
		for name in there-tcp here-vqp there-vqp; do diff \$answers/here-tcp \$answers/\$name; done"
}
