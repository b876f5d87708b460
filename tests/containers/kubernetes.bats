#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:900
# Pods as Kubernetes has them: containerd is asked by its CRI, as a kubelet asks; the network comes by CNI, the
# device by a runtime class. No kubelet and no API server. What is done on the nodes is in kubernetes.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

setup_file() {
	vqp_up
	NODE_TIMEOUT=400 on_each bash -c 'source /vqp/tests/containers/kubernetes.bash; cluster'
}

teardown() {
	on_each bash -c "source /vqp/tests/containers/kubernetes.bash
		[ '${BATS_TEST_COMPLETED-}' ] || pods_cleanup
		eventually has_namespaces 0"
}

teardown_file() {
	on_each bash -c 'source /vqp/tests/containers/kubernetes.bash; daemons_end; vqpctl configure containerd --remove; rm /usr/lib/cni/vqp'
}

helpers=containers/kubernetes.bash

@test "pods of two nodes: start, transfer, exec, end" {
	local address

	on_each bash -c 'source /vqp/tests/containers/kubernetes.bash; live_objects >/run/vqp-test-before'
	on 1 'pod_start x1 vqpt --arena --bytes=20000 --depth=8 echo-server 7000'
	on 2 'pod_start x2 sleep 1000'
	address=$(on 1 'pod_address x1')
	on 1 "has_namespace $address"
	on 2 "pod_exec x2 vqpt --arena --bytes=20000 --depth=8 --count=20 send $address 7000; pod_end x2"
	on 1 'pod_end x1'
	on_each bash -c 'source /vqp/tests/containers/kubernetes.bash; eventually live_objects_are /run/vqp-test-before; has_namespaces 0'
}

@test "the containers of a pod share its namespace" {
	on 1 pod_shares_its_namespace
}

@test "a pod whose processes are killed leaves nothing" {
	on 1 killed_pod_leaves_nothing
}

@test "a pod lives on while containerd is away, and ends as it should" {
	on 1 pod_outlives_containerd
}

@test "without the runtime class a pod has a namespace, and no device" {
	on 1 without_the_runtime_class
}

@test "annotations that ask for another tenant start no pod" {
	run on 1 'annotations=(io.vqp.tenant=9); pod_start x1 sleep 1000'
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"not what its annotations ask for"* ]]
	on 1 'pods_cleanup'
}
