#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=heart,budget:30
# What vqpctl makes of the text of a policy: what is wrong is told with its place, and the schema takes what vqpctl takes.

bats_require_minimum_version 1.5.0

setup() {
	PATH=${O:-$BATS_TEST_DIRNAME/../../build}/bin:$PATH
	FILE=$BATS_TEST_TMPDIR/policy.json
}

# POLICY: what vqpctl says of it
check() {
	echo "$1" >"$FILE"
	run --separate-stderr vqpctl policy check "$FILE"
}

@test "a right policy is called so, with the number of its rules" {
	check '{"rules": [{"network": "blue", "tenant": 7}, {"subnet": "any", "tenant": 1}]}'
	[ "$status" -eq 0 ]
	[ "$output" = "$FILE: right, 2 rules" ]
	run vqpctl policy check --json "$FILE"
	[ "$status" -eq 0 ]
	jq -e '.ok and .rules == 2 and .old == false' <<<"$output"
}

@test "what is wrong is told with its rule and line" {
	check $'{\n  "rules": [\n    {"network": "a{", "tenant": 7}\n  ]\n}'
	[ "$status" -eq 64 ]
	[[ $stderr == *"$FILE: rule 1 (line 3): "* ]]
	check $'{\n  "rules": [\n    {"network": "a", "tenant": 7},\n\n    {"subnet": "any", "tennant": 7}\n  ]\n}'
	[ "$status" -eq 64 ]
	[[ $stderr == *"rule 2 (line 5): "*'"tennant"'* ]]
}

@test "a member that is there twice is an error" {
	check '{"rules": [{"network": "a", "tenant": 7, "tenant": 8}]}'
	[ "$status" -eq 64 ]
	[[ $stderr == *duplicate* ]]
}

@test "a file that is not there is told" {
	run --separate-stderr vqpctl policy check "$FILE"
	[ "$status" -eq 66 ]
	[[ $stderr == *"$FILE"* ]]
}

# More, vqpd does not read.
@test "a file that is longer than a policy can be is refused" {
	check "{\"rules\": [{\"subnet\": \"any\", \"tenant\": 1}]$(printf '%65536s' '')}"
	[ "$status" -ne 0 ]
	[[ $stderr == *"$FILE is longer than 65536 bytes"* ]]
	check "{\"rules\": [{\"subnet\": \"any\", \"tenant\": 1}]$(printf '%65400s' '')}"
	[ "$status" -eq 0 ]
}

# ---- the schema ----

# Rules, and what of each makes the policy wrong if anything does, as JSON on a line of its own
policies() {
	local rule
	while read -r rule; do
		jq -cn '{network: "blue", tenant: 7} | '"$rule"' | {rules: [{subnet: "any", tenant: 1}, .]}'
	done <<-'END'
		.
		.network = ""
		.network = "../x"
		.network = "-x"
		.network = "a.b_c-9"
		.network = 5
		.network = null
		.network = "x" * 200
		.network = "x" * 201
		del(.network)
		.subnet = "any"
		.subnet = "10.7.0.0/16"
		.subnet = "10.7.0.1"
		.subnet = "0.0.0.0/0"
		.subnet = "255.255.255.255/32"
		.subnet = "10.7.0.0/33"
		.subnet = "10.7.0.0/"
		.subnet = "10.7.0.0/x"
		.subnet = "10.7.0/16"
		.subnet = "10.7.0.256/32"
		.subnet = "10.7.0.0.0/16"
		.subnet = "fd00::/64"
		.subnet = "fd00::1"
		.subnet = "::/0"
		.subnet = "::0:0/80"
		.subnet = "::/81"
		.subnet = "::fffe:0:0/96"
		.subnet = "2000::/3"
		.subnet = "fd00::/129"
		.subnet = "all"
		.subnet = ""
		.subnet = 10
		.subnet = null
		.subnet = ["10.7.0.0/16"]
		del(.network) | .subnet = "any"
		del(.tenant)
		.tenant = 1
		.tenant = 4294967295
		.tenant = 4294967296
		.tenant = 0
		.tenant = -1
		.tenant = 1.5
		.tenant = "7"
		.tenant = "any"
		.tenant = null
		.limits = {}
		.limits = {max_vqps: 0, max_mrs: 5, max_bytes: 9223372036854775807, max_rate: 65536, priority: 3}
		.limits = {max_vqps: "unlimited", max_rate: "unlimited"}
		.limits = {max_rate: 65535}
		.limits = {priority: 0}
		.limits = {priority: 4}
		.limits = {priority: "unlimited"}
		.limits = {max_vqps: -1}
		.limits = {max_vqps: "5"}
		.limits = {mtu: 5}
		.limits = []
		.limits = null
		.sockets = true
		.sockets = false
		.sockets = {only: ["80", "8000-8999", "10.7.0.0/16", "fd00::/64"], except: ["8080", "any"]}
		.sockets = {only: []}
		.sockets = {only: [80]}
		.sockets = {only: ["0"]}
		.sockets = {only: ["1-65536"]}
		.sockets = {only: ["all"]}
		.sockets = {except: [range(1; 66) | tostring]}
		.sockets = {not: ["80"]}
		.sockets = {}
		.sockets = []
		.sockets = "on"
		.sockets = null
		.may_choose = {sockets: true}
		.may_choose = {sockets: {except: ["22"]}}
		.may_choose = {sockets: "any"}
		.may_choose = {}
		.may_choose = {tenants: "any"}
		.may_choose = {tenants: []}
		.may_choose = {tenants: [1, 4294967295]}
		.may_choose = {tenants: [0]}
		.may_choose = {tenants: ["any"]}
		.may_choose = {tenants: "all"}
		.may_choose = {tenants: 5}
		.may_choose = {addresses: ["any"]}
		.may_choose = {addresses: ["10.9.0.0/16", "fd00::/64", "10.9.0.1"]}
		.may_choose = {addresses: "any"}
		.may_choose = {addresses: [5]}
		.may_choose = {addresses: ["x"]}
		.may_choose = {limits: {}}
		.may_choose = []
		.may_choose = null
		.by_annotation = true
		.by_annotation = false
		.by_annotation = "true"
		.by_annotation = null
		del(.network) | .subnet = "any" | .by_annotation = true
		del(.network) | .subnet = "any" | .by_annotation = false
		.tennant = 7
		.address = "10.7.0.1"
		[.]
		"any"
		null
	END
	printf '%s\n' '{"rules": []}' '{"rules": {}}' '{"rules": null}' '{}' '[]' '5' '{"rules": [], "tenant": 1}' 'no JSON'
}

@test "the schema takes the policies that vqpctl takes, and no others" {
	local policies=() schema expected policy differ=0 taken=0

	mapfile -t policies < <(policies)
	schema=$("$BATS_TEST_DIRNAME/../programs/schema-verdicts" "$BATS_TEST_DIRNAME/../../node/vqp-policy.schema.json" \
		< <(printf '%s\n' "${policies[@]}")) || return
	[ "$(wc -l <<<"$schema")" -eq ${#policies[@]} ]
	[ ${#policies[@]} -gt 80 ]
	for policy in "${policies[@]}"; do
		read -r expected
		check "$policy"
		if [ "$status" -ne 0 ]; then
			[ "$expected" = refused ] || { echo "vqpctl: $stderr, schema: taken: $policy"; differ=1; }
		else
			[ "$expected" = taken ] || { echo "vqpctl: taken, schema: refused: $policy"; differ=1; }
			((++taken))
		fi
	done <<<"$schema"
	[ $differ -eq 0 ]
	[ $taken -gt 20 ]
}

@test "bits behind a prefix are wrong, and some prefixes with all of IPv4 in them, which no schema can say" {
	check '{"rules": [{"subnet": "10.7.0.1/16", "tenant": 7}]}'
	[ "$status" -eq 64 ]
	[[ $stderr == *10.7.0.1/16* ]]
	check '{"rules": [{"subnet": "::fffe:0:0/95", "tenant": 7}]}'
	[ "$status" -eq 64 ]
	[[ $stderr == *'"::fffe:0:0/95" has all of IPv4 in it, too: "any" is for both'* ]]
}
