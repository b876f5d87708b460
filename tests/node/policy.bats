#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,heart,budget:90
# The policy of a node: what no rule names is refused, whoever asks; and what vqpctl policy says and writes. What runs on
# the node is in tests/node/policy.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=node/policy.bash

setup_file() {
	vqp_up
	on 1 'prepare; keep'
}

teardown() {
	on 1 'clean && eventually has_namespaces 0'
}

teardown_file() {
	on 1 'give_back'
}

@test "without a policy nothing gets a VQP namespace, but root may do without" {
	on 1 without_a_policy
}

@test "what no rule names is refused to vqpctl ns add, and what one names has its limits" {
	on 1 no_rule_for_ns_add
}

@test "vqpctl ns add gives a container the address that it has" {
	on 1 own_address_for_ns_add
}

@test "what no rule names is refused to the hook: no container that CNI has not attached is in a network's rule" {
	on 1 no_rule_for_the_hook
}

@test "what no rule names is refused to the CNI plugin: its configuration chooses no tenant" {
	on 1 no_rule_for_the_plugin
}

@test "sockets: a container has them on by the policy's word, given or let choose, and not by its own" {
	on 1 sockets_for_the_hook
}

@test "sockets: the CNI plugin and vqpctl ns add get what the policy says, and not what they ask for" {
	on 1 sockets_for_others
}

@test "vqpctl policy init writes what the node's files stand for, and replaces nothing unasked" {
	on 1 init
}

@test "vqpctl configure writes a policy where there is none, shows it, and leaves it" {
	on 1 configure
}

@test "vqpctl policy explain says what a container gets, by which rule, and what it has" {
	on 1 explain
}
