# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/node.bats does on a node: daemons with options of their own, and
# requests to them. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source "${BASH_SOURCE[0]%/*}/../lib/vqp.bash"

run=/run/vqp

# REQUEST: vqpd's answer.
ask() { socat -t60 - UNIX-CONNECT:$run/vqpd.sock <<<"$1"; }

# REQUEST: the meta server's answer.
ask_meta() { socat -t60 - TCP:10.77.0.1:7471 <<<"$1"; }

# ID TENANT ADDRESS [LIMITS]: an add, of $network if that is set, for a container that has the address.
request() {
	jq -nc --arg id "$1" --argjson tenant "$2" --arg address "$3" \
		--argjson limits "${4-null}" --arg network "${network-}" \
		'{op: "add", id: $id, ifname: "eth0", has: {addresses: [$address]}, wish: {tenant: $tenant, limits: $limits}}
			| del(.. | nulls) + if $network == "" then {} else {network: $network} end'
}

# FILE REQUEST: vqpd's answer to a request that comes with the file's descriptor.
hand() { vqpt hand $run/vqpd.sock "$1" <<<"$2"; }

# ID NETNS TENANT ADDRESS [LIMITS]: vqpd's answer to that add.
add() { hand "/run/netns/$2" "$(request "$1" "${@:3}")"; }

# TENANT ADDRESS: the limits of this node's namespace, as max_vqps/max_mrs/max_bytes, -: unlimited.
limits_of() {
	vqpctl ns list --json | jq -er --argjson tenant "$1" --arg gid "::ffff:$2" \
		'.[] | select(.tenant == $tenant and .gid == $gid) | [.max_vqps, .max_mrs, .max_bytes] | map(if . == "unlimited" then "-" else . end) | join("/")'
}

# TENANT ADDRESS: what this node's namespace may send, as max_rate/priority, -: unlimited.
sending_of() {
	vqpctl ns list --json | jq -er --argjson tenant "$1" --arg gid "::ffff:$2" \
		'.[] | select(.tenant == $tenant and .gid == $gid) | "\(if .max_rate == "unlimited" then "-" else .max_rate end)/\(.priority)"'
}

# ID: vqpd's answer to a del, of $network if that is set.
del() { ask "{\"op\":\"del\",\"id\":\"$1\",\"ifname\":\"eth0\"${network+,\"network\":\"$network\"}}"; }

# TENANT ADDRESS [NODE]: the meta server knows it, as NODE's.
announced() {
	ask_meta '{"op":"list"}' | jq -e --argjson tenant "$1" --arg gid "::ffff:$2" --arg node "${3+::ffff:10.77.0.$3}" \
		'any(.entries[]; .tenant == $tenant and .gid == $gid and ($node == "" or .node_gid == $node))'
}

# TENANT ADDRESS: this node has the namespace.
present() {
	vqpctl ns list --json | jq -e --argjson tenant "$1" --arg gid "::ffff:$2" \
		'any(.[]; .tenant == $tenant and .gid == $gid)'
}

# NETNS ADDRESS: who is there can connect and is heard of, right now.
reaches() { vqpctl ping --netns "$1" "$2" --count 1; }

# DAEMON [OPTION...]: start it; its log starts anew.
start() {
	setsid -f "$1" "${@:2}" >"$run/$1.log" 2>&1 </dev/null
	eventually pidof "$1"
}

# DAEMON [SIGNAL]: stop it, and wait until it is gone.
stop() {
	pkill "${2--TERM}" -x "$1" || true
	eventually not pidof "$1"
}

# How vqpd sees its first meta server: true or false.
meta_up() { [[ $(ask '{"op":"status"}' | jq '.meta[0].up') == "$1" ]]; }

# The table's place that the kernel knows.
table_key() { vqpctl meta list --json | jq -e '.[0].key'; }

# COUNT: that many adds at once, of as many netns that are there; all answers.
add_many() {
	local i
	for ((i = 1; i <= $1; i++)); do
		add "many$i" "many$i" 5 "10.95.1.$i" &
	done
	wait
}

# NETNS ADDRESS/BITS: a new network namespace with an interface that has the address
netns_with() {
	ip netns add "$1"
	ip -n "$1" link add eth0 type dummy
	ip -n "$1" address add "$2" dev eth0 nodad 2>/dev/null || ip -n "$1" address add "$2" dev eth0
	ip -n "$1" link set eth0 up
}

# NETNS ADDRESS/BITS: the interface is in a VRF from now on. The kernel sets it down meanwhile, which takes its IPv6
# addresses.
in_vrf() {
	ip -n "$1" link add vrf0 type vrf table 10
	ip -n "$1" link set vrf0 up
	ip -n "$1" link set eth0 master vrf0
	ip -n "$1" address replace "$2" dev eth0 nodad 2>/dev/null || ip -n "$1" address replace "$2" dev eth0
}

# ADDRESS/BITS [vrf]: of node-a, and there in a VRF, is lost, and with it the VQP namespace, what uses it and its
# announcement; node-b gets it
lost_with_its_address() {
	local address=${1%/*} gid
	gid=$address
	[[ $gid == *:* ]] || gid=::ffff:$gid
	netns_with node-a "$1"
	[[ ${2-} != vrf ]] || in_vrf node-a "$1"
	add c1 node-a 3 "$address" | jq -e .published
	inside node-a vqpt bad until-shutdown >$run/until-shutdown &
	eventually in_use_by "$gid"
	ip -n node-a address del "$1" dev eth0
	eventually not list_has "$gid"
	wait
	[[ $(<$run/until-shutdown) == ESHUTDOWN ]]
	eventually not meta_has "$gid"
	netns_with node-b "$1"
	add c2 node-b 3 "$address" | jq -e .published
	ip netns del node-a; ip netns del node-b
	eventually not list_has "$gid"
}

# GID: somebody has opened the device there; this node has the namespace; the meta server knows it.
in_use_by() { vqpctl ns list --json | jq -e --arg gid "$1" 'any(.[]; .gid == $gid and .contexts > 0)'; }
list_has() { vqpctl ns list --json | jq -e --arg gid "$1" 'any(.[]; .gid == $gid)'; }
meta_has() { ask_meta '{"op":"list"}' | jq -e --arg gid "$1" 'any(.entries[]; .gid == $gid)'; }

# However often a container changes its addresses, the module looks at them ten times a second.
addresses_are_looked_at_seldom() {
	local began i looks us
	netns_with node-a 10.95.0.1/24
	add c1 node-a 3 10.95.0.1 | jq -e .ok
	for ((i = 0; i < 1000; i++)); do
		echo 'address add 10.95.1.1/32 dev eth0'
		echo 'address del 10.95.1.1/32 dev eth0'
	done >$run/changes
	begin_probes 'p:vqp_test/look vqp:address_work'
	began=${EPOCHREALTIME/./}
	ip -n node-a -batch $run/changes
	us=$((${EPOCHREALTIME/./} - began))
	end_probes
	ip netns del node-a
	looks=$(awk '$1 == "look" { print $2 }' /run/vqp/hits)
	echo "$looks looks in $us us"
	((looks && looks <= us / 100000 + 3))
}

lost_address_is_free_at_once() {
	netns_with node-a 10.95.0.1/24
	add c1 node-a 3 10.95.0.1 | jq -e .ok
	ip netns add node-b
	add c2 node-b 3 10.95.0.1 | jq -e '.errno == "EADDRINUSE"'
	ip -n node-a address del 10.95.0.1/24 dev eth0
	add c2 node-b 3 10.95.0.1 | jq -e .ok
	vqpctl ns list --json | jq -e --argjson inode "$(stat -Lc %i /run/netns/node-b)" \
		'map(select(.tenant == 3)) | length == 1 and .[0].netns_ino == $inode'
}

address_is_not_lost() {
	netns_with node-a 10.95.0.1/24
	netns_with node-b 10.95.0.2/24
	ip netns add node-c
	ip -n node-b address add 10.95.1.2/24 dev eth0
	# That of node-c is given it by nobody, and node-b loses another than that of its namespace.
	for name in a b c; do
		add c$name node-$name 3 10.95.0.$((0x$name - 9)) | jq -e .ok
	done
	serve node-a weave-server 7000
	ip netns exec node-b vqpt --count=0 weave 10.95.0.1 7000 "$key" "$addr" &
	client=$!
	ip -n node-b address del 10.95.1.2/24 dev eth0
	for _ in 1 2 3; do
		ip -n node-a address del 10.95.0.1/24 dev eth0
		ip -n node-a address add 10.95.0.1/24 dev eth0
	done
	# What is lost after that is gone before what had been lost with it.
	netns_with node-d 10.95.0.4/24
	add cd node-d 3 10.95.0.4 | jq -e .ok
	ip -n node-d address del 10.95.0.4/24 dev eth0
	eventually not present 3 10.95.0.4
	present 3 10.95.0.1; present 3 10.95.0.2; present 3 10.95.0.3
	ends_by TERM 0 $client
}

# DAEMON CAPABILITIES: it has these alone, in the kernel's notation, a filter of system calls, and gets nothing back
is_confined() {
	local status
	status=/proc/$(pidof "$1")/status
	grep -q "^CapPrm:.$2" "$status" && grep -q "^CapEff:.$2" "$status" &&
		grep -q '^Seccomp:.2' "$status" && grep -q '^NoNewPrivs:.1' "$status"
}

# DAEMON USER OPTION...: start it with the capabilities that its unit gives it, as that user.
start_as_unit() {
	local caps
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "/vqp/node/$1.service" | tr -d '\n' | sed 's/CAP_/+/g; s/ /,/g; s/^/-all,/')
	caps=${caps,,}
	setsid -f setpriv --bounding-set="$caps" --inh-caps="$caps" --ambient-caps="$caps" --reuid="$2" --no-new-privs \
		"$1" "${@:3}" >"$run/$1.log" 2>&1 </dev/null
	eventually pidof "$1"
}

# OPTION...: start vqpd where names are those of $run/hosts, and of the name server of $run/resolv.conf
start_with_names() {
	[ -e /etc/resolv.conf ] || touch /etc/resolv.conf
	# shellcheck disable=SC2016 # the arguments are those of the inner shell
	setsid -f unshare --mount sh -c 'mount --bind "$0/hosts" /etc/hosts && mount --bind "$0/resolv.conf" /etc/resolv.conf && exec vqpd "$@"' \
		"$run" "$@" >"$run/vqpd.log" 2>&1 </dev/null
	eventually pidof vqpd
}

# NUMBER: how vqpd sees that meta server: true, or why it is not up
meta_state() { ask '{"op":"status"}' | jq -r --argjson number "$1" '.meta[$number] | if .up then .up else .error end'; }

name_is_followed() {
	stop vqpd
	: >$run/hosts
	echo 'nameserver 127.0.0.9' >$run/resolv.conf	# where nobody listens
	start_with_names --meta late.example --meta 10.77.0.1
	eventually eval '[[ $(meta_state 0) == "its name does not resolve: "* ]]'
	eventually eval '[ "$(meta_state 1)" = true ]'
	box node-a 3 10.95.0.1
	eventually announced 3 10.95.0.1 2
	echo '10.77.0.1 late.example' >>$run/hosts
	eventually eval '[ "$(meta_state 0)" = true ]'
	[ "$(grep -c 'meta server late.example: its name does not resolve' $run/vqpd.log)" = 1 ]
	[ "$(grep -c 'meta server late.example: its name resolves' $run/vqpd.log)" = 1 ]
}

slow_name_server_holds_up_nobody() {
	stop vqpd
	trap 'pkill -f "socat.*bind=127.0.0.9"' EXIT
	setsid -f socat -u UDP-RECV:53,bind=127.0.0.9 - >/dev/null 2>&1 </dev/null
	: >$run/hosts
	printf '%s\n' 'nameserver 127.0.0.9' 'options timeout:30 attempts:5' >$run/resolv.conf
	start_with_names --meta slow.example --meta 10.77.0.1
	eventually eval '[ "$(meta_state 1)" = true ]'
	pgrep -x vqpd-resolver
	eventually eval '[ "$(meta_state 0)" = "its name is being looked up" ]'
	ip netns add node-a
	add c1 node-a 3 10.95.0.1 | jq -e .published
	# what looks names up ends with vqpd, however it ends
	pkill -KILL -x vqpd
	eventually not pgrep -x vqpd-resolver
}

versions_are_told() {
	local version program

	version=$(sed -n 's/^VERSION[[:space:]]*:= //p' /vqp/version.mk)
	[ "$version" ]
	for program in vqpd vqp-metad vqpctl vqp-hook vqp-network; do
		[ "$("$program" --version)" = "$program $version" ] || { echo "$program: $("$program" --version)"; return 1; }
	done
}

# Both daemons, with a file in the place of the journal.
log_has_levels() {
	stop vqpd
	export JOURNAL_STREAM
	JOURNAL_STREAM=$(stat -c %d:%i $run/vqpd.log)
	start vqpd --meta 10.77.0.1 --log-level warning; eventually meta_up true
	ask '{"op":"bogus"}'
	[ "$(<$run/vqpd.log)" = '<4>vqpd: refused a request: bogus is none of add, del, list, policy, status' ]
	stop vqpd; start vqpd --meta 10.77.0.1 --log-level debug; eventually meta_up true
	grep -x '<6>vqpd: meta server 10.77.0.1: up' $run/vqpd.log
	grep -x '<7>vqpd: asked to status' $run/vqpd.log

	stop vqp-metad
	JOURNAL_STREAM=$(stat -c %d:%i $run/vqp-metad.log)
	start vqp-metad --listen :7471
	eventually ask_meta nonsense
	[ "$(<$run/vqp-metad.log)" = "<6>vqp-metad: table of 1024 buckets, listening on :7471, without a key
<4>vqp-metad: refused a client: a request is one JSON object on one line" ]
	unset JOURNAL_STREAM
	[ "$(timeout 10 vqpd --socket /etc/passwd/vqpd.sock 2>&1 | tail -n 1)" = "vqpd: cannot listen on /etc/passwd/vqpd.sock: Not a directory" ]
}

refusals_are_logged() {
	ip netns add node-a; add c1 node-a 3 10.95.0.1
	ip netns add node-b
	add c2 node-b 3 10.95.0.1 | jq -e '.errno == "EADDRINUSE"'
	grep "vqpd: refused to add c2/eth0: tenant 3's address ::ffff:10.95.0.1 is taken on this node by c1/eth0" $run/vqpd.log
}

netns_by_name_path_or_process() {
	ip netns add node-a; ip netns add node-b; ip netns add node-c
	ip netns exec node-c sleep 60 >/dev/null 2>&1 & pid=$!
	eventually eval "[ \$(stat -Lc %i /proc/$pid/ns/net) = $(stat -Lc %i /run/netns/node-c) ]"
	vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1
	vqpctl ns add --netns /run/netns/node-b --tenant 3 --address 10.95.0.2
	vqpctl ns add --netns pid:$pid --tenant 3 --address fd95::3
	kill $pid
	[ "$(vqpctl ns list --json | jq "map(select(.tenant == 3)) | length")" = 3 ]
}

deleted_by_netns_or_address() {
	box node-a 3 10.95.0.1; box node-b 3 10.95.0.2
	vqpctl ns del --netns node-a
	vqpctl ns del --tenant 3 --address 10.95.0.2
	not present 3 10.95.0.1
	not present 3 10.95.0.2
}

limits_as_often_as_one_likes() {
	box node-a 3 10.95.0.1
	vqpctl ns set --netns node-a --max-vqps 5 --max-bytes 1M
	[ "$(limits_of 3 10.95.0.1)" = 5/-/1048576 ]
	vqpctl ns set --tenant 3 --address 10.95.0.1 --max-mrs 7 --max-bytes unlimited
	vqpctl ns set --tenant 3 --address 10.95.0.1 --max-mrs 7 --max-bytes unlimited
	[ "$(limits_of 3 10.95.0.1)" = 5/7/- ]
}

rate_and_priority_change() {
	vqpctl ns set --netns node-a --priority low
	[ "$(sending_of 3 10.95.0.1)" = 1048576/1 ]
	vqpctl ns set --tenant 3 --address 10.95.0.1 --max-rate unlimited
	[ "$(sending_of 3 10.95.0.1)" = -/1 ]
	vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --max-rate 64K --priority normal
	[ "$(sending_of 3 10.95.0.1)" = 65536/2 ]
}

added_again_keeps_limits() {
	box node-a 3 10.95.0.1
	vqpctl ns set --netns node-a --max-vqps 5 --max-mrs 6
	vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1
	[ "$(limits_of 3 10.95.0.1)" = 5/6/- ]
	vqpctl ns add --netns node-a --tenant 3 --address 10.95.0.1 --max-vqps 9
	[ "$(limits_of 3 10.95.0.1)" = 9/6/- ]
}

cache_is_flushed() {
	cached() { vqpctl cache list --json | jq -e --arg gid "::ffff:$1" "any(.[]; .tenant == 3 and .gid == \$gid and .node_gid == \"::ffff:10.77.0.1\")"; }
	cached 10.95.0.1; cached 10.95.0.2
	vqpctl cache flush --tenant 3 --address 10.95.0.1
	not cached 10.95.0.1; cached 10.95.0.2
	vqpctl cache flush
	not cached 10.95.0.2
}

units_leave_enough() {
	stop vqpd; stop vqp-metad
	start_as_unit vqp-metad nobody --listen :7471
	start_as_unit vqpd root --meta 10.77.0.1
	eventually meta_up true
	ip netns add node-a
	add c1 node-a 3 10.95.0.1
	eventually announced 3 10.95.0.1 1
	del c1
	eventually not announced 3 10.95.0.1
	grep "^Uid:.65534" /proc/"$(pidof vqp-metad)"/status
}

attachment_has_its_network() {
	ip netns add node-a
	network=red add c1 node-a 3 10.95.0.1 | jq -e .ok
	ask "{\"op\":\"list\"}" | jq -e ".namespaces[] | select(.tenant == 3) |
		.id == \"c1\" and .ifname == \"eth0\" and .network == \"red\""
	network=blue del c1 | jq -e ".deleted == 0"
	present 3 10.95.0.1
	network=red del c1 | jq -e ".deleted == 1"
	not present 3 10.95.0.1
}

attachment_ends_alone() {
	network=red del c1 | jq -e ".deleted == 1"
	not present 3 10.95.0.1
	present 3 10.95.0.2
	network=blue add c1 node-a 3 10.95.0.2 | jq -e .ok
	network=blue del c1 | jq -e ".deleted == 1"
}

address_serves_one_attachment() {
	ip netns add node-a
	network=red add c1 node-a 3 10.95.0.1 | jq -e .ok
	network=blue add c1 node-a 3 10.95.0.1 | jq -e ".errno == \"EEXIST\" and (.error | contains(\"c1/eth0/red\"))"
	network=red add c1 node-a 3 10.95.0.1 | jq -e .ok
	network=red del c1 | jq -e ".deleted == 1"
}

gone_client_leaves_nothing() {
	ip netns add node-a
	made() { vqpctl status --json | jq ".counters[] | select(.name == \"ns\").made"; }
	before=$(made)
	trap "pkill -CONT -x vqp-metad" EXIT
	pkill -STOP -x vqp-metad
	hand /run/netns/node-a "$(request c1 3 10.95.0.1)" &
	eventually eval "[ \$(made) -gt $before ]"
	pkill -x vqpt
	eventually not present 3 10.95.0.1
}

added_again_with_limits() {
	ip netns add node-a
	add c1 node-a 3 10.95.0.1 "{\"max_vqps\":5,\"max_bytes\":65536}" | jq -e .ok
	[ "$(limits_of 3 10.95.0.1)" = 5/-/65536 ]
	holds node-a "made=5 errno=EDQUOT again=OK" vqps --count=10
	add c1 node-a 3 10.95.0.1 "{\"max_vqps\":\"unlimited\",\"max_mrs\":7}" | jq -e .ok
	[ "$(limits_of 3 10.95.0.1)" = -/7/- ]
	add c1 node-a 3 10.95.0.1 | jq -e .ok
	[ "$(limits_of 3 10.95.0.1)" = -/-/- ]
	add c1 node-a 3 10.95.0.1 "{\"max_rate\":1000000,\"priority\":1}" | jq -e ".limits.priority == 1"
	[ "$(sending_of 3 10.95.0.1)" = 1000000/1 ]
}

# what the operator says while vqpd runs
policy_decides() {
	local policy=/etc/vqp/policy.json

	mv $policy $policy.was
	trap "mv /etc/vqp/policy.json.was /etc/vqp/policy.json" EXIT
	ip netns add node-a
	add c1 node-a 3 10.95.0.1 | jq -e '.errno == "EPERM" and (.error | contains("vqpctl policy init"))'
	ask '{"op":"status"}' | jq -e '.policy.error | contains("this node has no policy")'
	echo '{"rules": [{"network": "blue", "tenant": 4}, {"subnet": "10.95.0.0/24", "tenant": 3, "limits": {"max_vqps": 5}}]}' >$policy
	add c1 node-a 2 10.95.0.1 | jq -e '.errno == "EPERM" and (.error | contains("rule 2 of /etc/vqp/policy.json (line 1)"))'
	add c1 node-a 3 10.95.1.1 | jq -e '.errno == "EPERM" and (.error | contains("no rule"))'
	not present 3 10.95.0.1
	add c1 node-a 3 10.95.0.1 | jq -e '.limits.max_vqps == 5 and .rule == {number: 2, line: 1}'
	[ "$(limits_of 3 10.95.0.1)" = 5/-/- ]
	ask '{"op":"status"}' | jq -e '.policy == {file: "/etc/vqp/policy.json", old: false, rules: 2}'
	ask '{"op":"policy","has":{"network":"blue","addresses":["10.95.0.1"]}}' | jq -e '.tenant == 4 and .rule.number == 1'
	chmod o+w $policy
	add c1 node-a 3 10.95.0.1 | jq -e '.errno == "EPERM" and (.error | contains("could be written by others"))'
}

limits_outlive_vqpd() {
	ip netns add node-a; add c1 node-a 3 10.95.0.1 "{\"max_vqps\":5}"
	vqpctl ns set --netns node-a --max-mrs 6
	stop vqpd -KILL
	start vqpd --meta 10.77.0.1
	eventually ask "{\"op\":\"status\"}"
	[ "$(limits_of 3 10.95.0.1)" = 5/6/- ]
	holds node-a "made=5 errno=EDQUOT again=OK" vqps --count=10
}

silent_clients_hold_up_nobody() {
	sleep 30 | socat - UNIX-CONNECT:/run/vqp/vqpd.sock & silent=$!
	(printf "{\"op\":"; sleep 30) | socat - UNIX-CONNECT:/run/vqp/vqpd.sock & half=$!
	sleep 0.5
	timeout 25 bash -c "source /vqp/tests/node/node.bash; ask \"{\\\"op\\\":\\\"status\\\"}\"" | jq .ok
	pkill -P $$ sleep; kill $silent $half 2>/dev/null || true
}

leaves_while_it_waits() {
	rm -f /run/answer
	leave() { add c2 node-b 3 10.95.0.2 >/run/answer; }
	leave & asker=$!
	eventually present 3 10.95.0.2
	kill $(pgrep -x vqpt) $asker || true
	wait $asker || true
	[ -s /run/answer ] || eventually not present 3 10.95.0.2
}

restart_keeps_namespaces() {
	inside node-b vqpt send 10.95.0.1 700 --bytes=64 --count=2000 >/tmp/send.log 2>&1 & sender=$!
	stop vqpd -KILL
	not pidof vqpd
	start vqpd --meta 10.77.0.1
	wait $sender || { cat /tmp/send.log; false; }
}

key_file=/etc/credstore/vqp-meta.key

make_key() { mkdir -p "${key_file%/*}"; (umask 077; head -c 48 /dev/urandom | base64 >"$key_file"); }

# on the meta server's node, which has a key
restart_with_key() {
	stop vqpd; stop vqp-metad; start vqp-metad; start vqpd --meta 10.77.0.1
	eventually meta_up true
}

# ADDRESS: the meta server has it.
tells_who_has_the_key() { vqp-metad --ask 10.77.0.1 list | jq -e --arg gid "::ffff:$1" 'any(.entries[]; .gid == $gid)'; }

# what the node's daemon says of its meta server
meta_error() { vqpctl status --json | jq -r ".vqpd.meta[0].error"; }
meta_error_has() { meta_error | grep -F "$1"; }

meta_servers_set_by_hand() {
	stop vqpd; key=$(table_key)
	vqpctl meta set
	[ "$(vqpctl meta list --json)" = "[]" ]
	vqpctl meta set 10.77.0.1
	[ "$(table_key)" = "$key" ]
}
