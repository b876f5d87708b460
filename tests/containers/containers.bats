#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,heart,budget:270
# Containers on a node: vqp-runtime and vqp-hook with runc, the CNI plugin in a
# chain with bridge. What runs on the node is in tests/containers/containers.bash.
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

helpers=containers/containers.bash

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
	on 1 own_node_of_plain_runc_is_refused
}

@test "a user without capabilities or memlock can use it, on arena memory" {
	on 1 arena_without_memlock
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
	on 1 late_network_counts
}

@test "what is wrong with a network that is late is told at start, which may be tried again" {
	on 1 late_failure_is_told
	vqp_up
	on 1 late_start_is_tried_again
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
	on 1 cdi_takes_what_is_asked_for
}

@test "CDI: without a network, or without vqpd, a container does not start, says why, and leaves nothing" {
	on 1 cdi_says_why_not
	vqp_up
	on 1 cdi_delete_before_start
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
	on 1 two_start_at_once
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
	on 1 killed_with_runc_and_vqpd
	vqp_up
	on 1 'eventually has_no_namespace 10.60.0.1'
}

@test "CRIU takes a container down and back with its namespace, but none that has VQPs, which goes on" {
	on 1 'criu check >/dev/null 2>&1' || skip "this CRIU takes nothing down on this kernel"
	# CRIU knows no file of ours that is open for output, and busybox' sleep ends when it is taken down
	on 1 criu_down_and_back
}

@test "the namespace goes with runc delete while vqpd is away, although its network namespace stays" {
	on 1 delete_without_vqpd
	vqp_up
}

@test "of two containers of one id, under two roots, the end of one leaves the other's namespace" {
	on 1 same_id_under_two_roots
}

@test "and so it does while vqpd is away" {
	on 1 'same_id_under_two_roots eval "kill \$(pidof vqpd); eventually eval \"! pidof vqpd\""'
	vqp_up
}

@test "an address is free again after its container was killed" {
	on 1 address_is_free_again
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

@test "by a rule that lets it choose nothing a container has that tenant and an address of its own" {
	on 1 'policy "{\"subnet\": \"any\", \"tenant\": 4}"
		start c1 "$(addressed 10.61.0.7)"
		has_namespace 10.61.0.7 4'
	fails_with 'rule 1 of /etc/vqp/policy.json (line 3): tenant 2' 'policy "{\"subnet\": \"any\", \"tenant\": 4}"
		bundle c2 "$(addressed 10.61.0.8) | $(tenant 2)"; create c2'
	fails_with 'rule 1 of /etc/vqp/policy.json (line 3): address ::ffff:10.60.0.2' 'policy "{\"subnet\": \"any\", \"tenant\": 4}"
		start c3 "$(address 10.60.0.2)"'
	on 1 'has_namespaces 1'
}

@test "without a policy no container with an address starts, and is told the one command" {
	on 1 without_a_policy
}

@test "a pod whose CNI list has lost vqp is in no rule for networks, and does not start" {
	on 1 list_that_lost_vqp
}

@test "the file of before there were policies is one, until there is a policy" {
	on 1 old_file_is_a_policy
}

@test "hostile annotations give a container nothing that the operator does not allow" {
	on 1 'policy "{\"subnet\": \"any\", \"tenant\": 1, \"limits\": {\"max_vqps\": 4},
		\"may_choose\": {\"tenants\": [2], \"addresses\": [\"10.60.0.0/24\"]}}"'
	for try in "tenant 4294967297" "tenant 0x2" "address 0.0.0.0" "max_vqps 99999999999999999999" "netns /proc/1/ns/net" \
		"limits {}"; do
		fails_with "annotation io.vqp.${try% *}" \
			"bundle c1 \"\$(addressed 10.61.0.7) | \$(rule $try)\"; create c1"
	done
	for try in "tenant 3" "address 10.60.1.1" "address fd00::1" "max_vqps 5" "max_vqps unlimited"; do
		fails_with "rule 1 of /etc/vqp/policy.json (line 3): ${try% *}" \
			"bundle c1 \"\$(addressed 10.61.0.7) | \$(rule $try)\"; create c1"
	done
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "the tenant and the limits follow from the container's network" {
	on 1 network_decides_terms
}

@test "an annotated address brings no tenant" {
	on 1 'policy "{\"subnet\": \"10.62.0.0/16\", \"tenant\": 7}" \
			"{\"subnet\": \"any\", \"tenant\": 1, \"may_choose\": {\"addresses\": [\"10.0.0.0/8\"]}}"
		start c1 "$(addressed 10.61.0.7) | $(address 10.62.0.9)"
		has_namespace 10.62.0.9 1'
}

@test "annotations lower limits, which the kernel then keeps" {
	on 1 'policy "{\"subnet\": \"any\", \"tenant\": 1, \"limits\": {\"max_vqps\": 10}}"
		start c1 "$(addressed 10.61.0.7) | $(rule max_vqps 2) | $(rule max_mrs 3)"
		[ "$(limits_of 10.61.0.7)" = 2/3/- ]'
	on 1 'policy "{\"subnet\": \"any\", \"tenant\": 1, \"limits\": {\"max_vqps\": 1}}"
		run_once c2 "$(addressed 10.61.0.8) | .process.args = [\"vqpt\", \"hold\", \"vqps\", \"--count=2\"]" >$WORK/held
		grep "made=1 errno=EDQUOT" $WORK/held'
}

@test "an operator's file that others may write, or that is malformed, starts no container" {
	on 1 'operator "{}"; chmod g+w /etc/vqp/runtime.json'
	fails_with 'could be written by others than root' 'bundle c1 "$(addressed 10.61.0.7)"; create c1'
	on 1 'operator "{}"; chown 1000 /etc/vqp/runtime.json'
	fails_with 'could be written by others than root' 'bundle c1; create c1'
	for text in '[]' '{' '{"runtime": 1}' '{"runtime": "crun"}' '{"stage": "poststart"}' '{"runtme": "/usr/bin/crun"}'; do
		fails_with '/etc/vqp/runtime.json' "operator '$text'; bundle c1 \"\$(addressed 10.61.0.7)\"; create c1"
	done
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "a policy that others may write, or that is malformed, gives no container anything" {
	on 1 'chmod g+w /etc/vqp/policy.json'
	fails_with 'could be written by others than root' 'bundle c1 "$(addressed 10.61.0.7)"; create c1'
	on 1 'policy_default; chown 1000 /etc/vqp/policy.json'
	fails_with 'could be written by others than root' 'bundle c1 "$(addressed 10.61.0.7)"; create c1'
	on 1 no_policy
	for text in '[]' '{' '{}' '{"rules": {}}' '{"rules": [{"subnet": "any"}]}' '{"rules": [{"tenant": 1}]}' \
		'{"rules": [{"subnet": "any", "tenant": 1, "tennant": 2}]}' '{"rules": [], "rules": []}'; do
		fails_with '/etc/vqp/policy.json' "echo '$text' >/etc/vqp/policy.json; bundle c1 \"\$(addressed 10.61.0.7)\"; create c1"
	done
	on 1 '[ -z "$(runc list -q)" ]; has_namespaces 0'
}

@test "a malformed operator's file is in nobody's way to stop containers" {
	on 1 stops_with_a_malformed_file
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
	on 1 sees_no_other_namespace
}

@test "a container with the device cannot use a node of the parent that it makes itself" {
	on 1 own_node_of_the_parent_is_refused
}

@test "a container in a user namespace of its own can use the device" {
	on 1 user_namespace_can_transfer
}

# ---- refusals ----

@test "a malformed annotation ends the creation with its reason" {
	fails_with 'annotation io.vqp.address: \"address\" must be' 'bundle c1 "$(address ten)"; create c1'
	fails_with 'annotation io.vqp.tenant: \"tenant\" must be' 'bundle c2 "$(tenant 0)"; create c2'
	fails_with 'annotation io.vqp.tenant: \"1x\" is no number' 'bundle c3 "$(tenant 1x)"; create c3'
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
	fails_with 'there is no process 4194303' 'vqp-hook createRuntime <<<"{\"id\": \"x\", \"pid\": 4194303}"'
}

@test "vqp-hook has three capabilities and few system calls when it reads its input, then one, and one at poststop" {
	on 1 hook_has_few_privileges
}

@test "vqp-hook reaches vqpd however many descriptors others of its user id have in flight" {
	on 1 hook_sends_despite_descriptors_in_flight
}

@test "vqp-hook in a nested PID namespace names its own container, whatever has its number outside" {
	on 1 'hook_in_nested_pid_namespace "mount -t proc proc /proc"'
	on 1 'hook_in_nested_pid_namespace true'
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
	on 1 config_is_changed_once
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
	on 1 operator_names_crun
}

@test "a runtime that knows no createRuntime has the hook at prestart" {
	on 1 prestart_is_the_stage
}

@test "crun: another configuration than the bundle's has the device, too" {
	on 1 crun_takes_another_config
}

@test "vqp-runtime follows no link that is in the place of config.json" {
	fails_with 'vqp-runtime: cannot open config.json' 'bundle c1
		mv $WORK/c1/config.json $WORK/target
		cp $WORK/target $WORK/before
		ln -s $WORK/target $WORK/c1/config.json
		create c1'
	on 1 'cmp $WORK/before $WORK/target'
}

@test "make uninstall knows the containers that need a program to end, with or without an address" {
	on 1 users_are_known
}

# ---- CNI ----

@test "CNI: a container in a prepared network namespace has its address" {
	on 1 cni_gives_the_address
}

@test "CNI: the namespace outlives a container in it, and goes with DEL" {
	on 1 cni_outlives_containers
}

@test "CNI: the container and the attachment may have the same id" {
	on 1 cni_same_id
}

@test "CNI: annotations that ask for something else end the creation" {
	fails_with 'already has the VQP namespace' 'list=$(network net 1)
		attach $list n1
		bundle c1 "$(netns n1) | $(address 10.60.0.1)"; create c1'
}

@test "CNI: two containers share a network namespace" {
	on 1 cni_two_containers
}

@test "CNI: ADD twice is one namespace, DEL twice is none" {
	on 1 cni_add_twice
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
	on 1 cni_same_address_other_tenant
}

@test "CNI: DEL works when the network namespace is gone" {
	on 1 cni_del_without_netns
}

@test "CNI: DEL and GC work while vqpd is away, which then knows, and leave all that is not theirs" {
	on 1 cni_del_without_vqpd
	vqp_up
	on 1 cni_del_is_known_to_vqpd
}

@test "CNI: CHECK finds the namespace, and its absence" {
	on 1 cni_check_finds_absence
}

@test "CNI: CHECK finds limits that were changed" {
	on 1 cni_check_finds_limits
}

@test "CNI: CHECK goes by the policy as it is now" {
	on 1 cni_check_goes_by_the_policy
}

@test "CNI: a configuration chooses no tenant that the policy does not let it, and is told the line" {
	on 1 cni_tenant_is_the_policy_s
}

@test "CNI: without a policy, or a rule for the network, ADD and STATUS say so" {
	on 1 cni_without_a_policy
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
	on 1 cni_one_of_several_interfaces
}

@test "CNI: each attachment of a network namespace has its own address, CHECK and DEL" {
	on 1 cni_attachments_are_apart
}

@test "CNI: a second attachment with the address of the first is told of it, which stays" {
	on 1 cni_address_is_taken
}

@test "CNI: GC removes what lost DELs left in its network, and nothing else" {
	on 1 cni_gc_removes_leftovers
}

@test "CNI: GC knows the networks after a restart of vqpd" {
	on 1 cni_gc_prepare
	vqp_up
	on 1 'gc $WORK/one.conflist
		[ "$(namespaces)" = "1 10.60.2.2" ]'
}

@test "CNI: STATUS" {
	on 1 'network_command STATUS $(network net 1)'
	fault parent-gone 1
	on 1 cni_serves_without_device
	fault parent-gone 1 off
	on 1 'eventually network_command STATUS $WORK/net.conflist
		kill $(pidof vqpd)
		eventually eval "[ \"\$(network_command STATUS \$WORK/net.conflist | jq .code)\" = 50 ]"'
	vqp_up
}

@test "CNI: 32 ADDs, CHECKs and DELs at once" {
	on 1 cni_32_at_once
}

