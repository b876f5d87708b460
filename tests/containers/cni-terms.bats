#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=heart,budget:30
# Tenant, address, limits and sockets in the CNI plugin's input: who may say them, which counts, and that the
# plugin's schema takes what the plugin takes.

bats_require_minimum_version 1.5.0
load cni

# What vqpd was asked for is this: tenant, address, limits and sockets.
asked_for() { request_is ".wish == $1"; }

@test "the address may be configured, and need not be one of prevResult" {
	call ADD "$(config 1.0.0 '.address = "10.9.0.1"')"
	answer_is '.ips[0].address == "10.1.0.2/24"'
	asked_for '{address: "::ffff:10.9.0.1"}'
	request_is '.has.addresses == ["10.1.0.2"]'
	call ADD "$(config 1.0.0 '.address = "fd00::9" | del(.prevResult.ips)')"
	answer_is true
	asked_for '{address: "fd00::9"}'
	request_is '.has.addresses == []'
}

@test "an address that is none is a configuration error" {
	for address in '"10.9.0.1/24"' '"name"' '""' '"0.0.0.0"' '"127.0.0.1"' '"224.0.0.1"' '"::"' '"::1"' '"ff02::1"' \
		5 null '{}' '["10.9.0.1"]'; do
		call ADD "$(config 1.0.0 ".address = $address")"
		refused_with 7
	done
}

@test "runtimeConfig counts before the configuration" {
	call ADD "$(config 1.0.0 '. + {tenant: 5, address: "10.9.0.1", limits: {max_vqps: 10, max_mrs: 3}} |
		.runtimeConfig.vqp = {tenant: 6, address: "10.9.0.2", limits: {max_vqps: 20}}')"
	answer_is true
	asked_for '{tenant: 6, address: "::ffff:10.9.0.2", limits: {max_vqps: 20, max_mrs: 3}}'
}

@test "runtimeConfig counts before args" {
	call ADD "$(config 1.0.0 '.tenant = 5 | .runtimeConfig.vqp = {tenant: 6, address: "10.9.0.2", limits: {max_vqps: 20}} |
		.args.cni.vqp = {tenant: 7, address: "10.9.0.3", limits: {max_vqps: 30}}')" \
		'CNI_ARGS=VQP_TENANT=8;VQP_ADDRESS=10.9.0.4;VQP_MAX_VQPS=40'
	answer_is true
	asked_for '{tenant: 6, address: "::ffff:10.9.0.2", limits: {max_vqps: 20}}'
}

@test "args.cni counts before CNI_ARGS, and each before the configuration" {
	local two='.prevResult.ips += [{address: "10.1.0.3/24", interface: 2}, {address: "fd00::4/64", interface: 2}]'

	call ADD "$(config 1.0.0 "$two"' | .limits = {max_vqps: 10, max_mrs: 10, max_bytes: 10} |
		.args.cni.vqp = {address: "10.1.0.3", limits: {max_vqps: 3}}')" \
		'CNI_ARGS=IgnoreUnknown=1;VQP_ADDRESS=10.1.0.2;VQP_MAX_VQPS=4;VQP_MAX_MRS=5;K8S_POD_NAME=x'
	answer_is true
	asked_for '{address: "::ffff:10.1.0.3", limits: {max_vqps: 3, max_mrs: 5, max_bytes: 10}}'
	call ADD "$(config 1.0.0 "$two"' | .address = "10.9.0.1"')" CNI_ARGS=VQP_ADDRESS=fd00:0::4
	answer_is true
	asked_for '{address: "fd00::4"}'
	request_is '.has.addresses == ["10.1.0.2", "10.1.0.3", "fd00::4"]'
}

@test "args lower the rate and the priority" {
	call ADD "$(config 1.0.0)" 'CNI_ARGS=VQP_MAX_RATE=100000;VQP_PRIORITY=1'
	answer_is true
	asked_for '{limits: {max_rate: 100000, priority: 1}}'
	call ADD "$(config 1.0.0 '.limits = {max_rate: 200000, priority: 3} | .args.cni.vqp.limits = {priority: 2}')" CNI_ARGS=VQP_MAX_RATE=100000
	answer_is true
	asked_for '{limits: {max_rate: 100000, priority: 2}}'
}

@test "args raise neither the rate nor the priority of the configuration" {
	call ADD "$(config 1.0.0 '.limits = {priority: 1}')" CNI_ARGS=VQP_PRIORITY=2
	refused_with 7
	call ADD "$(config 1.0.0 '.limits = {max_rate: 200000}')" CNI_ARGS=VQP_MAX_RATE=unlimited
	refused_with 7
}

@test "about limits that the configuration does not say the policy decides" {
	call ADD "$(config 1.0.0)" 'CNI_ARGS=VQP_MAX_VQPS=4;VQP_MAX_BYTES=0;VQP_MAX_MRS=unlimited;VQP_PRIORITY=3'
	answer_is true
	asked_for '{limits: {max_vqps: 4, max_bytes: 0, max_mrs: "unlimited", priority: 3}}'
}

@test "args give no limit above the configuration's" {
	for args in VQP_MAX_VQPS=11 VQP_MAX_VQPS=unlimited; do
		call ADD "$(config 1.0.0 '.limits.max_vqps = 10')" CNI_ARGS=$args
		refused_with 7
	done
	call ADD "$(config 1.0.0 '.limits.max_vqps = 10 | .args.cni.vqp.limits.max_vqps = 11')"
	refused_with 7
}

@test "args choose no tenant but the configuration's; if that has none the policy decides" {
	call ADD "$(config 1.0.0)" CNI_ARGS=VQP_TENANT=7
	answer_is true
	asked_for '{tenant: 7}'
	rm "$SOCKET.requests"
	call ADD "$(config 1.0.0 '.tenant = 5 | .args.cni.vqp.tenant = 7')"
	refused_with 7
	call ADD "$(config 1.0.0 '.tenant = 7 | .args.cni.vqp.tenant = 7')" CNI_ARGS=VQP_TENANT=7
	answer_is true
	asked_for '{tenant: 7}'
}

@test "args give no address but the container's" {
	call ADD "$(config 1.0.0)" CNI_ARGS=VQP_ADDRESS=10.1.0.3
	refused_with 7
	# that of the host's side of the link
	call ADD "$(config 1.0.0 '.prevResult.ips += [{address: "10.1.0.1/24", interface: 1}]
		| .args.cni.vqp.address = "10.1.0.1"')"
	refused_with 7
}

@test "sockets are wished for by runtimeConfig, by the configuration, or else by args" {
	call ADD "$(config 1.0.0 '.sockets = {except: ["022", "10.1.0.0/16"]} | .runtimeConfig.vqp.sockets = true | .args.cni.vqp.sockets = false')"
	answer_is true
	asked_for '{sockets: true}'
	call ADD "$(config 1.0.0 '.sockets = {except: ["022", "10.1.0.0/16"]}')"
	asked_for '{sockets: {except: ["22", "10.1.0.0/16"]}}'
	call ADD "$(config 1.0.0 '.args.cni.vqp.sockets = true')" CNI_ARGS=VQP_SOCKETS=off
	asked_for '{sockets: true}'
	call ADD "$(config 1.0.0)" CNI_ARGS=VQP_SOCKETS=only:80,except:10.1.0.0/16
	asked_for '{sockets: {only: ["80"], except: ["10.1.0.0/16"]}}'
}

@test "args narrow the sockets of the configuration, and widen them not" {
	call ADD "$(config 1.0.0 '.sockets = true')" CNI_ARGS=VQP_SOCKETS=only:80
	asked_for '{sockets: {only: ["80"]}}'
	call ADD "$(config 1.0.0 '.sockets = true')" CNI_ARGS=VQP_SOCKETS=off
	asked_for '{sockets: false}'
	call ADD "$(config 1.0.0 '.sockets = {only: ["80"]}')" CNI_ARGS=VQP_SOCKETS=on
	asked_for '{sockets: {only: ["80"]}}'
	call ADD "$(config 1.0.0 '.sockets = {only: ["80", "443"]}')" CNI_ARGS=VQP_SOCKETS=only:443,except:10.1.0.0/16
	asked_for '{sockets: {only: ["443"], except: ["10.1.0.0/16"]}}'
	rm "$SOCKET.requests"
	for args in on only:80; do
		call ADD "$(config 1.0.0 '.sockets = false')" CNI_ARGS=VQP_SOCKETS=$args
		refused_with 7
	done
	call ADD "$(config 1.0.0 '.sockets = {only: ["80"]} | .args.cni.vqp.sockets = {only: ["81"]}')"
	refused_with 7
	call ADD "$(config 1.0.0 '.sockets = {only: ["80"], except: ["any"]} | .args.cni.vqp.sockets = {only: ["80"]}')"
	refused_with 7
}

@test "a vqpd that does not turn sockets on that are asked for is told of, and what it made is deleted" {
	reply '{"ok":true,"gid":"::ffff:10.1.0.2","tenant":1,"limits":{}}' add
	call ADD "$(config 1.0.0 '.sockets = true')"
	error_is 102
	jq -e '.msg + .details | contains("install both of one")' <<<"$output"
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["add","del"]' ]
	call ADD "$(config 1.0.0 '.sockets = false')"
	answer_is true
}

@test "what is misspelt among the plugin's own is an error" {
	for change in '.runtimeConfig.vqp.tenants = 5' '.args.cni.vqp.limit = {}'; do
		call ADD "$(config 1.0.0 "$change")"
		refused_with 7
	done
	for change in '.tennant = 7' '.tenants = 7' '.Tenant = 7' '.tenantID = 7' '.tenant_id = 7' '.teannt = 7' '.limit = {}' '.Limits = {}' \
		'.adress = "10.1.0.2"' '.addr = "10.1.0.2"' '.addresses = ["10.1.0.2"]' '.vqp = {tenant: 7}' '.vqpdSocket = "/x"' \
		'.runtimeconfig = {}' '.max_vqps = 5' '.socket = true' '.maxBytes = 5' '."max-rate" = 5' '.prio = 1'; do
		echo "$change"
		call ADD "$(config 1.0.0 "$change")"
		refused_with 7
		jq -e '.msg + .details | contains("is meant")' <<<"$output"
	done
	for args in VQP_TENANTS=5 VQP_=5 'K8S_POD_NAME=x;VQP_LIMITS=5'; do
		call ADD "$(config 1.0.0)" "CNI_ARGS=$args"
		refused_with 4
	done
}

@test "CNI_ARGS that are no pairs, or no numbers, are environment errors" {
	for args in VQP_TENANT '=' '=5' 'A=1;B' VQP_TENANT= VQP_TENANT=x VQP_TENANT=-1 VQP_TENANT=1.5 'VQP_TENANT= 1' \
		VQP_MAX_VQPS=9999999999999999999 VQP_SOCKETS= VQP_SOCKETS=true VQP_SOCKETS=only:0 $'VQP_ADDRESS=\xff'; do
		echo "$args"
		call ADD "$(config 1.0.0)" "CNI_ARGS=$args"
		refused_with 4
	done
	call ADD "$(config 1.0.0)" CNI_ARGS=VQP_TENANT=0
	refused_with 7
}

@test "members of the runtime, of other plugins and of nobody are left to them" {
	call ADD "$(config 1.0.0 '. += {capabilities: {vqp: true}, args: {}, dns: {}, ipam: {}, ipMasq: true, mtu: 1500, bridge: "b",
		isGateway: true, keepAlive: 1, disableCheck: true, deviceID: "0", pciBusID: "0", "cni.dev/valid-attachments": [],
		"_comment": "ours", "$schema": "x", mode: "x", master: "x", vlan: 7, mac: "x", promiscMode: true, snat: true}')"
	[ "$status" -eq 0 ]
}

@test "what others find in runtimeConfig, args and CNI_ARGS is left to them" {
	call ADD "$(config 1.0.0 '.runtimeConfig = {mac: 5, vqp: null} | .args = {cni: {ips: 5, vqp: null}, labels: []}')" \
		'CNI_ARGS=IP=10.1.0.9;MAC=x;;'
	answer_is true
}

@test "DEL and GC work with terms that are wrong by now" {
	call DEL "$(config 1.0.0 '.tenant = 0 | .limits = 5')" CNI_ARGS=VQP_TENANT=x
	silent
	reply '{"ok":true,"namespaces":[]}' list
	call GC "$(config 1.1.0 '.tenant = 0 | ."cni.dev/valid-attachments" = []')"
	silent
}

# ---- the schema ----

# Valid and invalid configurations beside those of tests/programs/cni-inputs, as jq filters.
changes() {
	cat <<-'END'
		.tenant = 1
		.tenant = 4294967295
		.tenant = 0
		.tenant = -1
		.tenant = 4294967296
		.tenant = 1.5
		.tenant = "1"
		.tenant = null
		.limits = {}
		.limits = {max_vqps: 0}
		.limits = {max_vqps: 5, max_mrs: 5, max_bytes: 9223372036854775807}
		.limits = {max_rate: 65536, priority: 3}
		.limits = {max_rate: 0}
		.limits = {max_rate: 65535}
		.limits = {max_rate: "unlimited", max_vqps: "unlimited"}
		.limits = {priority: "unlimited"}
		.limits = {mtu: 5}
		.limits = {priority: "high"}
		.limits = {max_vqps: -1}
		.limits = {max_vqps: "5"}
		.limits = {max_mrs: 1.5}
		.limits = {max_bytes: null}
		.limits = []
		.limits = 5
		.limits = null
		.sockets = true
		.sockets = false
		.sockets = {only: ["80", "8000-8999", "1-65535", "10.7.0.0/16", "fd00::/64", "fd00::1"], except: ["any"]}
		.sockets = {except: ["65535"]}
		.sockets = {only: ["80"], except: []}
		.sockets = {only: "80"}
		.sockets = {only: [80]}
		.sockets = {only: ["0"]}
		.sockets = {only: ["65536"]}
		.sockets = {only: ["80-"]}
		.sockets = {only: ["http"]}
		.sockets = {only: ["10.7.0.0/33"]}
		.sockets = {only: ["22-22", "00080-090", "2000::/3", "::1/128"]}
		.sockets = {only: ["-80"]}
		.sockets = {only: ["80-81-82"]}
		.sockets = {only: ["80 "]}
		.sockets = {only: ["::/0"]}
		.sockets = {except: ["0:0::/64"]}
		.sockets = {except: ["::/81"]}
		.sockets = {except: ["::fffe:0:0/96"]}
		.sockets = {only: [range(1; 65) | tostring]}
		.sockets = {only: [range(1; 66) | tostring]}
		.sockets = {ports: ["80"]}
		.sockets = {}
		.sockets = []
		.sockets = "on"
		.sockets = 1
		.sockets = null
		.address = "10.9.0.1"
		.address = "fd00::9"
		.address = "255.0.0.1"
		.address = "10.9.0.1/24"
		.address = "10.9.0"
		.address = "name"
		.address = ""
		.address = "0.0.0.0"
		.address = "127.0.0.1"
		.address = "224.0.0.1"
		.address = "239.255.255.255"
		.address = "::"
		.address = "::1"
		.address = "ff02::1"
		.address = 5
		.address = null
		.vqpd = null
		.vqpd = "vqpd.sock"
		.vqpd = ""
		.vqpd = "/" * 108
		.vqpd = 5
		.cniVersion = "" | .prevResult = {ip4: {ip: "10.1.0.2/24"}}
		.cniVersion = null | .prevResult = {ip4: {ip: "10.1.0.2/24"}}
		.cniVersion = "1.2.0"
		.runtimeConfig = null
		.runtimeConfig = {vqp: null}
		.runtimeConfig = {vqp: {}}
		.runtimeConfig = {vqp: {tenant: 7, address: "10.9.0.1", limits: {max_vqps: 5}}}
		.runtimeConfig = {vqp: 5}
		.runtimeConfig = {vqp: []}
		.runtimeConfig = {vqp: {tenant: 0}}
		.runtimeConfig = {vqp: {address: "x"}}
		.runtimeConfig = {vqp: {limits: 5}}
		.runtimeConfig = {vqp: {sockets: {only: ["80"]}}}
		.runtimeConfig = {vqp: {sockets: "on"}}
		.runtimeConfig = {vqp: {limits: {max_vqps: -1}}}
		.runtimeConfig = {vqp: {tenants: 7}}
		.args = null
		.args = {cni: null}
		.args = {cni: {vqp: null}}
		.args = {cni: {vqp: {tenant: 1, address: "10.1.0.2", limits: {max_vqps: 5}}}}
		.args = {cni: {vqp: 5}}
		.args = {cni: {vqp: {tenant: "1"}}}
		.args = {cni: {vqp: {sockets: false}}}
		.args = {cni: {vqp: {sockets: 0}}}
		.args = {cni: {vqp: {address: 5}}}
		.args = {cni: {vqp: {limits: {max_mrs: "x"}}}}
		.args = {cni: {vqp: {name: "x"}}}
	END
}

# Each configuration of the tables, one a line.
configurations() {
	local command variables change

	changes | while read -r change; do
		config 1.0.0 "$change"
	done
	while IFS=$'\t' read -r command variables change; do
		[ "$command $variables" = "ADD -" ] || continue
		case $change in
		=*) echo "${change#=}" ;;
		*) config 1.0.0 "$change" ;;
		esac
	done <"$BATS_TEST_DIRNAME/../programs/cni-inputs"
}

@test "both schemas say the same of sockets" {
	local own='.definitions | {sockets, sockets_list, ports, subnet}' at=$BATS_TEST_DIRNAME/../..
	[ "$(jq -S "$own" "$at/cni-plugin/vqp.schema.json")" = "$(jq -S "$own" "$at/node/vqp-policy.schema.json")" ]
	jq -e "$own | all" "$at/cni-plugin/vqp.schema.json"
}

@test "the schema takes the configurations that the plugin takes, and no others" {
	local configs=() schema expected line differ=0 taken=0

	mapfile -t configs < <(configurations)
	schema=$("$BATS_TEST_DIRNAME/../programs/schema-verdicts" "$BATS_TEST_DIRNAME/../../cni-plugin/vqp.schema.json" \
		< <(printf '%s\n' "${configs[@]}")) || return
	[ "$(wc -l <<<"$schema")" -eq ${#configs[@]} ]
	[ ${#configs[@]} -gt 100 ]
	for line in "${configs[@]}"; do
		read -r expected
		call ADD "$line"
		if [ "$status" -ne 0 ] && jq -e '.code | IN(1, 2, 6, 7)' <<<"$output" >/dev/null; then
			[ "$expected" = refused ] || { echo "plugin: $output, schema: taken: $line"; differ=1; }
		else
			[ "$expected" = taken ] || { echo "plugin: taken, schema: refused: $line"; differ=1; }
			((++taken))
		fi
	done <<<"$schema"
	[ $differ -eq 0 ]
	[ $taken -gt 20 ]
}
