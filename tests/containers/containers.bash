# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/containers.bats does on a node. Sourced there.

# shellcheck source=tests/lib/containers.bash
source /vqp/tests/lib/containers.bash

own_node_of_plain_runc_is_refused() {
	read -r major minor <<<"$(stat -c "0x%t 0x%T" /dev/vqp)"
	bundle c1 "$(shell "mknod /tmp/vqp c $((major)) $((minor)); if cat /tmp/vqp; then exit 1; fi")
		| .process.capabilities[] += [\"CAP_MKNOD\"]
		| .mounts += [{destination: \"/tmp\", type: \"tmpfs\", source: \"tmpfs\"}]"
	runc run --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "/tmp/vqp.*Operation not permitted"
}

arena_without_memlock() {
	start c1 "$(address 10.60.0.1) | .process.user = {uid: 1000, gid: 1000} | .process.capabilities = {}
		| .process.noNewPrivileges = true
		| .process.rlimits = [{type: \"RLIMIT_MEMLOCK\", hard: 65536, soft: 65536}]
		| .process.args = [\"vqpt\", \"--arena\", \"--bytes=256K\", \"--depth=4\", \"echo-server\", \"7000\"]"
	eventually is_served 10.60.0.1
	runc exec --user 1000:1000 c1 vqpt --arena --bytes=256K --depth=4 --count=8 send 10.60.0.1 7000
}

# Of two containers of one id, under two roots, the end of one leaves the other's; and what an earlier version named
# without the bundle goes, too.
same_id_under_two_roots() {
	local other=(--root "$WORK/other-root")
	start c1 "$(address 10.60.0.1)"
	bundle c2 "$(address 10.60.0.2) | .linux.cgroupsPath = \"/other-c1\""
	vqp-runtime "${other[@]}" run --detach --bundle $WORK/c2 --pid-file $WORK/c2.pid c1 </dev/null >$WORK/c2.out 2>&1
	has_namespace 10.60.0.1; has_namespace 10.60.0.2
	"${@:-true}"
	runc "${other[@]}" delete --force c1
	eventually has_no_namespace 10.60.0.2
	has_namespace 10.60.0.1
	ip netns add n1
	vqpctl ns add --netns n1 --tenant 2 --address 10.60.0.3 --name oci:c3/all
	jq -n '{ociVersion: "1.0.2", id: "c3", status: "stopped", bundle: "/run/c3"}' | vqp-hook poststop
	has_no_namespace 10.60.0.3
}

late_network_counts() {
	addressed 10.61.0.7 >/dev/null
	bundle c1 ".process.args = [\"vqpt\", \"--count=1\", \"send\", \"10.61.0.7\", \"1\"]"
	create c1
	has_namespaces 0
	runc state c1 | $WORK/net 10.61.0.7
	vqp-runtime --log $WORK/log start c1
	eventually grep "status 9" $WORK/c1.out
	[ ! -s $WORK/log ]
	[ ! -L /run/vqp/late/c1 ]
}

late_failure_is_told() {
	bundle c1 "$(address 10.60.0.1)"
	create c1
	has_namespaces 0
	kill "$(pidof vqpd)"; eventually eval "! pidof vqpd"
	not vqp-runtime --log $WORK/log --log-format json start c1 2>$WORK/said
	jq -e ".msg | test(\"vqpd is not running\")" $WORK/log
	grep "vqpd is not running" $WORK/said
	[ "$(runc state c1 | jq -r .status)" = created ]
}

late_start_is_tried_again() {
	vqp-runtime start c1
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
	[ "$(ls /run/vqp/late)" = c4 ]
}

cdi_takes_what_is_asked_for() {
	export RUNTIME=runc
	for tenant in 1 2; do
		bundle c$tenant "$(cdi_device) | $(tenant $tenant) | $(shell "echo has started; sleep 1000")"
		create c$tenant
		vqpctl ns add --netns /proc/"$(pid_of c$tenant)"/ns/net --tenant 2 --address 10.60.0.$tenant
		runc start c$tenant || true
	done
	eventually grep "has started" $WORK/c2.out
	eventually has_stopped c1
	grep "already has the VQP namespace" $WORK/c1.out
	not grep "has started" $WORK/c1.out
	eventually gone vqp-hook
}

cdi_says_why_not() {
	export RUNTIME=runc
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
	kill "$(pidof vqpd)"; eventually eval "! pidof vqpd"
	runc start c2 || true
	eventually grep "vqpd is not running" $WORK/c2.out
	eventually has_stopped c2
	not grep "has started" $WORK/c2.out
	eventually gone vqp-hook
}

cdi_delete_before_start() {
	export RUNTIME=runc
	bundle c3 "$(cdi_device)"
	create c3
	pidof vqp-hook
	runc delete --force c3
	eventually gone vqp-hook
	has_namespaces 0
}

two_start_at_once() {
	ip netns add n1
	asking() { for pid in $(pidof vqp-hook); do ls -l /proc/"$pid"/fd; done | grep -c socket: | grep -qx 2; }
	for i in 1 2; do bundle c$i "$(netns n1) | $(address 10.60.0.1)"; done
	pkill -STOP -x vqpd
	creators=
	for i in 1 2; do
		create c$i &
		creators+=" $!"
	done
	eventually asking || { pkill -CONT -x vqpd; return 1; }
	pkill -CONT -x vqpd
	for creator in $creators; do wait "$creator"; done
	has_namespace 10.60.0.1
	has_namespaces 1
}

killed_with_runc_and_vqpd() {
	bundle c1 "$(address 10.60.0.1)"
	setsid vqp-runtime run --bundle $WORK/c1 --pid-file $WORK/c1.pid c1 </dev/null >$WORK/c1.out 2>&1 &
	runtime=$!
	eventually is_running c1
	has_namespace 10.60.0.1
	eventually test -s $WORK/c1.pid
	pid=$(pid_of c1)
	kill -9 $runtime "$(pidof vqpd)" "$pid"
	eventually test ! -e /proc/"$pid"
}

delete_without_vqpd() {
	ip netns add n1
	start c1 "$(netns n1) | $(address 10.60.0.1)"
	vqpctl ns add --netns n1 --tenant 1 --address 10.60.0.2 --name mine
	kill "$(pidof vqpd)"; eventually eval "! pidof vqpd"
	vqp-runtime delete --force c1
	eventually has_no_namespace 10.60.0.1
	has_namespace 10.60.0.2
	ip netns exec n1 true
}

criu_down_and_back() {
	bundle c1 "$(address 10.60.0.1) | $(shell "while :; do sleep 1; done")"
	vqp-runtime run --detach --bundle $WORK/c1 c1 </dev/null >/dev/null 2>&1
	checkpoint c1
	has_no_namespace 10.60.0.1
	restore c1
	has_namespace 10.60.0.1
	runc exec c1 vqpt --background echo-server 7000
	runc exec c1 vqpt --count=20 send 10.60.0.1 7000
	not checkpoint c1
	runc exec c1 vqpt --count=20 send 10.60.0.1 7000
	runc delete --force c1
}

address_is_free_again() {
	for i in 1 2 3; do
		start c$i "$(address 10.60.0.1)"
		kill -9 "$(pid_of c$i)"
		eventually has_no_namespace 10.60.0.1
	done
}

network_decides_terms() {
	policy '{"subnet": "10.62.0.0/16", "tenant": 7, "limits": {"max_vqps": 5, "max_bytes": 65536}}' \
		'{"subnet": "any", "tenant": 1, "limits": {"max_mrs": 9}}'
	start c1 "$(addressed 10.61.0.7 10.62.0.8)"
	start c2 "$(addressed 10.61.0.7)"
	has_namespace 10.62.0.8 7
	has_namespace 10.61.0.7 1
	[ "$(limits_of 10.62.0.8)" = 5/-/65536 ]
	[ "$(limits_of 10.61.0.7)" = -/9/- ]
}

stops_with_a_malformed_file() {
	start c1 "$(address 10.60.0.1)"
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
	# shellcheck disable=SC2209 # the name of a runtime
	[ "$(VQP_RUNTIME_REAL=echo vqp-runtime kill c1 9)" = "kill c1 9" ]
	[ -z "$(runc list -q)" ]
}

sees_no_other_namespace() {
	start c1 "$(address 10.60.0.1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	start c2 "$(address 10.60.0.2) | $(tenant 2)"
	runc exec c2 sh -c "! ls /dev/infiniband 2>/dev/null"
	not nsenter -t "$(pid_of c2)" -n vqpctl vqps 2>$WORK/refusal
	not nsenter -t "$(pid_of c2)" -n vqpctl ns list 2>>$WORK/refusal
	[ "$(grep -c "vqp module" $WORK/refusal)" = 2 ]
}

own_node_of_the_parent_is_refused() {
	read -r major minor <<<"$(stat -c "0x%t 0x%T" /dev/infiniband/uverbs0)"
	bundle c1 "$(address 10.60.0.1) | $(shell "mknod /tmp/uverbs c $((major)) $((minor)); if cat /tmp/uverbs; then exit 1; fi")
		| .process.capabilities[] += [\"CAP_MKNOD\"]
		| .mounts += [{destination: \"/tmp\", type: \"tmpfs\", source: \"tmpfs\"}]"
	vqp-runtime run --bundle $WORK/c1 c1 </dev/null 2>&1 | grep "/tmp/uverbs.*Operation not permitted"
}

user_namespace_can_transfer() {
	start c1 "$(address 10.60.0.1) | .linux.namespaces += [{type: \"user\"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings
		| .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	eventually is_served 10.60.0.1
	runc exec c1 vqpt --count=10 send 10.60.0.1 7000
}

hook_has_few_privileges() {
	mkfifo $WORK/state
	vqp-hook createRuntime <$WORK/state 2>/dev/null &
	hook=$!
	exec 3>$WORK/state
	eventually grep -q "^Seccomp:.2" /proc/$hook/status
	grep -q "^CapEff:.0000000001280000" /proc/$hook/status
	grep -q "^CapPrm:.0000000001280000" /proc/$hook/status
	exec 3>&-
	wait $hook || true
	vqp-hook poststop <$WORK/state 2>/dev/null &
	hook=$!
	exec 3>$WORK/state
	eventually grep -q "^Seccomp:.2" /proc/$hook/status
	grep -q "^CapPrm:.0000000000001000" /proc/$hook/status
	exec 3>&-
	wait $hook || true
	bundle c1 "$(address 10.60.0.1)"
	pkill -STOP -x vqpd
	launch c1 run --detach &
	creator=$!
	asks() { grep -q "^CapPrm:.0000000001000000" /proc/"$(pidof vqp-hook)"/status; }
	eventually asks || { pkill -CONT -x vqpd; return 1; }
	pkill -CONT -x vqpd
	wait $creator
	has_namespace 10.60.0.1
}

# Without CAP_SYS_RESOURCE nobody of this user id can send another descriptor, whose limit is less.
hook_sends_despite_descriptors_in_flight() {
	mkfifo $WORK/until
	vqpt --count=2000 strew <$WORK/until >$WORK/strewn &
	exec 3>$WORK/until
	eventually grep -q 2000 $WORK/strewn
	not setpriv --bounding-set=-all --inh-caps=-all bash -c \
		'ulimit -n 512; vqpt hand /run/vqp/vqpd.sock /proc/self/ns/net <<<"{}"' 2>$WORK/refusal
	grep ETOOMANYREFS $WORK/refusal
	(
		exec 3>&-
		ulimit -n 512
		start c1 "$(address 10.60.0.1)"
	)
	exec 3>&-
	has_namespace 10.60.0.1
}

config_is_changed_once() {
	ip netns add n1
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
		(.hooks.poststop | length) == 1" $WORK/once
}

operator_names_crun() {
	operator "{\"runtime\": \"$(type -P crun)\"}"
	start c1 "$(address 10.60.0.1)"
	[ "$(crun list -q)" = c1 ]
	[ -z "$(runc list -q)" ]
	has_namespace 10.60.0.1
	[ "$(VQP_RUNTIME_REAL=runc vqp-runtime list -q)" = "" ]
	vqp-runtime delete --force c1
	eventually has_no_namespace 10.60.0.1
}

prestart_is_the_stage() {
	operator '{"stage": "prestart"}'
	start c1 "$(address 10.60.0.1)"
	jq -e "(.hooks | keys) == [\"poststop\", \"prestart\"] and
		.hooks.prestart[0].args == [\"vqp-hook\", \"prestart\"]" $WORK/c1/config.json
	has_namespace 10.60.0.1
}

crun_takes_another_config() {
	bundle c1 "$(address 10.60.0.1)"
	mv $WORK/c1/config.json $WORK/c1/other.json
	export VQP_RUNTIME_REAL=crun
	vqp-runtime run --detach --bundle $WORK/c1 --config $WORK/c1/other.json c1 </dev/null >$WORK/c1/out 2>&1
	crun exec c1 ls /dev/vqp
	has_namespace 10.60.0.1
	crun delete --force c1
}

cni_gives_the_address() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	has_namespace "$address"
	start c1 "$(netns n1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	eventually is_served "$address"
	runc exec c1 vqpt --count=10 send "$address" 7000
}

cni_outlives_containers() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	start c1 "$(netns n1)"
	runc delete --force c1
	has_namespace "$address"
	detach "$list" n1
	has_no_namespace "$address"
}

cni_same_id() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	start cni-n1 "$(netns n1)"
	runc delete --force cni-n1
	has_namespace "$address"
}

cni_two_containers() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	start c1 "$(netns n1) | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	run_once c2 "$(netns n1) | .process.args = [\"vqpt\", \"send\", \"$address\", \"7000\"]"
	has_namespace "$address"
}

cni_add_twice() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	result="{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"$address/24\"}]}"
	plugin ADD "$list" n1 "$result"
	[ "$(namespaces)" = "1 $address" ]
	detach "$list" n1
	detach "$list" n1
	has_namespaces 0
}

cni_same_address_other_tenant() {
	one=$(network one 1)
	address=$(attach "$one" n1)
	two=$(network two 2 ".plugins[1].tenant = 2")
	ip netns add n2
	plugin ADD "$two" n2 "{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"$address/24\"}]}"
	has_namespace "$address" 1
	has_namespace "$address" 2
}

cni_del_without_netns() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	ip netns del n1
	detach "$list" n1
	has_no_namespace "$address"
}

cni_check_finds_absence() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	plugin CHECK "$list" n1 "$(result "$address")"
	not plugin CHECK "$list" n1 "$(result 10.60.0.9)"
	detach "$list" n1
	[ "$(plugin CHECK "$list" n1 "$(result "$address")" | jq .code)" = 102 ]
}

cni_check_finds_limits() {
	list=$(network net 1 ".plugins[1].limits = {max_vqps: 5}")
	address=$(attach "$list" n1)
	plugin CHECK "$list" n1 "$(result "$address")"
	vqpctl ns set --netns n1 --max-vqps 6
	[ "$(plugin CHECK "$list" n1 "$(result "$address")" | jq .code)" = 102 ]
	# what the list says has to be as it says, and of the rest no more than the policy gives
	vqpctl ns set --netns n1 --max-vqps 4
	[ "$(plugin CHECK "$list" n1 "$(result "$address")" | jq .code)" = 102 ]
	vqpctl ns set --netns n1 --max-vqps 5 --max-mrs 5
	plugin CHECK "$list" n1 "$(result "$address")"
}

cni_check_goes_by_the_policy() {
	list=$(network net 1)
	address=$(attach "$list" n1)
	policy '{"network": "net", "tenant": 1, "limits": {"max_vqps": 5}}'
	[ "$(plugin CHECK "$list" n1 "$(result "$address")" | jq .code)" = 102 ]
	plugin ADD "$list" n1 "$(result "$address")"
	[ "$(limits_of "$address")" = 5/-/- ]
	plugin CHECK "$list" n1 "$(result "$address")"
	policy '{"network": "other", "tenant": 1}'
	plugin CHECK "$list" n1 "$(result "$address")" >"$WORK/said" || true
	jq -e '.code == 100 and (.details | startswith("no rule of /etc/vqp/policy.json is for a container of network net"))' "$WORK/said"
	detach "$list" n1
	has_namespaces 0
}

# JQ: what the plugin has answered, which was an error
cni_refusal_is() { jq -e "$1" "$WORK/said"; }

cni_tenant_is_the_policy_s() {
	policy '{"network": "net", "tenant": 7, "may_choose": {"tenants": [8]}}' '{"network": "other", "tenant": 9}'
	ip netns add n1
	list=$(network net 1)
	plugin ADD "$list" n1 "$(result 10.60.0.1)"
	has_namespace 10.60.0.1 7
	plugin DEL "$list" n1 "$(result 10.60.0.1)"
	plugin ADD "$(network net 1 '.plugins[1].tenant = 8')" n1 "$(result 10.60.0.1)"
	has_namespace 10.60.0.1 8
	plugin DEL "$list" n1 "$(result 10.60.0.1)"
	plugin ADD "$(network net 1 '.plugins[1].tenant = 9')" n1 "$(result 10.60.0.1)" >"$WORK/said" || true
	cni_refusal_is '.code == 100 and (.details | startswith("rule 1 of /etc/vqp/policy.json (line 3): tenant 9"))'
	plugin ADD "$(network third 1)" n1 "$(result 10.60.0.1)" >"$WORK/said" || true
	cni_refusal_is '.code == 100 and (.details | startswith("no rule of /etc/vqp/policy.json is for a container of network third"))'
	has_namespaces 0
}

cni_without_a_policy() {
	no_policy
	ip netns add n1
	list=$(network net 1)
	plugin ADD "$list" n1 "$(result 10.60.0.1)" >"$WORK/said" || true
	cni_refusal_is '.code == 100 and (.details | contains("vqpctl policy init"))'
	network_command STATUS "$list" >"$WORK/said" || true
	cni_refusal_is '.code == 50 and (.details | contains("vqpctl policy init"))'
	policy '{"network": "other", "tenant": 1}'
	network_command STATUS "$list" >"$WORK/said" || true
	cni_refusal_is '.code == 50 and (.details | contains("net"))'
	policy '{"network": "net", "tenant": 1}'
	network_command STATUS "$list"
	has_namespaces 0
}

# As when another CNI has written its list anew.
list_that_lost_vqp() {
	policy '{"network": "net", "tenant": 7, "limits": {"max_vqps": 5}}'
	list=$(network net 1)
	address=$(attach "$list" n1)
	start c1 "$(netns n1)"
	has_namespace "$address" 7
	runc delete --force c1
	detach "$list" n1
	address=$(attach "$(network net 1 '.plugins |= .[:1]')" n2)
	bundle c2 "$(netns n2)"
	not create c2 2>&1 | grep "no rule of /etc/vqp/policy.json is for a container of no CNI network with address .*$address"
	has_namespaces 0
}

without_a_policy() {
	no_policy
	bundle c1 "$(addressed 10.61.0.7)"
	not create c1 2>&1 | grep "this node has no policy (/etc/vqp/policy.json).*vqpctl policy init"
	run_once c2 "$(shell true)"
	has_namespaces 0
}

old_file_is_a_policy() {
	no_policy
	operator '{"limits": {"max_mrs": 9}, "networks": [{"subnet": "10.62.0.0/16", "tenant": 7, "limits": {"max_vqps": 5}}],
		"annotations": {"tenants": [9]}}'
	start c1 "$(addressed 10.62.0.8)"
	start c2 "$(addressed 10.61.0.7) | $(tenant 9)"
	has_namespace 10.62.0.8 7
	has_namespace 10.61.0.7 9
	[ "$(limits_of 10.62.0.8)" = 5/9/- ]
	policy '{"subnet": "any", "tenant": 3}'
	start c3 "$(addressed 10.62.0.9)"
	has_namespace 10.62.0.9 3
	[ "$(limits_of 10.62.0.9)" = -/-/- ]
}

cni_one_of_several_interfaces() {
	plain=$(network plain 1 ".plugins |= .[:1]")
	list=$(network second 2)
	attach "$plain" n1 eth0
	address=$(attach "$list" n1 net1)
	[ "$(namespaces)" = "1 $address" ]
	[[ $address == 10.66.2.* ]]
	detach "$plain" n1 eth0
	has_namespace "$address"
	detach "$list" n1 net1
	has_namespaces 0
}

cni_attachments_are_apart() {
	one=$(network one 1) two=$(network two 2)
	eth0=$(attach "$one" n1 eth0)
	net1=$(attach "$two" n1 net1)
	[ "$(namespaces | sort)" = "$(printf "1 %s\n" "$eth0" "$net1" | sort)" ]
	plugin CHECK "$one" n1 "$(result "$eth0")"
	plugin CHECK "$two" n1 "$(result "$net1")" net1
	ip netns add n2
	attach "$one" n2 eth0
	ip netns exec n1 vqpt --background --address="$net1" echo-server 7000
	ip netns exec n2 vqpt --count=2 send "$net1" 7000
	detach "$one" n1 eth0
	ip netns exec n2 vqpt --count=2 send "$net1" 7000
	plugin CHECK "$two" n1 "$(result "$net1")" net1
	gc "$two"
	has_namespaces 1
	detach "$two" n1 net1
	detach "$one" n2 eth0
	has_namespaces 0
}

cni_address_is_taken() {
	one=$(network one 1)
	address=$(attach "$one" n1 eth0)
	two=$(network two 2)
	out=$(plugin ADD "$two" n1 "$(result "$address")") || true
	jq -e ".code == 101 and (.details | contains(\"cni-n1/eth0/one\"))" <<<"$out"
	plugin DEL "$two" n1 "$(result "$address")"
	has_namespace "$address"
	detach "$one" n1 eth0
	has_namespaces 0
}

users_are_known() {
	[ -z "$(/vqp/in-use "$WORK")" ]
	start c1
	(export VQP_RUNTIME_REAL=crun; start c2)
	RUNTIME=runc start c3
	attach "$(network net 1)" n1
	[ "$(/vqp/in-use "$WORK")" = "$(printf "%s\n" c1 c2 cni-n1)" ]
	vqp-runtime delete --force c1
	VQP_RUNTIME_REAL=crun vqp-runtime delete --force c2
	detach "$WORK/net.conflist" n1
	eventually eval "[ -z \"\$(/vqp/in-use $WORK)\" ]"
}

cni_del_without_vqpd() {
	one=$(network one 1) two=$(network two 2)
	for i in 1 2 3 4 5; do ip netns add n$i; done
	plugins ADD "$one" 1 2 3
	plugins ADD "$two" 4
	vqpctl ns add --netns n5 --tenant 1 --address 10.60.2.5 --name mine
	pkill -9 -x vqpd; eventually eval "! pidof vqpd"
	plugins DEL "$one" 1 4
	[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 2 3 4 5)" ]
	plugins DEL "$one" 1
	gc "$one" n3
	[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 3 4 5)" ]
}

cni_del_is_known_to_vqpd() {
	[ "$(socat -t60 - UNIX-CONNECT:/run/vqp/vqpd.sock <<<"{\"op\": \"list\"}" |
		jq -rc ".namespaces | map(select(.tenant != 0).name) | sort")" = \
		"[\"cni-n3/eth0/one\",\"cni-n4/eth0/two\",\"mine\"]" ]
	# The address is free for another.
	ip netns exec n1 true
	plugin ADD "$WORK/two.conflist" n2 "$(result 10.60.2.1)"
	has_namespace 10.60.2.1
	plugins DEL "$WORK/one.conflist" 3
	has_no_namespace 10.60.2.3
}

cni_gc_removes_leftovers() {
	one=$(network one 1) two=$(network two 2)
	for i in 1 2 3 4 5; do ip netns add n$i; done
	plugins ADD "$one" 1 2 3
	plugins ADD "$two" 4
	vqpctl ns add --netns n5 --tenant 1 --address 10.60.2.5 --name mine
	gc "$one" n2 n9
	[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 2 4 5)" ]
	gc "$one"
	[ "$(namespaces | sort)" = "$(printf "1 10.60.2.%s\n" 4 5)" ]
	gc "$two"
	has_namespace 10.60.2.5
	has_namespaces 1
}

cni_gc_prepare() {
	one=$(network one 1) two=$(network two 2)
	ip netns add n1; ip netns add n2
	plugins ADD "$one" 1
	plugins ADD "$two" 2
	pkill -9 -x vqpd
}

# STATUS says what an ADD would.
cni_serves_without_device() {
	without_device() {
		socat -t60 - UNIX-CONNECT:/run/vqp/vqpd.sock <<<"{\"op\": \"status\"}" | jq -e ".node == null"
	}
	eventually without_device
	network_command STATUS "$WORK/net.conflist"
	address=$(attach "$WORK/net.conflist" n1)
	has_namespace "$address"
	detach "$WORK/net.conflist" n1
}

cni_32_at_once() {
	list=$(network net 1 ".plugins[1].limits = {max_vqps: 5}")
	for i in $(seq 32); do ip netns add n"$i"; done
	plugins ADD "$list" $(seq 32)
	has_namespaces 32
	plugins CHECK "$list" $(seq 32)
	plugins DEL "$list" $(seq 32)
	has_namespaces 0
}

# NUMBER: the VQP namespace that vqp-hook makes for a container whose process has that number in this
# PID namespace is that of this container's network namespace.
hook_names_its_own() {
	rm -f "$WORK/inode"
	echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
	unshare -n sh -c "ip link add eth0 type dummy; ip address add 10.60.0.1/24 dev eth0; ip link set eth0 up
		stat -Lc %i /proc/self/ns/net >$WORK/inode; exec sleep 60" &
	[ $! = "$1" ]
	eventually test -s "$WORK/inode"
	hook_for "$1"
	vqpctl ns list --json | jq -e --argjson inode "$(cat "$WORK/inode")" '
		map(select(.tenant != 0)) | length == 1 and .[0].netns_ino == $inode and .[0].gid == "::ffff:10.60.0.1"'
}

# PID: vqp-hook makes the VQP namespace of that process's container.
hook_for() {
	vqp-hook createRuntime <<<"{\"ociVersion\": \"1.0.2\", \"id\": \"nested\", \"status\": \"created\", \"bundle\": \"/\", \"pid\": $1}"
}

# COMMAND: in a PID and a mount namespace of their own, after the command, hook_names_its_own with the
# number that a process in another network namespace has outside.
hook_in_nested_pid_namespace() {
	local victim

	unshare -n sleep 60 &
	victim=$!
	eventually eval "[ \$(stat -Lc %i /proc/$victim/ns/net) != $(stat -Lc %i /proc/self/ns/net) ]"
	unshare --pid --fork --mount bash -c "$1; source /vqp/tests/containers/containers.bash; hook_names_its_own $victim"
	kill $victim
	eventually has_no_namespace 10.60.0.1
}
