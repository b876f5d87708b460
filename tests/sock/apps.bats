#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,apps,long,budget:1800
# Programs of Debian as they are: what they say by stream sockets of vqp is what they say by TCP. `near` asks servers in
# `beside`, on its own node, in `far`, on another, and in `bare`, where there is no vqp; `near-plain` asks `beside-plain`
# and `bare` the same by TCP. `make test-apps` runs it.
#
#   node 1: near 10.95.1.2, near-plain 10.95.1.4 --- br-sock --- beside 10.95.1.3, beside-plain 10.95.1.5
#                                                      |
#                                                    data0
#                                                      |
#   node 2:                                         br-sock --- far 10.95.2.2, bare 10.95.2.3

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=sock/apps.bash
NODE_TIMEOUT=1200

servers='iperf3 nginx redis memcached postgres etcd sockperf grpc'

setup_file() {
	vqp_up
	on 1 'hook Y; bridge 1; wired near 1 2; wired beside 1 3; wired near-plain 1 4; wired beside-plain 1 5; off near-plain beside-plain'
	on 2 'hook Y; bridge 2; wired far 2 2; ip netns add bare; plugged bare 2 3'
	on 1 'known near 10.95.2.2; for name in near near-plain beside beside-plain; do rooted "$name"; done'
	on 2 'rooted far; rooted bare'
	on 1 "serve_apps beside 10.95.1.3 $servers; serve_apps beside-plain 10.95.1.5 $servers" &
	on 2 "serve_apps far 10.95.2.2 $servers; serve_apps bare 10.95.2.3 $servers"
	wait $!
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/sock/apps.bash; apps_end'
	on 1 'wired_end 1' && on 2 'wired_end 2'
}

compared() { on 1 "compared $1"; }
compared_within() { on 1 "compared_within $1"; }

@test "iperf3" { compared iperf3; }
@test "curl and nginx: files, by sendfile and copied, as a proxy, kept connections" { compared curl; }
@test "redis: large values, who waits, a replica" { compared redis; }
@test "redis-benchmark" { compared redis_benchmark; }
@test "memcached: its own tests, values, crowds" { compared memcached; }
@test "PostgreSQL: psql" { compared postgres; }
@test "PostgreSQL: pgbench" { compared pgbench; }
@test "h2load and nginx" { compared h2load; }
@test "wrk and nginx" { compared wrk; }
@test "etcd" { compared etcd; }
@test "sockperf" { compared sockperf; }
@test "gRPC: C++, Go and Python" { compared grpc; }
@test "redis: its own tests" { compared redis_tests; }
@test "Python: tests of sockets, servers and clients" { compared_within python; }
@test "Go: tests of net, net/rpc, net/http" { compared_within go; }
