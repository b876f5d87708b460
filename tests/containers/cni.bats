#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=heart,budget:45
# The CNI plugin against the CNI specification: what it accepts, refuses, asks
# of vqpd and answers. Runs on the machine that builds, with a vqpd that answers
# as told; tests/containers/containers.bats has the real one.

bats_require_minimum_version 1.5.0

load cni

@test "ADD asks vqpd for the address of prevResult" {
	call ADD "$(config 1.0.0)"
	answer_is true
	request_is '. == {op: "add", id: "c1", ifname: "eth0", network: "net",
		has: {network: "net", addresses: ["10.1.0.2"]}, wish: {}}'
	with_netns
}

@test "ADD answers with prevResult unchanged" {
	call ADD "$(config 1.0.0)"
	answer_is "$(config 1.0.0 '"\(.prevResult) == ."' | jq -r .)"
}

@test "ADD passes the tenant of the configuration" {
	call ADD "$(config 1.0.0 '.tenant = 4294967295')"
	answer_is true
	request_is '.wish.tenant == 4294967295'
}

@test "ADD passes the limits of the configuration" {
	call ADD "$(config 1.0.0 '.limits = {max_vqps: 100, max_bytes: 1048576}')"
	answer_is true
	request_is '.wish == {limits: {max_vqps: 100, max_bytes: 1048576}}'
}

@test "ADD takes an IPv6 address" {
	call ADD "$(config 1.0.0 '.prevResult.ips[0].address = "fd00::2/64"')"
	answer_is true
	request_is '.has.addresses == ["fd00::2"]'
}

@test "ADD takes the address of the interface it is called for" {
	call ADD "$(config 1.0.0 '.prevResult.interfaces += [{name: "net1", sandbox: "/run/netns/x"}]
		| .prevResult.ips += [{interface: 3, address: "10.2.0.2/24"}]')" CNI_IFNAME=net1
	answer_is true
	request_is '.has.addresses == ["10.2.0.2"] and .ifname == "net1"'
}

@test "ADD takes an address that names no interface" {
	call ADD "$(config 1.0.0 'del(.prevResult.ips[0].interface)')"
	answer_is true
	request_is '.has.addresses == ["10.1.0.2"]'
}

@test "ADD does not need CNI_PATH" {
	run --separate-stderr env -i CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS="$NETNS" CNI_IFNAME=eth0 \
		"$PLUGIN" <<<"$(config 1.0.0)"
	answer_is true
}

@test "ADD answers in 0.3.1 and 0.4.0 with the family of each address" {
	for version in 0.3.0 0.3.1 0.4.0; do
		call ADD "$(config $version)"
		answer_is '.cniVersion == "'$version'" and .ips[0].version == "4" and .ips[0].interface == 2'
	done
}

@test "ADD drops what came with 1.1.0 from an answer in 1.0.0" {
	call ADD "$(config 1.0.0 '.prevResult.cniVersion = "1.1.0" | .prevResult.interfaces[2].mtu = 9000
		| .prevResult.routes[0].table = 7')"
	answer_is '.cniVersion == "1.0.0" and (.interfaces[2] | has("mtu") | not) and .routes == [{dst: "0.0.0.0/0"}]'
}

@test "ADD keeps what came with 1.1.0 in an answer in 1.1.0" {
	call ADD "$(config 1.1.0 '.prevResult.interfaces[2].mtu = 9000')"
	answer_is '.cniVersion == "1.1.0" and .interfaces[2].mtu == 9000'
}

@test "ADD answers in 0.2.0 with ip4 and ip6" {
	call ADD "$(config 0.2.0 '.prevResult = {cniVersion: "0.2.0",
		ip4: {ip: "10.1.0.2/24", gateway: "10.1.0.1", routes: [{dst: "0.0.0.0/0"}]}, ip6: {ip: "fd00::2/64"}}')"
	answer_is '. == {cniVersion: "0.2.0", ip4: {ip: "10.1.0.2/24", gateway: "10.1.0.1",
		routes: [{dst: "0.0.0.0/0"}]}, ip6: {ip: "fd00::2/64"}}'
	request_is '.has.addresses == ["10.1.0.2", "fd00::2"]'
}

@test "ADD converts a prevResult of another version" {
	call ADD "$(config 1.0.0 '.prevResult = {cniVersion: "0.2.0",
		ip4: {ip: "10.1.0.2/24", routes: [{dst: "0.0.0.0/0", gw: "10.1.0.1"}]}}')"
	answer_is '.ips == [{address: "10.1.0.2/24"}] and .routes == [{dst: "0.0.0.0/0", gw: "10.1.0.1"}]'
	call ADD "$(config 0.2.0 '.prevResult.cniVersion = "1.0.0"')"
	answer_is '. == {cniVersion: "0.2.0", ip4: {ip: "10.1.0.2/24", gateway: "10.1.0.1",
		routes: [{dst: "0.0.0.0/0"}]}, dns: {}}'
}

@test "ADD takes a configuration without cniVersion as 0.1.0" {
	call ADD "$(config 1.0.0 'del(.cniVersion)')"
	answer_is '.cniVersion == "0.1.0" and .ip4.ip == "10.1.0.2/24"'
}

@test "ADD without prevResult is a configuration error" {
	call ADD "$(config 1.0.0 'del(.prevResult)')"
	refused_with 7
}

@test "ADD with a prevResult without addresses is a configuration error" {
	call ADD "$(config 1.0.0 'del(.prevResult.ips)')"
	refused_with 7
}

@test "ADD does not take an address of the host's side, unless the container has it" {
	call ADD "$(config 1.0.0 '.prevResult.ips[0].interface = 1')"
	refused_with 7
	nsenter --net="$NETNS" ip address add 10.1.0.2/24 dev lo
	call ADD "$(config 1.0.0 '.prevResult.ips[0].interface = 1')" CNI_IFNAME=lo
	answer_is '.ips[0].interface == 1'
	request_is '.has.addresses == ["10.1.0.2"]'
	call ADD "$(config 1.0.0 '.prevResult.ips = [{address: "10.1.0.1/24", interface: 0}] + .prevResult.ips
		| .prevResult.ips[1].interface = 1')" CNI_IFNAME=lo
	answer_is true
	request_is '.has.addresses == ["10.1.0.2"]'
	nsenter --net="$NETNS" ip address flush dev lo
}

@test "ADD takes an interface without a sandbox for the container's if that has the address" {
	call ADD "$(config 1.0.0 'del(.prevResult.interfaces[2].sandbox)')"
	refused_with 7
	nsenter --net="$NETNS" ip address add 10.1.0.2/24 dev lo
	call ADD "$(config 1.0.0 'del(.prevResult.interfaces[2].sandbox)')" CNI_IFNAME=lo
	answer_is '.interfaces[2].sandbox == null'
	request_is '.has.addresses == ["10.1.0.2"]'
	nsenter --net="$NETNS" ip address flush dev lo
}

@test "ADD takes null for what is not there, and an index of no interface for none" {
	for change in '.prevResult.ips[0].interface = null' '.prevResult.interfaces = null | .prevResult.ips[0].interface = null' \
		'.prevResult.interfaces = null' '.prevResult.routes = null' '.prevResult.dns = null' \
		'.prevResult.interfaces[0].sandbox = null' '.prevResult.interfaces[0].name = null' \
		'del(.prevResult.interfaces[0].name)' '.prevResult.ips[0].interface = 3' '.prevResult.ips[0].interface = -1' \
		'.prevResult.ips[0].gateway = null' '.prevResult.cniVersion = null'; do
		echo "$change"
		call ADD "$(config 1.0.0 "$change")"
		answer_is '.ips[0].address == "10.1.0.2/24"'
		request_is '.has.addresses == ["10.1.0.2"]'
	done
	call ADD "$(config 1.0.0 '.prevResult.ips = null')"
	error_is 7
}

@test "a prevResult that is no result is a decoding error" {
	for change in '.prevResult = []' '.prevResult.ips = {}' '.prevResult.ips[0].address = "10.1.0.2"' \
		'.prevResult.ips[0].address = "10.1.0.2/33"' '.prevResult.ips[0].address = "ten/8"' \
		'.prevResult.ips[0].address = 7' '.prevResult.ips[0].interface = "2"' \
		'.prevResult.interfaces = "eth0"' '.prevResult.interfaces[0] = 1' \
		'.prevResult.interfaces[2].sandbox = 1' '.prevResult.routes = {}' \
		'.prevResult.routes[0].dst = "default"' '.prevResult.cniVersion = 1' \
		'.prevResult = {cniVersion: "0.2.0", ip4: "10.1.0.2/24"}'; do
		echo "$change"
		call ADD "$(config 1.0.0 "$change")"
		refused_with 6
	done
}

@test "a prevResult of an unknown version is a version error" {
	call ADD "$(config 1.0.0 '.prevResult.cniVersion = "9.9.9"')"
	refused_with 1
}

@test "an unknown cniVersion is a version error for each command" {
	for command in ADD DEL CHECK STATUS GC; do
		call $command "$(config 1.2.0)"
		refused_with 1
	done
}

@test "what is not JSON is a decoding error" {
	for text in '' '{' '[]' '"vqp"' '{} {}' '{"cniVersion": 1, "name": "net"}' $'{"name":"\xff"}'; do
		echo "$text"
		call ADD "$text"
		refused_with 6
	done
}

@test "a configuration above 1 MiB is refused" {
	head -c 1100000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/big"
	run --separate-stderr env -i CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS="$NETNS" CNI_IFNAME=eth0 \
		"$PLUGIN" <"$BATS_TEST_TMPDIR/big"
	refused_with 5
}

@test "a missing or bad network name is a configuration error" {
	for change in 'del(.name)' '.name = ""' '.name = "a/b"' '.name = "-net"' '.name = "nët"'; do
		call ADD "$(config 1.0.0 "$change")"
		refused_with 7
	done
}

@test "a tenant out of range is a configuration error" {
	for tenant in 0 -1 4294967296; do
		call ADD "$(config 1.0.0 ".tenant = $tenant")"
		refused_with 7
	done
}

@test "a tenant that is no integer is a configuration error" {
	for tenant in '"1"' 1.5 null true; do
		call ADD "$(config 1.0.0 ".tenant = $tenant")"
		refused_with 7
	done
}

@test "limits that are no object are a configuration error" {
	for limits in 5 '"100"' '[100]' null; do
		call ADD "$(config 1.0.0 ".limits = $limits")"
		refused_with 7
	done
}

@test "a limit that is neither a number from 0 up nor unlimited, or is not known, is a configuration error" {
	for limit in '"5"' 1.5 null '{}' -1; do
		call ADD "$(config 1.0.0 ".limits.max_vqps = $limit")"
		refused_with 7
	done
	call ADD "$(config 1.0.0 ".limits.mtu = 5")"
	refused_with 7
}

@test "a vqpd that is no absolute path is a configuration error" {
	for path in '"vqpd.sock"' '""' '("/" * 108)'; do
		call ADD "$(config 1.0.0 ".vqpd = $path")"
		refused_with 7
	done
}

@test "a missing variable is an environment error" {
	for name in CNI_CONTAINERID CNI_NETNS CNI_IFNAME; do
		call ADD "$(config 1.0.0)" $name=
		refused_with 4
		jq -e ".msg | contains(\"$name\")" <<<"$output"
		call CHECK "$(config 1.0.0)" $name=
		refused_with 4
	done
	for name in CNI_CONTAINERID CNI_IFNAME; do
		call DEL "$(config 1.0.0)" $name=
		refused_with 4
	done
}

@test "an unknown command is an environment error" {
	call FROB "$(config 1.0.0)"
	refused_with 4
	call add "$(config 1.0.0)"
	refused_with 4
}

@test "a bad container id is an environment error" {
	for id in -c1 a/b 'a b' '../x' 'ä'; do
		call ADD "$(config 1.0.0)" CNI_CONTAINERID="$id"
		refused_with 4
	done
}

@test "a bad interface name is an environment error" {
	for ifname in . .. a/b a:b 'a b' sixteencharacter; do
		call ADD "$(config 1.0.0)" CNI_IFNAME="$ifname"
		refused_with 4
	done
}

@test "what vqpd could not be told is an environment error, and a DEL of it succeeds" {
	for ifname in ethä $'eth\xff' $'eth\x01'; do
		for command in ADD CHECK; do
			call $command "$(config 1.0.0)" CNI_IFNAME="$ifname"
			refused_with 4
		done
		call DEL "$(config 1.0.0)" CNI_IFNAME="$ifname"
		silent
		rm -f "$SOCKET.requests"
	done
	ln -s "$NETNS" "$BATS_TEST_TMPDIR/"$'\xff'
	call ADD "$(config 1.0.0)" CNI_NETNS="$BATS_TEST_TMPDIR/"$'\xff'
	[ "$status" -eq 0 ]
	call DEL "$(config 1.0.0)" CNI_NETNS="$BATS_TEST_TMPDIR/"$'\xff'
	silent
}

@test "a network namespace that is not there, another file or the host's is an environment error" {
	local path
	for path in /nowhere /proc/self/ns/mnt /etc/passwd /dev/null; do
		call ADD "$(config 1.0.0)" CNI_NETNS="$path"
		refused_with 4
	done
	call ADD "$(config 1.0.0)" CNI_NETNS=/proc/self/ns/net
	refused_with 4
}

@test "ADD passes vqpd's refusal on" {
	reply '{"ok":false,"errno":"EADDRINUSE","error":"10.1.0.2 is taken by c7"}'
	call ADD "$(config 1.0.0)"
	error_is 101
	jq -e '.details == "10.1.0.2 is taken by c7" and (.msg | contains("c1"))' <<<"$output"
	reply '{"ok":false,"errno":"ENOMEM","error":"no memory"}'
	call ADD "$(config 1.0.0)"
	error_is 100
}

@test "ADD passes the refusal of the policy on" {
	reply '{"ok":false,"errno":"EPERM","error":"tenant 9: /etc/vqp/policy.json, line 3, gives tenant 7"}' add
	call ADD "$(config 1.0.0 '.tenant = 9')"
	error_is 100
	jq -e '.details | contains("line 3")' <<<"$output"
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["add"]' ]
}

@test "ADD without vqpd asks to be tried again" {
	call ADD "$(config 1.0.0 '.vqpd = "/nowhere/vqpd.sock"')"
	error_is 11
	jq -e '.details | contains("/nowhere/vqpd.sock")' <<<"$output"
}

@test "vqpd that goes away without an answer is vqpd that is not there" {
	: >"$SOCKET.reply"
	call ADD "$(config 1.0.0)"
	error_is 11
	call CHECK "$(config 1.0.0)"
	error_is 11
	call DEL "$(config 1.0.0)"
	silent
	[[ $stderr == *"without an answer"* ]]
}

@test "vqpd that answers is there, whatever the answer" {
	for name in ENOENT ECONNREFUSED ETIMEDOUT; do
		reply '{"ok":false,"errno":"'$name'","error":"no such thing"}'
		for command in ADD DEL; do
			call $command "$(config 1.0.0)"
			error_is 100
		done
	done
	reply nonsense
	call DEL "$(config 1.0.0)"
	error_is 100
}

@test "DEL names the attachment to vqpd and prints nothing" {
	call DEL "$(config 1.0.0)"
	silent
	request_is '. == {op: "del", id: "c1", ifname: "eth0", network: "net", netns: true}'
	with_netns
}

@test "DEL works without prevResult and without a network namespace" {
	local path
	# /etc/passwd is as the file that a network namespace was mounted on.
	for path in '' /run/netns/gone /etc/passwd /etc/passwd/gone /proc/4194303/ns/net; do
		call DEL "$(config 1.0.0 'del(.prevResult)')" CNI_NETNS="$path"
		silent
		request_is '. == {op: "del", id: "c1", ifname: "eth0", network: "net"}'
		with_none
	done
	[ "$(wc -l <"$SOCKET.requests")" -eq 5 ]
}

@test "DEL of a network namespace whose path cannot be followed fails, and does not mean all" {
	ln -s loop "$BATS_TEST_TMPDIR/loop"
	call DEL "$(config 1.0.0)" CNI_NETNS="$BATS_TEST_TMPDIR/loop"
	refused_with 5
}

@test "DEL without vqpd succeeds and says so" {
	call DEL "$(config 1.0.0 '.vqpd = "/nowhere/vqpd.sock"')"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"/nowhere/vqpd.sock"* ]]
}

@test "DEL fails when vqpd refuses" {
	reply '{"ok":false,"errno":"EIO","error":"the kernel refused"}'
	call DEL "$(config 1.0.0)"
	error_is 100
}

# ---- CHECK, STATUS, GC ----

refusal='{"ok":false,"errno":"EPERM","error":"no rule of /etc/vqp/policy.json is for a container of network net"}'

# A VQP namespace as vqpd lists that of the attachment, changed by the jq filter $1.
listed() {
	reply "$(jq -cn --argjson ino "$(stat -Lc %i "$NETNS")" '{ok: true, namespaces: [{tenant: 0, gid: "fd00::1", netns_ino: 1},
		({tenant: 1, gid: "::ffff:10.1.0.2", name: "c1/eth0/net", id: "c1", ifname: "eth0", network: "net",
		netns_ino: $ino, max_vqps: 5, max_mrs: "unlimited", max_bytes: "unlimited", max_rate: "unlimited", priority: 2} | '"${1-.}"')]}')" list
}

@test "CHECK succeeds when the VQP namespace is what an ADD makes, and only looks" {
	listed
	call CHECK "$(config 1.0.0)"
	silent
	call CHECK "$(config 0.4.0 '.limits = {max_vqps: 5, max_mrs: "unlimited"}')"
	silent
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["policy","list","policy","list"]' ]
	head -n 1 "$SOCKET.requests" | jq -e '. == {op: "policy", has: {network: "net", addresses: ["10.1.0.2"]}, wish: {}}'
}

@test "CHECK compares with what the policy gives by now" {
	listed
	reply '{"ok":true,"tenant":1,"address":"::ffff:10.1.0.2","limits":{"max_vqps":5,"priority":2},"rule":{"number":1,"line":3}}' policy
	call CHECK "$(config 1.0.0)"
	silent
	for change in '.tenant = 2' '.address = "::ffff:10.1.0.3"' '.limits.max_vqps = 4' '.limits.max_rate = 65536' \
		'.limits.priority = 1' 'del(.tenant)' 'del(.address)'; do
		echo "$change"
		reply "$(jq -c "$change" "$SOCKET.reply.policy")" policy
		call CHECK "$(config 1.0.0)"
		error_is 102
		reply '{"ok":true,"tenant":1,"address":"::ffff:10.1.0.2","limits":{"max_vqps":5}}' policy
	done
}

@test "CHECK takes limits that were lowered since, but for those of the configuration" {
	reply '{"ok":true,"tenant":1,"address":"::ffff:10.1.0.2","limits":{"max_vqps":5,"max_mrs":"unlimited","priority":2}}' policy
	listed '. += {max_vqps: 4, max_mrs: 100, priority: 1}'
	call CHECK "$(config 1.0.0)"
	silent
	call CHECK "$(config 1.0.0 '.limits = {max_vqps: 4}')"
	silent
	for limits in '{max_vqps: 5}' '{max_mrs: "unlimited"}' '{priority: 2}'; do
		call CHECK "$(config 1.0.0 ".limits = $limits")"
		error_is 102
	done
	listed 'del(.max_mrs)'
	call CHECK "$(config 1.0.0)"
	error_is 102
}

@test "CHECK takes sockets that were narrowed since, but for those of the configuration" {
	reply '{"ok":true,"tenant":1,"address":"::ffff:10.1.0.2","limits":{},"sockets":{"only":["80","443"]}}' policy
	for sockets in false '{only: ["443"]}' '{only: ["443", "80"]}' '{only: ["80", "10.1.0.0/16"], except: ["22"]}'; do
		listed ".sockets = $sockets"
		call CHECK "$(config 1.0.0)"
		silent
	done
	call CHECK "$(config 1.0.0 '.sockets = true')"
	silent
	listed '.sockets = {only: ["443", "80"]}'
	call CHECK "$(config 1.0.0 '.sockets = {only: ["80", "443"]}')"
	silent
	call CHECK "$(config 1.0.0 '.sockets = {only: ["80"]}')"
	error_is 102
	for sockets in true '{only: ["81"]}' '{only: ["80-443"]}' '{except: ["22"]}'; do
		listed ".sockets = $sockets"
		call CHECK "$(config 1.0.0)"
		error_is 102
	done
	listed '.sockets = {only: ["80"]}'
	call CHECK "$(config 1.0.0 '.sockets = {only: ["80", "443"]}')"
	error_is 102
	listed '.sockets = false'
	call CHECK "$(config 1.0.0 '.sockets = true')"
	error_is 102
}

@test "CHECK says that the policy gives nothing any more" {
	listed
	reply "$refusal" policy
	call CHECK "$(config 1.0.0)"
	error_is 100
	jq -e '.details | contains("policy.json")' <<<"$output"
}

@test "CHECK takes a VQP namespace that an administrator made" {
	listed 'del(.id, .ifname, .network) | .name = "mine"'
	call CHECK "$(config 1.0.0)"
	silent
}

@test "CHECK finds each difference" {
	for change in '.tenant = 2' '.gid = "::ffff:10.1.0.3"' '.netns_ino += 1' '.max_vqps = 6' '.max_vqps = 0' \
		'del(.max_vqps)' '.id = "c2"' '.ifname = "net1"' '.network = "other"'; do
		echo "$change"
		listed "$change"
		call CHECK "$(config 1.0.0 '.limits = {max_vqps: 5}')"
		error_is 102
	done
}

@test "CHECK needs what ADD needs" {
	call CHECK "$(config 1.0.0 'del(.prevResult)')"
	refused_with 7
	call CHECK "$(config 1.0.0)" CNI_NETNS=/nowhere
	refused_with 4
	call CHECK "$(config 1.0.0 '.vqpd = "/nowhere/vqpd.sock"')"
	refused_with 11
}

@test "CHECK is refused before 0.4.0, GC and STATUS before 1.1.0" {
	for version in 0.1.0 0.2.0 0.3.0 0.3.1; do
		call CHECK "$(config $version 'del(.prevResult)')"
		refused_with 1
	done
	for version in 0.4.0 1.0.0; do
		call GC "$(config $version '."cni.dev/valid-attachments" = []')"
		refused_with 1
		call STATUS "$(config $version)"
		refused_with 1
	done
}

@test "STATUS is silent when an ADD can be served, without other variables and prevResult" {
	reply '{"ok":true,"module":true,"node":{"node_gid":"fd00::1"}}' status
	run --separate-stderr env -i CNI_COMMAND=STATUS "$PLUGIN" <<<"$(config 1.1.0 'del(.prevResult)')"
	silent
}

@test "STATUS without vqpd is 50, without module 51, and without an RDMA device, where ADD works, good" {
	call STATUS "$(config 1.1.0 '.vqpd = "/nowhere/vqpd.sock"')"
	error_is 50
	jq -e '.details | contains("/nowhere/vqpd.sock")' <<<"$output"
	reply '{"ok":false,"errno":"ENOMEM","error":"no memory"}' status
	call STATUS "$(config 1.1.0)"
	error_is 50
	reply '{"ok":true,"module":false,"node":null}' status
	call STATUS "$(config 1.1.0)"
	error_is 51
	reply '{"ok":true,"module":true,"node":null}' status
	call STATUS "$(config 1.1.0)"
	silent
}

@test "STATUS is 50 when the policy has nothing for this network, and says so" {
	reply '{"ok":true,"module":true,"node":null}' status
	call STATUS "$(config 1.1.0)"
	silent
	request_is '. == {op: "policy", network: "net"}'
	reply "$refusal" policy
	call STATUS "$(config 1.1.0)"
	error_is 50
	jq -e '.details | contains("policy.json")' <<<"$output"
}

@test "STATUS refuses a configuration that no ADD could be served with" {
	call STATUS "$(config 1.1.0 '.tenant = 0')"
	refused_with 7
}

# Three attachments of this network, one of another, one of none, and an administrator's.
many_listed() {
	reply "$(jq -cn '{ok: true, namespaces: ([{tenant: 1, name: "mine"}, {tenant: 1, id: "c1", ifname: "eth0"}] + [
		("c1/eth0/net", "c1/net1/net", "c2/eth0/net", "c2/eth0/other") | split("/") |
		{tenant: 1, id: .[0], ifname: .[1], network: .[2]}])}')" list
	reply '{"ok":true,"deleted":1}' del
}

# The attachments that were deleted are these.
deleted_are() {
	[ "$(jq -sc 'map(select(.op == "del") | [.id, .ifname, .network])' "$SOCKET.requests")" = "$1" ]
}

@test "GC deletes this network's attachments that are not listed, and no others" {
	many_listed
	call GC "$(config 1.1.0 '."cni.dev/valid-attachments" = [{containerID: "c1", ifname: "net1"}, {containerID: "c9", ifname: "eth0"}]')"
	silent
	deleted_are '[["c1","eth0","net"],["c2","eth0","net"]]'
}

@test "GC needs no variable but its own, and no prevResult" {
	many_listed
	run --separate-stderr env -i CNI_COMMAND=GC "$PLUGIN" <<<"$(config 1.1.0 'del(.prevResult)
		| ."cni.dev/valid-attachments" = []')"
	silent
	deleted_are '[["c1","eth0","net"],["c1","net1","net"],["c2","eth0","net"]]'
}

@test "GC takes the list under its older name, and null for an empty one" {
	many_listed
	call GC "$(config 1.1.0 '."cni.dev/attachments" = [{containerID: "c1", ifname: "net1"}, {containerID: "c1", ifname: "eth0"}]')"
	silent
	deleted_are '[["c2","eth0","net"]]'
	rm "$SOCKET.requests"
	call GC "$(config 1.1.0 '."cni.dev/valid-attachments" = null')"
	silent
	deleted_are '[["c1","eth0","net"],["c1","net1","net"],["c2","eth0","net"]]'
}

@test "GC without a list, or with one that is none, deletes nothing" {
	many_listed
	call GC "$(config 1.1.0)"
	refused_with 7
	for list in 5 '"c1"' '{}' '["c1"]' '[{}]' '[{containerID: "c1"}]' '[{containerID: 1, ifname: "eth0"}]'; do
		echo "$list"
		call GC "$(config 1.1.0 '."cni.dev/valid-attachments" = '"$list")"
		refused_with 6
	done
}

@test "GC goes on after a failure, and tells it" {
	many_listed
	reply '{"ok":false,"errno":"EIO","error":"the kernel refused"}' del
	call GC "$(config 1.1.0 '."cni.dev/valid-attachments" = []')"
	error_is 100
	deleted_are '[["c1","eth0","net"],["c1","net1","net"],["c2","eth0","net"]]'
}

@test "GC tells the first failure, though vqpd goes away then, and is not asked again" {
	many_listed
	reply '{"ok":false,"errno":"EIO","error":"the kernel refused"}' del.c1
	: >"$SOCKET.reply.del.c2"
	reply "$(jq -c '.namespaces += [{tenant: 1, id: "c3", ifname: "eth0", network: "net"}]' "$SOCKET.reply.list")" list
	call GC "$(config 1.1.0 '."cni.dev/valid-attachments" = []')"
	error_is 100
	jq -e '.details == "the kernel refused" and (.msg | contains("c1"))' <<<"$output"
	[[ $stderr == *"without an answer"* ]]
	deleted_are '[["c1","eth0","net"],["c1","net1","net"],["c2","eth0","net"]]'
}

# ---- a failed ADD ----

@test "ADD fails and is undone when vqpd does not say that it set the limits" {
	for answer in '{"ok":true,"tenant":1}' '{"ok":true,"tenant":1,"limits":{}}' '{"ok":true,"limits":{"max_vqps":6}}'; do
		rm -f "$SOCKET.requests"
		reply "$answer" add
		call ADD "$(config 1.0.0 '.limits = {max_vqps: 5}')"
		undone_with 102
		jq -e '.details | contains("not of this plugin")' <<<"$output"
	done
}

@test "ADD fails and is undone when its result cannot be written" {
	run --separate-stderr env -i CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS="$NETNS" CNI_IFNAME=eth0 \
		sh -c '"$1" >/dev/full' - "$PLUGIN" <<<"$(config 1.0.0)"
	[ "$status" -eq 1 ]
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["add","del"]' ]
	with_netns
}

@test "ADD fails and is undone when nobody reads its result" {
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	exec 4<>"$BATS_TEST_TMPDIR/fifo"
	exec 5>"$BATS_TEST_TMPDIR/fifo"
	exec 4<&-
	run env -i CNI_COMMAND=ADD CNI_CONTAINERID=c1 CNI_NETNS="$NETNS" CNI_IFNAME=eth0 \
		sh -c '"$1" >&5' - "$PLUGIN" <<<"$(config 1.0.0)"
	[ "$status" -eq 1 ]
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["add","del"]' ]
	with_netns
}

@test "32 ADDs at once each get their answer" {
	for i in {1..32}; do
		env -i CNI_COMMAND=ADD CNI_CONTAINERID="c$i" CNI_NETNS="$NETNS" CNI_IFNAME=eth0 "$PLUGIN" \
			<<<"$(config 1.0.0 '.prevResult.ips[0].address = "10.1.0.'"$i"'/24"')" >"$BATS_TEST_TMPDIR/out$i" &
	done
	wait
	for i in {1..32}; do
		jq -e --arg address "10.1.0.$i/24" '.ips[0].address == $address' "$BATS_TEST_TMPDIR/out$i"
	done
	[ "$(jq -s 'map("\(.id) \(.has.addresses)") | unique | length' "$SOCKET.requests")" -eq 32 ]
}

@test "VERSION lists every version from 0.1.0 to 1.1.0" {
	call VERSION '{"cniVersion":"0.4.0"}'
	answer_is '.cniVersion == "0.4.0" and
		.supportedVersions == ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]'
}

@test "VERSION answers whatever the input and without any other variable" {
	for text in '' '{' '[]' '{"cniVersion": 1}'; do
		run --separate-stderr env -i CNI_COMMAND=VERSION "$PLUGIN" <<<"$text"
		answer_is '.cniVersion == "1.1.0" and (.supportedVersions | length == 7)'
	done
}

@test "without a command the plugin tells what it is" {
	run --separate-stderr env -i "$PLUGIN" </dev/null
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	[[ $stderr == *"CNI plugin"* ]]
}

@test "plugin and hook can be run at any time, though they are installed meanwhile" {
	local installed=$BATS_TEST_TMPDIR/opt/cni/bin/vqp bin=$BATS_TEST_TMPDIR/usr/local/bin part installer runs=0

	install() {
		for part in cni-plugin oci-hook; do
			make -C "$BATS_TEST_DIRNAME/../../$part" DESTDIR="$BATS_TEST_TMPDIR" install >/dev/null
		done
	}
	install
	for i in {1..10}; do install; done &
	installer=$!
	while [ -e /proc/$installer ]; do
		CNI_COMMAND=VERSION "$installed" </dev/null >/dev/null
		"$bin/vqp-hook" --help >/dev/null
		"$bin/vqp-network" --help >/dev/null
		((++runs))
	done
	wait $installer
	[ $runs -gt 10 ]
	[ "$(ls -A "${installed%/*}")" = vqp ]
	[ "$(ls -A "$bin")" = $'vqp-hook\nvqp-network\nvqp-runtime' ]
	jq -e .title "$BATS_TEST_TMPDIR/usr/local/share/doc/vqp/vqp.schema.json"
}

@test "make uninstall keeps what containers need to end until they have ended" {
	local prefix=$BATS_TEST_TMPDIR/usr plugins=$BATS_TEST_TMPDIR/cni

	export prefix plugins top=$BATS_TEST_DIRNAME/../..
	# Runtimes keep their state in /run, and a module that is loaded is in /sys/module.
	unshare -m bash -eux -o pipefail <<-'END'
		make() { command make -C "$top/$1" PREFIX="$prefix" CNI_BIN="$plugins" "${@:2}"; }
		installed() { [ "$(cd "$prefix" && echo bin/* sbin/*):$(cd "$plugins" && echo *)" = "$1" ]; }
		all="bin/vqp-hook bin/vqp-network bin/vqp-runtime sbin/vqpctl:vqp"
		install() {
			make cni-plugin install
			make oci-hook install
			mkdir -p "$prefix/sbin"
			printf "#!/bin/sh\ncat %s/namespaces\n" "$prefix" >"$prefix/sbin/vqpctl"
			chmod +x "$prefix/sbin/vqpctl"
		}
		uninstall() { for part in cni-plugin oci-hook node; do make $part uninstall "$@"; done; }
		live() {
			mkdir -p /run/containerd/runc/k8s.io/c1 /run/crun/c2 /run/containerd/task/c3 /run/runc/c5
			hook="{\"hooks\":{\"poststop\":[{\"path\":\"$prefix/bin/vqp-hook\"}]}}"
			tee /run/containerd/runc/k8s.io/c1/state.json /run/crun/c2/config.json /run/containerd/task/c3/config.json <<<"$hook"
			touch /run/crun/c2/status
			echo "{}" >/run/runc/c5/state.json
			jq -n '("c4/eth0/net", "oci:c1/all", "mine") | [{tenant: 1, name: .}]' | jq -s add >"$prefix/namespaces"
		}
		end() { rm -r /run/containerd/runc /run/crun; echo "[]" >"$prefix/namespaces"; }
		mount -t tmpfs tmpfs /run
		mount -t tmpfs tmpfs /sys
		mkdir -p /sys/module/vqp
		install
		live
		for again in 1 2; do
			uninstall | tee "$prefix/said"
			installed "$all"
			[ "$(grep -c "to end: 3, c1 c2 c4$" "$prefix/said")" = 3 ]
		done
		end
		mv "$prefix/namespaces" "$prefix/away"
		uninstall | tee "$prefix/said"
		installed "$all"
		[ "$(grep -c "containers may need it to end" "$prefix/said")" = 3 ]
		rmdir /sys/module/vqp
		uninstall
		installed "bin/* sbin/*:*"
		install
		live
		uninstall FORCE=1
		installed "bin/* sbin/*:*"
	END
}

@test "a network list can be run: cni-exec chains the results and undoes them in reverse" {
	for type in first last; do
		printf '#!/bin/sh\necho "%s $CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME" >>"%s/log"\n' \
			$type "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/$type"
		chmod +x "$BATS_TEST_TMPDIR/$type"
	done
	echo "[ \$CNI_COMMAND = DEL ] || echo '$(config 1.0.0 .prevResult)'" >>"$BATS_TEST_TMPDIR/first"
	ln -s "$PLUGIN" "$BATS_TEST_TMPDIR/vqp"
	jq -n --arg socket "$SOCKET" '{cniVersion: "1.0.0", name: "net", plugins: [{type: "first"},
		{type: "vqp", vqpd: $socket, tenant: 5}, {type: "last"}]}' >"$BATS_TEST_TMPDIR/net.conflist"
	export CNI_PATH=$BATS_TEST_TMPDIR

	"$BATS_TEST_DIRNAME/../programs/cni-exec" add "$BATS_TEST_TMPDIR/net.conflist" c9 "$NETNS" eth0
	request_is '.op == "add" and .id == "c9" and .wish.tenant == 5'
	"$BATS_TEST_DIRNAME/../programs/cni-exec" del "$BATS_TEST_TMPDIR/net.conflist" c9 "$NETNS" eth0
	request_is '.op == "del" and .id == "c9"'
	[ "$(cut -d' ' -f1,2 "$BATS_TEST_TMPDIR/log" | tr '\n' ,)" = "first ADD,last ADD,last DEL,first DEL," ]
}
