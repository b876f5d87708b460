# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/policy.bats does on a node. Sourced there.

# shellcheck source=tests/lib/containers.bash
source /vqp/tests/lib/containers.bash

file=/etc/vqp/policy.json mine=/run/vqp-policy old=/etc/vqp/runtime.json
list=/etc/cni/net.d/05-policy.conflist

# Once: the node's own files are put away, and come back.
keep() {
	mkdir -p "$mine"
	mv -t "$mine" "$file"
	[ ! -e "$old" ] || mv -t "$mine" "$old"
}

give_back() {
	rm -f "$file" "$old"
	mv -t /etc/vqp "$mine"/*
	rmdir "$mine"
}

# RULE...: the policy has these; without any there is none
rules() {
	rm -f "$file"
	[ $# = 0 ] || printf '%s\n' "$@" | jq -s '{rules: .}' >"$file"
}

# STATUS TEXT COMMAND...: it ends so, and says that
says() {
	local status=0 said

	said=$("${@:3}" 2>&1) || status=$?
	[[ $status = "$1" && $said == *"$2"* ]] || { echo "${*:3}: $status, $said" >&2; return 1; }
}

clean() {
	cleanup
	rm -f "$file" "$old" "$list"
}

# NETNS [OPTION...]: make its VQP namespace, of tenant 3 and with the address 10.60.3.1
add() { vqpctl ns add --netns "$1" --tenant 3 --address 10.60.3.1 "${@:2}"; }

without_a_policy() {
	rules
	ip netns add n1
	says 77 'this node has no policy' add n1
	has_namespaces 0
	add n1 --without-policy
	has_namespace 10.60.3.1 3
}

no_rule_for_ns_add() {
	rules '{"subnet": "10.61.0.0/16", "tenant": 3}' '{"network": "blue", "tenant": 3}'
	ip netns add n1
	says 77 'no rule of /etc/vqp/policy.json' add n1
	rules '{"subnet": "any", "tenant": 4}'
	says 77 'rule 1 of /etc/vqp/policy.json (line ' add n1
	rules '{"subnet": "any", "tenant": 3}'
	says 77 'rule 1 of /etc/vqp/policy.json (line ' add n1
	has_namespaces 0
	rules '{"subnet": "any", "tenant": 3, "limits": {"max_vqps": 9}, "may_choose": {"addresses": ["10.60.3.0/24"]}}'
	says 77 'max_vqps' add n1 --max-vqps 10
	says 77 'priority' add n1 --priority high
	add n1 --max-mrs 5
	has_namespace 10.60.3.1 3
	[ "$(limits_of 10.60.3.1)" = 9/5/- ]
}

# An address that the container has needs no word of the policy.
own_address_for_ns_add() {
	rules '{"subnet": "10.60.3.0/24", "tenant": 3}'
	ip netns add n1
	ip -n n1 link add eth0 type veth peer name eth1
	ip -n n1 address add 10.60.3.1/24 dev eth0
	ip -n n1 link set eth0 up
	add n1
	has_namespace 10.60.3.1 3
}

no_rule_for_the_hook() {
	rules '{"network": "blue", "tenant": 3}'
	bundle c1 "$(addressed 10.60.3.1)"
	says 1 'no rule of /etc/vqp/policy.json' create c1
	has_namespaces 0
	rules '{"network": "blue", "tenant": 3}' '{"subnet": "10.60.3.0/24", "tenant": 5}'
	create c1
	has_namespace 10.60.3.1 5
}

no_rule_for_the_plugin() {
	local conf

	conf=$(network blue 1 '.plugins[1].tenant = 7')
	rules '{"subnet": "10.99.0.0/16", "tenant": 7}' '{"network": "red", "tenant": 7}'
	says 1 'no rule of /etc/vqp/policy.json' attach "$conf" n1
	has_namespaces 0
	rules '{"network": "blue", "tenant": 8}'
	says 1 'tenant 7 is asked for' attach "$conf" n2
	has_namespaces 0
	rules '{"network": "blue", "tenant": 7, "limits": {"max_vqps": 4}}'
	attach "$conf" n3
	has_namespaces 1
	vqpctl ns list --json | jq -e 'any(.[]; .tenant == 7 and .max_vqps == 4)'
	vqpctl policy explain --netns n3 >"$WORK/said"
	grep -qx 'network  *blue, by the VQP namespace that it has' "$WORK/said"
	grep -qx 'by rule  *1 of /etc/vqp/policy.json, line .*' "$WORK/said"
	detach "$conf" n3
}

# ADDRESS: the sockets of its VQP namespace
sockets_of() {
	vqpctl ns list --json | jq -c --arg gid "::ffff:$1" '.[] | select(.gid == $gid).sockets'
}

# CONTAINER: a process in its network namespace makes one
makes_socket() { nsenter --net="/proc/$(pid_of "$1")/ns/net" python3 -c 'import socket; socket.socket(2, 1, 258)'; }

sockets_for_the_hook() {
	rules '{"subnet": "10.60.3.0/24", "tenant": 5, "sockets": {"only": ["80", "10.60.0.0/16"]}}' \
		'{"subnet": "10.60.4.0/24", "tenant": 5}' \
		'{"subnet": "10.60.5.0/24", "tenant": 5, "may_choose": {"sockets": true}}'
	start c1 "$(addressed 10.60.3.1)"
	[ "$(sockets_of 10.60.3.1)" = '{"only":["80","10.60.0.0/16"]}' ]
	makes_socket c1
	start c2 "$(addressed 10.60.4.1)"
	[ "$(sockets_of 10.60.4.1)" = false ]
	says 1 'Protocol not supported' makes_socket c2
	bundle c3 "$(addressed 10.60.4.2) | $(rule sockets on)"
	says 1 'sockets are asked for (on), and given so: off' create c3
	[ -z "$(sockets_of 10.60.4.2)" ]
	start c4 "$(addressed 10.60.5.1)"
	[ "$(sockets_of 10.60.5.1)" = false ]
	start c5 "$(addressed 10.60.5.2) | $(rule sockets on)"
	[ "$(sockets_of 10.60.5.2)" = true ]
	start c6 "$(addressed 10.60.5.3) | $(rule sockets except:22)"
	[ "$(sockets_of 10.60.5.3)" = '{"except":["22"]}' ]
	vqpctl policy explain --container c6 --json | jq -e '.wish.sockets == {except: ["22"]} and .sockets == .wish.sockets'
	bundle c7 "$(addressed 10.60.5.4) | $(rule sockets yes)"
	says 1 'annotation io.vqp.sockets: sockets are ' create c7
}

sockets_for_others() {
	local conf plain

	conf=$(network blue 1 '.plugins[1].sockets = {only: ["80"]}') plain=$(network red 2)
	rules '{"network": "blue", "tenant": 7}' '{"network": "red", "tenant": 7, "sockets": true}'
	says 1 'sockets are asked for (only:80), and given so: off' attach "$conf" n1
	has_namespaces 0
	attach "$plain" n2
	vqpctl ns list --json | jq -e 'any(.[]; .tenant == 7 and .sockets == true)'
	detach "$plain" n2
	rules '{"network": "blue", "tenant": 7, "may_choose": {"sockets": true}}'
	attach "$conf" n3
	vqpctl ns list --json | jq -e 'any(.[]; .tenant == 7 and .sockets == {only: ["80"]})'
	detach "$conf" n3

	rules '{"subnet": "any", "tenant": 3, "may_choose": {"addresses": ["10.60.3.0/24"]}}'
	ip netns add n4
	says 77 'sockets are asked for (on), and given so: off' add n4 --sockets on
	add n4 --sockets on --without-policy
	# The same again leaves what was set since, unless the policy has a word.
	add n4
	[ "$(sockets_of 10.60.3.1)" = true ]
	rules '{"subnet": "any", "tenant": 3, "sockets": {"except": ["22"]}, "may_choose": {"addresses": ["10.60.3.0/24"]}}'
	add n4
	[ "$(sockets_of 10.60.3.1)" = '{"except":["22"]}' ]
	add n4 --sockets off
	[ "$(sockets_of 10.60.3.1)" = false ]
}

init() {
	mkdir -p "${list%/*}"
	network blue 1 '.plugins[1].tenant = 7' >/dev/null
	cp "$WORK/blue.conflist" "$list"
	echo '{"networks": [{"subnet": "10.7.0.0/16", "tenant": 8}], "stage": "createRuntime"}' >"$old"
	rules
	vqpctl policy check | grep 'vqpctl policy init'
	vqpctl policy init | grep -F "$list has the plugin vqp with this tenant"
	jq -e '.rules | index({network: "blue", tenant: 7}) < index({subnet: "10.7.0.0/16", tenant: 8})' "$file"
	jq -e '.rules[-1] == {subnet: "any", tenant: 1}' "$file"
	[ "$(stat -c %a:%u "$file")" = 644:0 ]
	vqpctl policy check | grep 'take them out once this node runs it'
	vqpctl policy init | grep unchanged
	rules '{"subnet": "any", "tenant": 9}'
	says 73 '--force' vqpctl policy init
	jq -e '.rules == [{subnet: "any", tenant: 9}]' "$file"
	vqpctl policy init --force | grep replaced
	jq -e '.rules | length >= 3' "$file"
}

configure() {
	local status=0

	rules
	vqpctl configure podman --dry-run --json | jq -e --arg path "$file" 'any(.files[]; .path == $path and .action == "written" and
		(.text | fromjson | .rules | length > 0))'
	[ ! -e "$file" ]
	vqpctl configure podman | grep -F "$file: written"
	cp "$file" "$WORK/policy"
	vqpctl configure podman | grep -F "$file" || status=$?
	vqpctl configure podman --remove >/dev/null
	cmp "$file" "$WORK/policy"
	# one that is there is not spoken of
	[ "$status" = 1 ]
}

explain() {
	rules '{"network": "blue", "tenant": 7, "by_annotation": true}' \
		'{"subnet": "10.60.3.0/24", "tenant": 5, "limits": {"max_vqps": 9}, "may_choose": {"tenants": [6]}}'
	start c1 "$(addressed 10.60.3.1 10.60.4.1) | $(tenant 6) | $(rule max_vqps 3)"
	vqpctl policy explain --container c1 --json >"$WORK/said"
	jq -e '.ok and .tenant == 6 and .limits.max_vqps == 3 and .rule.number == 2 and .rule.line > 1
		and .rule.text.tenant == 5 and (.now | length == 1) and .now[0].tenant == 6
		and .wish == {tenant: 6, limits: {max_vqps: 3}} and (.addresses | length == 2)' "$WORK/said"
	vqpctl policy explain --pid "$(pid_of c1)" --json | jq -e '.tenant == 5 and .limits.max_vqps == 9'
	vqpctl policy explain --pid "$(pid_of c1)" | grep -x 'has now  *tenant 6, address .*10.60.3.1, name oci:c1/.*'
	vqpctl policy explain --pid "$(pid_of c1)" | grep 'network  *none: vqp-hook asks'
	says 77 '"tenants" of "may_choose"' vqpctl policy explain --container c1 --annotation io.vqp.tenant=8
	says 77 'no rule of /etc/vqp/policy.json' vqpctl policy explain --address 10.60.4.1
	says 77 'has "by_annotation"' vqpctl policy explain --address 10.60.4.1 --annotation io.vqp.network=red
	vqpctl policy explain --address 10.60.4.1 --network blue --json | jq -e '.tenant == 7 and .network == "blue"'
	vqpctl policy explain --address 10.60.4.1 --annotation io.vqp.network=blue --json | jq -e '.tenant == 7'
	says 66 'no container c2' vqpctl policy explain --container c2
	says 64 'about whom' vqpctl policy explain
	says 64 'about whom' vqpctl policy explain --pid 1 --address 10.60.3.1
	says 64 "the host's network" vqpctl policy explain --pid 1
}
