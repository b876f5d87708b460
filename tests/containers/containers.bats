#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,heart,budget:270
# Containers on a node: vqp-runtime and vqp-hook with runc, the CNI plugin in a
# chain with bridge. What runs on the node is in tests/lib/containers.bash.
# Only on virtual nodes: CNI leaves bridges, and a machine that forwards.
# On one kernel, and on more in `make test-containers`: little of it is the kernel's.

bats_require_minimum_version 1.5.0
load ../lib/testbed

setup_file() {
	vqp_up
	on 1 'prepare'
}

teardown() {
	on 1 'cleanup && eventually has_namespaces 0'
}

helpers=lib/containers.bash

# A script that fails on the node, and with this text in its output.
fails_with() {
	run on 1 "$2"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"$1"* ]]
}

# ---- the device ----

@test "a container of vqp-runtime has /dev/vqp and can use it" {
	on 1 'start c1 "$(address 10.60.0.1)"
		runc exec c1 vqpt --background echo-server 7000
		runc exec c1 vqpt --count=100 send 10.60.0.1 7000'
}

@test "a container of plain runc has no /dev/vqp" {
	on 1 'bundle c1 "$(shell "test ! -e /dev/vqp")"
		runc run --bundle $WORK/c1 c1 </dev/null'
}

@test "a container of plain runc cannot use a node it makes itself" {
	on 1 'numbers=$(printf "%d %d" $(stat -c "0x%t 0x%T" /dev/vqp))
		bundle c1 "$(shell "mknod /tmp/vqp c $numbers; if cat /tmp/vqp; then exit 1; fi")
			| .process.capabilities[] += [\"CAP_MKNOD\"]
			| .mounts += [{destination: \"/tmp\", type: \"tmpfs\", source: \"tmpfs\"}]"
		runc run --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "/tmp/vqp.*Operation not permitted"'
}

@test "a user without capabilities or memlock can use it, on arena memory" {
	on 1 'start c1 "$(address 10.60.0.1) | .process.user = {uid: 1000, gid: 1000} | .process.capabilities = {}
			| .process.noNewPrivileges = true
			| .process.rlimits = [{type: \"RLIMIT_MEMLOCK\", hard: 65536, soft: 65536}]
			| .process.args = [\"vqpt\", \"--arena\", \"--bytes=256K\", \"--depth=4\", \"echo-server\", \"7000\"]"
		eventually is_served 10.60.0.1
		runc exec --user 1000:1000 c1 vqpt --arena --bytes=256K --depth=4 --count=8 send 10.60.0.1 7000'
}

@test "two containers of a tenant talk to each other" {
	on 1 'start c1 "$(address 10.60.0.1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		eventually is_served 10.60.0.1
		run_once c2 "$(address 10.60.0.2) | .process.args = [\"vqpt\", \"--count=100\", \"send\", \"10.60.0.1\", \"7000\"]"'
}

@test "containers of two tenants do not reach each other" {
	fails_with EHOSTUNREACH 'start c1 "$(address 10.60.0.1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		run_once c2 "$(address 10.60.0.2) | $(tenant 2) | .process.args = [\"vqpt\", \"send\", \"10.60.0.1\", \"7000\"]"'
}

# ---- the namespace ----

@test "the namespace is there before the container's process starts" {
	on 1 'bundle c1 "$(addressed 10.61.0.7)"
		create c1
		[ "$(runc state c1 | jq -r .status)" = created ]
		has_namespace 10.61.0.7'
}

# Docker does so from version 28 on; those that are packaged here have a hook for it.
@test "a network that is made between create and start counts, and the namespace is there before the process" {
	on 1 'addressed 10.61.0.7 >/dev/null
		bundle c1 ".process.args = [\"vqpt\", \"--count=1\", \"send\", \"10.61.0.7\", \"1\"]"
		create c1
		has_namespaces 0
		runc state c1 | $WORK/net 10.61.0.7
		vqp-runtime --log $WORK/log start c1
		eventually grep "status 9" $WORK/c1.out
		[ ! -s $WORK/log ]
		[ ! -L /run/vqp/late/c1 ]'
}

@test "what is wrong with a network that is late is told at start, which may be tried again" {
	on 1 'bundle c1 "$(address 10.60.0.1)"
		create c1
		has_namespaces 0
		kill $(pidof vqpd); eventually eval "! pidof vqpd"
		not vqp-runtime --log $WORK/log --log-format json start c1 2>$WORK/said
		jq -e ".msg | test(\"vqpd is not running\")" $WORK/log
		grep "vqpd is not running" $WORK/said
		[ "$(runc state c1 | jq -r .status)" = created ]'
	vqp_up
	on 1 'vqp-runtime start c1
		has_namespace 10.60.0.1
		bundle c2 "$(address 10.60.0.2)"
		create c2
		vqp-runtime delete --force c2
		[ ! -L /run/vqp/late/c2 ]
		bundle c3; bundle c4
		create c3
		runc delete --force c3
		[ -L /run/vqp/late/c3 ]
		rm -r $WORK/c3
		create c4
		[ "$(ls /run/vqp/late)" = c4 ]'
}

# As Docker 28 has it with the CDI device and its own runtime, which asks no hook of the host's again.
@test "CDI: a network that is made between create and start counts, and the namespace is there before the process" {
	local runtime
	for runtime in runc crun; do
		on 1 "RUNTIME=$runtime"'
			addressed 10.61.0.7 >/dev/null
			bundle c1 "$(cdi_device) | .process.args = [\"vqpt\", \"--count=1\", \"send\", \"10.61.0.7\", \"1\"] |
				.process.user = {uid: 1000, gid: 1000} | .process.capabilities = {}"
			create c1
			has_namespaces 0
			$RUNTIME state c1 | $WORK/net 10.61.0.7
			$RUNTIME start c1
			eventually grep "status 9" $WORK/c1.out
			eventually gone vqp-hook
			$RUNTIME delete --force c1
			has_namespaces 0'
	done
}

@test "CDI: a container whose network comes before it is served at once" {
	on 1 'RUNTIME=runc
		start c1 "$(cdi_device) | $(addressed 10.61.0.7)"
		has_namespace 10.61.0.7
		gone vqp-hook'
}

@test "CDI: what another makes between create and start counts, if it is what the annotations ask for" {
	on 1 'export RUNTIME=runc
		for tenant in 1 2; do
			bundle c$tenant "$(cdi_device) | $(tenant $tenant) | $(shell "echo has started; sleep 1000")"
			create c$tenant
			vqpctl ns add --netns /proc/$(pid_of c$tenant)/ns/net --tenant 2 --address 10.60.0.$tenant
			runc start c$tenant || true
		done
		eventually grep "has started" $WORK/c2.out
		eventually has_stopped c1
		grep "already has the VQP namespace" $WORK/c1.out
		not grep "has started" $WORK/c1.out
		eventually gone vqp-hook'
}

@test "CDI: without a network, or without vqpd, a container does not start, says why, and leaves nothing" {
	on 1 'export RUNTIME=runc
		bundle c1 "$(cdi_device) | $(shell "echo has started; sleep 1000")"
		create c1
		# runc itself has done its part by then
		runc start c1 || true
		eventually grep "network namespace has no address" $WORK/c1.out
		eventually has_stopped c1
		not grep "has started" $WORK/c1.out
		eventually gone vqp-hook
		addressed 10.61.0.7 >/dev/null
		bundle c2 "$(cdi_device) | $(shell "echo has started; sleep 1000")"
		create c2
		runc state c2 | $WORK/net 10.61.0.7
		kill $(pidof vqpd); eventually eval "! pidof vqpd"
		runc start c2 || true
		eventually grep "vqpd is not running" $WORK/c2.out
		eventually has_stopped c2
		not grep "has started" $WORK/c2.out
		eventually gone vqp-hook'
	vqp_up
	on 1 'RUNTIME=runc
		bundle c3 "$(cdi_device)"
		create c3
		pidof vqp-hook
		runc delete --force c3
		eventually gone vqp-hook
		has_namespaces 0'
}

@test "the namespace has the annotated tenant" {
	on 1 'start c1 "$(address 10.60.0.1) | $(tenant 4294967295)"
		has_namespace 10.60.0.1 4294967295'
}

@test "the namespace has the container's first address if none is annotated" {
	on 1 'start c1 "$(addressed 10.61.0.7)"
		has_namespace 10.61.0.7'
}

@test "a container without an address gets no namespace, and starts" {
	fails_with ENONET 'run_once c1 ".process.args = [\"vqpt\", \"echo-server\", \"7000\"]"'
}

@test "a container on the host's network gets no namespace, and starts" {
	on 1 'run_once c1 "$(shell true) | .linux.namespaces |= map(select(.type != \"network\"))"
		has_namespaces 0'
}

@test "of two containers that start at once in one network namespace the second uses the first one's" {
	on 1 'ip netns add n1
		asking() { for pid in $(pidof vqp-hook); do ls -l /proc/$pid/fd; done | grep -c socket: | grep -qx 2; }
		for i in 1 2; do bundle c$i "$(netns n1) | $(address 10.60.0.1)"; done
		pkill -STOP -x vqpd
		creators=
		for i in 1 2; do
			create c$i &
			creators+=" $!"
		done
		eventually asking || { pkill -CONT -x vqpd; exit 1; }
		pkill -CONT -x vqpd
		for creator in $creators; do wait $creator; done
		has_namespace 10.60.0.1
		has_namespaces 1'
}

@test "the namespace goes with runc delete" {
	on 1 'start c1 "$(address 10.60.0.1)"
		runc delete --force c1
		eventually has_no_namespace 10.60.0.1'
}

@test "the namespace goes with the container's end, before it is deleted" {
	on 1 'start c1 "$(address 10.60.0.1) | .process.args = [\"true\"]"
		eventually has_no_namespace 10.60.0.1'
}

@test "the namespace goes when the container's init is killed" {
	on 1 'start c1 "$(address 10.60.0.1)"
		kill -9 $(pid_of c1)
		eventually has_no_namespace 10.60.0.1'
}

@test "the namespace goes when the container, runc and vqpd are killed" {
	on 1 'bundle c1 "$(address 10.60.0.1)"
		setsid vqp-runtime run --bundle $WORK/c1 --pid-file $WORK/c1.pid c1 </dev/null >$WORK/c1.out 2>&1 &
		runtime=$!
		eventually is_running c1
		has_namespace 10.60.0.1
		eventually test -s $WORK/c1.pid
		pid=$(pid_of c1)
		kill -9 $runtime $(pidof vqpd) $pid
		eventually test ! -e /proc/$pid'
	vqp_up
	on 1 'eventually has_no_namespace 10.60.0.1'
}

@test "CRIU takes a container down and back with its namespace, but none that has VQPs, which goes on" {
	on 1 'criu check >/dev/null 2>&1' || skip "this CRIU takes nothing down on this kernel"
	# CRIU knows no file of ours that is open for output, and busybox' sleep ends when it is taken down
	on 1 'bundle c1 "$(address 10.60.0.1) | $(shell "while :; do sleep 1; done")"
		vqp-runtime run --detach --bundle $WORK/c1 c1 </dev/null >/dev/null 2>&1
		checkpoint c1
		has_no_namespace 10.60.0.1
		restore c1
		has_namespace 10.60.0.1
		runc exec c1 vqpt --background echo-server 7000
		runc exec c1 vqpt --count=20 send 10.60.0.1 7000
		not checkpoint c1
		runc exec c1 vqpt --count=20 send 10.60.0.1 7000
		runc delete --force c1'
}

@test "an address is free again after its container was killed" {
	on 1 'for i in 1 2 3; do
			start c$i "$(address 10.60.0.1)"
			kill -9 $(pid_of c$i)
			eventually has_no_namespace 10.60.0.1
		done'
}

@test "a restart of vqpd disturbs no container" {
	on 1 'start c1 "$(address 10.60.0.1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		kill $(pidof vqpd)'
	vqp_up
	on 1 'has_namespace 10.60.0.1
		eventually is_served 10.60.0.1
		runc exec c1 vqpt --count=10 send 10.60.0.1 7000'
}

# CONTAINERS says how many.
@test "many containers killed at once leave nothing in the module" {
	local count=${CONTAINERS-20}
	NODE_TIMEOUT=$((100 + 5 * count))
	on 1 "count=$count"'
		eventually at_rest
		before=$(live_objects)
		for i in $(seq $count); do
			start c$i "$(address 10.60.1.$i) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		done
		has_namespaces $count
		kill -9 $(for i in $(seq $count); do pid_of c$i; done)
		eventually has_namespaces 0
		same() { [ "$(live_objects)" = "$before" ]; }
		eventually same'
}

# ---- what the operator allows ----

@test "without a word of the operator a container has tenant 1 and an address of its own" {
	on 1 'operator
		start c1 "$(addressed 10.61.0.7)"
		has_namespace 10.61.0.7 1'
	fails_with 'io.vqp.tenant: 2 is not among' 'operator; bundle c2 "$(addressed 10.61.0.8) | $(tenant 2)"; create c2'
	fails_with 'io.vqp.address: ::ffff:10.60.0.2 is not within' 'operator; start c3 "$(address 10.60.0.2)"'
	on 1 'has_namespaces 1'
}

@test "hostile annotations give a container nothing that the operator does not allow" {
	on 1 'operator "{\"limits\": {\"max_vqps\": 4}, \"annotations\": {\"tenants\": [2], \"addresses\": [\"10.60.0.0/24\"]}}"'
	for try in "tenant 3" "tenant 4294967297" "tenant 0x2" "address 10.60.1.1" "address 0.0.0.0" "address fd00::1" \
		"max_vqps 5" "max_vqps unlimited" "max_vqps 99999999999999999999" "netns /proc/1/ns/net" "limits {}"; do
		fails_with "annotation io.vqp.${try% *}" \
			"bundle c1 \"\$(addressed 10.61.0.7) | \$(rule $try)\"; create c1"
	done
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "the tenant and the limits follow from the container's network" {
	on 1 'operator "{\"limits\": {\"max_mrs\": 9}, \"networks\": [
			{\"subnet\": \"10.62.0.0/16\", \"tenant\": 7, \"limits\": {\"max_vqps\": 5, \"max_bytes\": 65536}}]}"
		start c1 "$(addressed 10.61.0.7 10.62.0.8)"
		start c2 "$(addressed 10.61.0.7)"
		has_namespace 10.62.0.8 7
		has_namespace 10.61.0.7 1
		[ "$(limits_of 10.62.0.8)" = 5/9/65536 ]
		[ "$(limits_of 10.61.0.7)" = -/9/- ]'
}

@test "an annotated address brings no tenant" {
	on 1 'operator "{\"networks\": [{\"subnet\": \"10.62.0.0/16\", \"tenant\": 7}], \"annotations\": {\"addresses\": [\"10.0.0.0/8\"]}}"
		start c1 "$(addressed 10.61.0.7) | $(address 10.62.0.9)"
		has_namespace 10.62.0.9 1'
}

@test "annotations lower limits, which the kernel then keeps" {
	on 1 'operator "{\"limits\": {\"max_vqps\": 10}}"
		start c1 "$(addressed 10.61.0.7) | $(rule max_vqps 2) | $(rule max_mrs 3)"
		[ "$(limits_of 10.61.0.7)" = 2/3/- ]'
	on 1 'operator "{\"limits\": {\"max_vqps\": 1}}"
		run_once c2 "$(addressed 10.61.0.8) | .process.args = [\"vqpt\", \"hold\", \"vqps\", \"--count=2\"]" >$WORK/held
		grep "made=1 errno=EDQUOT" $WORK/held'
}

@test "an operator's file that others may write, or that is malformed, starts no container" {
	on 1 'operator "{}"; chmod g+w /etc/vqp/runtime.json'
	fails_with 'could be written by others than root' 'bundle c1 "$(addressed 10.61.0.7)"; create c1'
	on 1 'operator "{}"; chown 1000 /etc/vqp/runtime.json'
	fails_with 'could be written by others than root' 'bundle c1; create c1'
	for text in '[]' '{' '{"tenant": 0}' '{"tenants": [1]}' '{"runtime": 1}' '{"runtime": "crun"}' '{"stage": "poststart"}'; do
		fails_with '/etc/vqp/runtime.json' "operator '$text'; bundle c1 \"\$(addressed 10.61.0.7)\"; create c1"
	done
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "a malformed operator's file is in nobody's way to stop containers" {
	on 1 'start c1 "$(address 10.60.0.1)"
		operator "{"
		vqp-runtime state c1 2>$WORK/warning | jq -e ".status == \"running\""
		grep -q "vqp-runtime: /etc/vqp/runtime.json: " $WORK/warning
		[ -z "$(vqp-runtime --log $WORK/log --log-format json state c1 2>&1 >/dev/null)" ]
		jq -e ".level == \"warning\" and (.msg | contains(\"/etc/vqp/runtime.json\"))" $WORK/log
		operator "{\"runtime\": \"$(type -P echo)\", \"stage\": 1}"
		[ "$(vqp-runtime kill c1 9 2>$WORK/warning)" = "kill c1 9" ]
		operator "{\"runtime\": \"echo\"}"
		vqp-runtime kill c1 KILL
		eventually vqp-runtime delete c1
		[ "$(VQP_RUNTIME_REAL=echo vqp-runtime kill c1 9)" = "kill c1 9" ]
		[ -z "$(runc list -q)" ]'
}

@test "rootless: the answer is that only root can" {
	fails_with 'rootless containers can have no VQP namespace' 'bundle c1; chmod 777 $WORK/c1
		setpriv --reuid 65534 --clear-groups vqp-runtime run --bundle $WORK/c1 c1 </dev/null 2>&1'
	fails_with 'rootless containers can have no VQP namespace' 'bundle c1
		unshare --user --map-root-user vqp-runtime run --bundle $WORK/c1 c1 </dev/null 2>&1'
	fails_with 'rootless containers can have no VQP namespace' \
		'unshare --user --map-root-user vqp-hook createRuntime <<<"{\"id\": \"x\", \"pid\": $$}" 2>&1'
	on 1 'setpriv --reuid 65534 --clear-groups vqp-runtime --version | grep -q runc'
}

# ---- what a container sees ----

@test "a container with the device sees no other VQP namespace, and not the parent" {
	on 1 'start c1 "$(address 10.60.0.1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		start c2 "$(address 10.60.0.2) | $(tenant 2)"
		runc exec c2 sh -c "! ls /dev/infiniband 2>/dev/null"
		not nsenter -t $(pid_of c2) -n vqpctl vqps 2>$WORK/refusal
		not nsenter -t $(pid_of c2) -n vqpctl ns list 2>>$WORK/refusal
		[ "$(grep -c "vqp module" $WORK/refusal)" = 2 ]'
}

@test "a container with the device cannot use a node of the parent that it makes itself" {
	on 1 'numbers=$(printf "%d %d" $(stat -c "0x%t 0x%T" /dev/infiniband/uverbs0))
		bundle c1 "$(address 10.60.0.1) | $(shell "mknod /tmp/uverbs c $numbers; if cat /tmp/uverbs; then exit 1; fi")
			| .process.capabilities[] += [\"CAP_MKNOD\"]
			| .mounts += [{destination: \"/tmp\", type: \"tmpfs\", source: \"tmpfs\"}]"
		vqp-runtime run --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "/tmp/uverbs.*Operation not permitted"'
}

@test "a container in a user namespace of its own can use the device" {
	on 1 'start c1 "$(address 10.60.0.1) | .linux.namespaces += [{type: \"user\"}]
			| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
			| .linux.gidMappings = .linux.uidMappings
			| .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		eventually is_served 10.60.0.1
		runc exec c1 vqpt --count=10 send 10.60.0.1 7000'
}

# ---- refusals ----

@test "a malformed annotation ends the creation with its reason" {
	fails_with 'annotation io.vqp.address: \"ten\" is no address' 'bundle c1 "$(address ten)"; create c1'
	fails_with 'annotation io.vqp.tenant: \"0\" is not' 'bundle c2 "$(tenant 0)"; create c2'
	fails_with 'annotation io.vqp.tenant: \"1x\" is not' 'bundle c3 "$(tenant 1x)"; create c3'
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "an address that is taken ends the creation with its reason" {
	on 1 'start c1 "$(address 10.60.0.1)"'
	fails_with 10.60.0.1 'start c2 "$(address 10.60.0.1)"'
	on 1 '[ "$(runc list -q)" = c1 ]; has_namespace 10.60.0.1'
}

@test "a tenant without an address to have ends the creation" {
	fails_with 'has no address' 'start c1 "$(tenant 5)"'
}

@test "an annotated container on the host's network ends the creation" {
	fails_with "host's network" \
		'bundle c1 "$(address 10.60.0.1) | .linux.namespaces |= map(select(.type != \"network\"))"; create c1'
}

@test "without vqpd the creation ends with what to do" {
	on 1 'kill $(pidof vqpd); eventually eval "! pidof vqpd"'
	fails_with 'vqpd is not running' 'start c1 "$(address 10.60.0.1)"'
	vqp_up
}

@test "vqp-hook refuses a malformed state" {
	for state in '' '{' '[]' '{}' '{"id": 1, "pid": 1}' '{"id": "x"}' '{"id": "x", "pid": "1"}' \
		'{"id": "x", "pid": -1}' '{"id": "x", "pid": 1, "annotations": []}' \
		'{"id": "x", "pid": 1, "annotations": {"io.vqp.tenant": 1}}'; do
		fails_with "vqp-hook: createRuntime: " "vqp-hook createRuntime <<<'$state'"
	done
	fails_with 'longer than 1048576 bytes' 'head -c 1100000 /dev/zero | tr "\0" " " | vqp-hook createRuntime'
	fails_with '/proc/4194303/ns/net: No such file' 'vqp-hook createRuntime <<<"{\"id\": \"x\", \"pid\": 4194303}"'
}

@test "vqp-hook has two capabilities and few system calls when it reads its input, and then no capability" {
	on 1 'mkfifo $WORK/state
		vqp-hook createRuntime <$WORK/state 2>/dev/null &
		hook=$!
		exec 3>$WORK/state
		eventually grep -q "^Seccomp:.2" /proc/$hook/status
		grep -q "^CapEff:.0000000000280000" /proc/$hook/status
		grep -q "^CapPrm:.0000000000280000" /proc/$hook/status
		exec 3>&-
		wait $hook || true
		bundle c1 "$(address 10.60.0.1)"
		pkill -STOP -x vqpd
		launch c1 run --detach &
		creator=$!
		without() { grep -q "^CapPrm:.0000000000000000" /proc/$(pidof vqp-hook)/status; }
		eventually without || { pkill -CONT -x vqpd; exit 1; }
		pkill -CONT -x vqpd
		wait $creator
		has_namespace 10.60.0.1'
}

@test "vqp-hook deletes nothing for a container it does not know" {
	on 1 'start c1 "$(address 10.60.0.1)"
		vqp-hook poststop <<<"{\"ociVersion\": \"1.0.2\", \"id\": \"c2\", \"status\": \"stopped\", \"bundle\": \"/\"}"
		has_namespace 10.60.0.1'
}

@test "vqp-runtime refuses a malformed config.json and leaves it as it is" {
	for text in '' '{' '[]' '{"linux": []}' '{"linux": {"devices": {}}}' '{"hooks": {"poststop": 1}}'; do
		fails_with "vqp-runtime: config.json" "bundle c1; printf %s '$text' >\$WORK/c1/config.json; create c1"
		on 1 "[ \"\$(cat \$WORK/c1/config.json)\" = '$text' ]; [ \"\$(ls -A \$WORK/c1)\" = config.json ]"
	done
}

@test "vqp-runtime writes its reason to runc's log" {
	on 1 'not vqp-runtime --log $WORK/log --log-format=json create --bundle /nowhere c1
		jq -e ".level == \"error\" and (.msg | contains(\"/nowhere\"))" $WORK/log'
}

# ---- the runtime ----

@test "vqp-runtime adds the same to config.json once only, and keeps all else" {
	on 1 'ip netns add n1
		bundle c1 "$(netns n1) | .process.rlimits = [{type: \"RLIMIT_CORE\", hard: 1, soft: 0}]"
		sed -i "s/\"hard\": 1,/\"hard\": 18446744073709551615,/" $WORK/c1/config.json
		cp $WORK/c1/config.json $WORK/before
		VQP_RUNTIME_REAL=true vqp-runtime create --bundle $WORK/c1 c1
		cp $WORK/c1/config.json $WORK/once
		VQP_RUNTIME_REAL=true vqp-runtime run -b $WORK/c1 c1
		(cd $WORK/c1 && VQP_RUNTIME_REAL=true vqp-runtime --root=/tmp create c1)
		VQP_RUNTIME_REAL=true vqp-runtime restore --image-path /nowhere c1 --bundle $WORK/c1
		cmp $WORK/once $WORK/c1/config.json
		grep -q "\"hard\":18446744073709551615[,}]" $WORK/once
		jq -e --slurpfile before $WORK/before \
			"(del(.hooks, .linux.devices) | .linux.resources.devices |= .[:-1]) == \$before[0]" $WORK/once
		jq -e "(.linux.devices | length) == 1 and (.hooks.createRuntime | length) == 1 and
			(.hooks.poststop | length) == 1" $WORK/once'
}

@test "vqp-runtime hands everything else to the real runtime" {
	on 1 '[ "$(vqp-runtime --version)" = "$(runc --version)" ]
		[ "$(vqp-runtime --root /tmp/r list -q)" = "" ]
		[ "$(VQP_RUNTIME_REAL=echo vqp-runtime --log x kill "a  b" 9)" = "--log x kill a  b 9" ]'
	fails_with 'cannot run nothing-there' 'VQP_RUNTIME_REAL=nothing-there vqp-runtime list'
}

@test "vqp-runtime does not become itself" {
	fails_with "/runc: it is vqp-runtime itself" \
		'ln -s $BIN/vqp-runtime $WORK/runc; PATH=/nowhere:$WORK:$PATH timeout 10 vqp-runtime list'
	fails_with "is vqp-runtime itself" 'operator "{\"runtime\": \"$BIN/vqp-runtime\"}"; timeout 10 vqp-runtime list'
	on 1 '[ "$(VQP_RUNTIME_REAL=echo PATH=/nowhere:$WORK/runc:$PATH vqp-runtime list)" = list ]'
}

@test "the operator's file names the runtime to become" {
	on 1 'operator "{\"runtime\": \"$(type -P crun)\", \"annotations\": {\"addresses\": [\"10.60.0.0/16\"]}}"
		start c1 "$(address 10.60.0.1)"
		[ "$(crun list -q)" = c1 ]
		[ -z "$(runc list -q)" ]
		has_namespace 10.60.0.1
		[ "$(VQP_RUNTIME_REAL=runc vqp-runtime list -q)" = "" ]
		vqp-runtime delete --force c1
		eventually has_no_namespace 10.60.0.1'
}

@test "a runtime that knows no createRuntime has the hook at prestart" {
	on 1 'operator "{\"stage\": \"prestart\", \"annotations\": {\"addresses\": [\"10.60.0.0/16\"]}}"
		start c1 "$(address 10.60.0.1)"
		jq -e "(.hooks | keys) == [\"poststop\", \"prestart\"] and
			.hooks.prestart[0].args == [\"vqp-hook\", \"prestart\"]" $WORK/c1/config.json
		has_namespace 10.60.0.1'
}

@test "crun: another configuration than the bundle's has the device, too" {
	on 1 'bundle c1 "$(address 10.60.0.1)"
		mv $WORK/c1/config.json $WORK/c1/other.json
		export VQP_RUNTIME_REAL=crun
		vqp-runtime run --detach --bundle $WORK/c1 --config $WORK/c1/other.json c1 </dev/null >$WORK/c1/out 2>&1
		crun exec c1 ls /dev/vqp
		has_namespace 10.60.0.1
		crun delete --force c1'
}

@test "vqp-runtime follows no link that is in the place of config.json" {
	fails_with 'vqp-runtime: cannot open config.json' 'bundle c1
		mv $WORK/c1/config.json $WORK/target
		cp $WORK/target $WORK/before
		ln -s $WORK/target $WORK/c1/config.json
		create c1'
	on 1 'cmp $WORK/before $WORK/target'
}

# ---- CNI ----

@test "CNI: a container in a prepared network namespace has its address" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		has_namespace $address
		start c1 "$(netns n1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		eventually is_served $address
		runc exec c1 vqpt --count=10 send $address 7000'
}

@test "CNI: the namespace outlives a container in it, and goes with DEL" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		start c1 "$(netns n1)"
		runc delete --force c1
		has_namespace $address
		detach $list n1
		has_no_namespace $address'
}

@test "CNI: the container and the attachment may have the same id" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		start cni-n1 "$(netns n1)"
		runc delete --force cni-n1
		has_namespace $address'
}

@test "CNI: annotations that ask for something else end the creation" {
	fails_with 'already has the VQP namespace' 'list=$(network net 1)
		attach $list n1
		bundle c1 "$(netns n1) | $(address 10.60.0.1)"; create c1'
}

@test "CNI: two containers share a network namespace" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		start c1 "$(netns n1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		run_once c2 "$(netns n1) | .process.args = [\"vqpt\", \"send\", \"$address\", \"7000\"]"
		has_namespace $address'
}

@test "CNI: ADD twice is one namespace, DEL twice is none" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		result="{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"$address/24\"}]}"
		plugin ADD $list n1 "$result"
		[ "$(namespaces)" = "1 $address" ]
		detach $list n1
		detach $list n1
		has_namespaces 0'
}

@test "CNI: ADD of another address to an attachment is refused" {
	fails_with '"code": 101' 'list=$(network net 1)
		attach $list n1
		plugin ADD $list n1 "{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"10.60.0.1/24\"}]}"'
}

@test "CNI: ADD of an address that is taken is refused and changes nothing" {
	fails_with '"code": 101' 'list=$(network net 1)
		address=$(attach $list n1)
		ip netns add n2
		plugin ADD $list n2 "{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"$address/24\"}]}"'
	on 1 'has_namespaces 1'
}

@test "CNI: the same address in another tenant is another container" {
	on 1 'one=$(network one 1)
		address=$(attach $one n1)
		two=$(network two 2 ".plugins[1].tenant = 2")
		ip netns add n2
		plugin ADD $two n2 "{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"$address/24\"}]}"
		has_namespace $address 1
		has_namespace $address 2'
}

@test "CNI: DEL works when the network namespace is gone" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		ip netns del n1
		detach $list n1
		has_no_namespace $address'
}

@test "CNI: CHECK finds the namespace, and its absence" {
	on 1 'list=$(network net 1)
		address=$(attach $list n1)
		plugin CHECK $list n1 "$(result $address)"
		not plugin CHECK $list n1 "$(result 10.60.0.9)"
		detach $list n1
		[ "$(plugin CHECK $list n1 "$(result $address)" | jq .code)" = 102 ]'
}

@test "CNI: CHECK finds limits that were changed" {
	on 1 'list=$(network net 1 ".plugins[1].limits = {max_vqps: 5}")
		address=$(attach $list n1)
		plugin CHECK $list n1 "$(result $address)"
		vqpctl ns set --netns n1 --max-vqps 6
		[ "$(plugin CHECK $list n1 "$(result $address)" | jq .code)" = 102 ]
		vqpctl ns set --netns n1 --max-vqps 5 --max-mrs 5
		plugin CHECK $list n1 "$(result $address)"'
}

# Two pods on a network whose first plugin is this one talk to each other.
chained_behind() {
	on 1 'ip link add vqpmaster type dummy && ip link set vqpmaster up
		list=$(network net 1 ".plugins[0] = {type: \"'"$1"'\", ipam: .plugins[0].ipam} + '"${2-{\}}"'")
		one=$(attach $list n1)
		two=$(attach $list n2)
		[ $one != $two ]
		plugin CHECK $list n1 "$(result $one)"
		start c1 "$(netns n1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
		run_once c2 "$(netns n2) | .process.args = [\"vqpt\", \"--count=10\", \"send\", \"$one\", \"7000\"]"
		detach $list n2
		detach $list n1
		has_namespaces 0'
}

@test "CNI: behind bridge" {
	chained_behind bridge '{bridge: \"brnet\"}'
}

@test "CNI: behind ptp" {
	chained_behind ptp
}

@test "CNI: behind macvlan" {
	chained_behind macvlan '{master: \"vqpmaster\"}'
}

@test "CNI: behind ipvlan" {
	chained_behind ipvlan '{master: \"vqpmaster\"}'
}

@test "CNI: of several interfaces the one whose network has vqp gives the address" {
	on 1 'plain=$(network plain 1 ".plugins |= .[:1]")
		list=$(network second 2)
		attach $plain n1 eth0
		address=$(attach $list n1 net1)
		[ "$(namespaces)" = "1 $address" ]
		[[ $address == 10.66.2.* ]]
		detach $plain n1 eth0
		has_namespace $address
		detach $list n1 net1
		has_namespaces 0'
}

@test "CNI: each attachment of a network namespace has its own address, CHECK and DEL" {
	on 1 'one=$(network one 1) two=$(network two 2)
		eth0=$(attach $one n1 eth0)
		net1=$(attach $two n1 net1)
		[ "$(namespaces | sort)" = "$(printf "1 %s\n" $eth0 $net1 | sort)" ]
		plugin CHECK $one n1 "$(result $eth0)"
		plugin CHECK $two n1 "$(result $net1)" net1
		ip netns add n2
		attach $one n2 eth0
		ip netns exec n1 vqpt --background --address=$net1 echo-server 7000
		ip netns exec n2 vqpt --count=2 send $net1 7000
		detach $one n1 eth0
		ip netns exec n2 vqpt --count=2 send $net1 7000
		plugin CHECK $two n1 "$(result $net1)" net1
		gc $two
		has_namespaces 1
		detach $two n1 net1
		detach $one n2 eth0
		has_namespaces 0'
}

@test "CNI: a second attachment with the address of the first is told of it, which stays" {
	on 1 'one=$(network one 1)
		address=$(attach $one n1 eth0)
		two=$(network two 2)
		out=$(plugin ADD $two n1 "$(result $address)") || true
		jq -e ".code == 101 and (.details | contains(\"cni-n1/eth0/one\"))" <<<"$out"
		plugin DEL $two n1 "$(result $address)"
		has_namespace $address
		detach $one n1 eth0
		has_namespaces 0'
}

@test "CNI: GC removes what lost DELs left in its network, and nothing else" {
	on 1 'one=$(network one 1) two=$(network two 2)
		for i in 1 2 3 4 5; do ip netns add n$i; done
		plugins ADD $one 1 2 3
		plugins ADD $two 4
		vqpctl ns add --netns n5 --tenant 1 --address 10.60.2.5 --name mine
		gc $one n2 n9
		[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 2 4 5)" ]
		gc $one
		[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 4 5)" ]
		gc $two
		has_namespace 10.60.2.5
		has_namespaces 1'
}

@test "CNI: GC knows the networks after a restart of vqpd" {
	on 1 'one=$(network one 1) two=$(network two 2)
		ip netns add n1; ip netns add n2
		plugins ADD $one 1
		plugins ADD $two 2
		pkill -9 -x vqpd'
	vqp_up
	on 1 'gc $WORK/one.conflist
		[ "$(namespaces)" = "1 10.60.2.2" ]'
}

@test "CNI: STATUS" {
	on 1 'network_command STATUS $(network net 1)'
	fault parent-gone 1
	on 1 'eventually eval "[ \"\$(network_command STATUS \$WORK/net.conflist | jq .code)\" = 51 ]"'
	fault parent-gone 1 off
	on 1 'eventually network_command STATUS $WORK/net.conflist
		kill $(pidof vqpd)
		eventually eval "[ \"\$(network_command STATUS \$WORK/net.conflist | jq .code)\" = 50 ]"'
	vqp_up
}

@test "CNI: 32 ADDs, CHECKs and DELs at once" {
	on 1 'list=$(network net 1 ".plugins[1].limits = {max_vqps: 5}")
		for i in $(seq 32); do ip netns add n$i; done
		plugins ADD $list $(seq 32)
		has_namespaces 32
		plugins CHECK $list $(seq 32)
		plugins DEL $list $(seq 32)
		has_namespaces 0'
}

