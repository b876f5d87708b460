# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/containers.bats does on a node: bundles, containers, CNI networks.
# Sourced there.

set -eu -o pipefail
shopt -s inherit_errexit
# shellcheck source=tests/lib/expect.bash
source "${BASH_SOURCE[0]%/*}/expect.bash"
WORK=/run/vqp-test
BIN=$WORK/bin
PATH=$BIN:$PATH

# Once a node: the programs on a disk of its own, the root file system that all
# bundles share, and a plain config.json.
prepare() {
	local applet rootfs=$WORK/rootfs

	rm -rf "$BIN"
	mkdir -p "$rootfs"/{bin,dev,proc,sys,tmp,etc}
	cp -r "${BUILD-/vqp/build}/bin" "$BIN"
	install -D -t "$WORK/lib" "${BUILD-/vqp/build}/lib/libvqpcni.so"
	cp "${BASH_SOURCE[0]%/*}/../programs/cni-exec" "$BIN/"
	cp /bin/busybox "$rootfs/bin/"
	for applet in sh sleep cat echo mknod id ls test true; do
		ln -sf busybox "$rootfs/bin/$applet"
	done
	cp "$BIN/vqpt" "$rootfs/bin/"
	template "$rootfs"
	no_operator
	policy_default
}

# ROOTFS: have a plain config.json for bundles of that root file system.
template() {
	mkdir -p "$WORK/template"
	(cd "$WORK/template" && rm -f config.json && runc spec)
	jq '.process.terminal = false | .process.args = ["sleep", "1000"] |
		.root = {path: "'"$1"'", readonly: true}' "$WORK/template/config.json" >"$WORK/config.json"
}

# JSON: the operator's file for vqp-runtime
operator() {
	mkdir -p /etc/vqp
	no_operator	# nor its owner and rights
	echo "$1" >/etc/vqp/runtime.json
}

no_operator() { rm -f /etc/vqp/runtime.json; }

# RULE...: the node's policy
policy() {
	mkdir -p /etc/vqp
	no_policy	# nor its owner and rights
	jq -n '{rules: $ARGS.positional}' --jsonargs "$@" >/etc/vqp/policy.json
}

no_policy() { rm -f /etc/vqp/policy.json; }

# the rule that most tests go by, as services has it: containers may choose
anything='{"subnet": "any", "tenant": 1, "may_choose": {"tenants": "any", "addresses": ["any"]}}'

policy_default() { policy "$anything"; }

# NAME [JQ]: make a bundle in $WORK/NAME, its configuration changed by a jq filter.
bundle() {
	mkdir -p "$WORK/$1"
	jq "${2-.}" "$WORK/config.json" >"$WORK/$1/config.json"
}

# jq filters for bundle()
address() { echo ".annotations[\"io.vqp.address\"] = \"$1\""; }
tenant() { echo ".annotations[\"io.vqp.tenant\"] = \"$1\""; }
netns() { echo "(.linux.namespaces[] | select(.type == \"network\")).path = \"/run/netns/$1\""; }
rule() { echo ".annotations[\"io.vqp.$1\"] = \"$2\""; }
# its network namespace has these addresses, in this order, when vqp-hook comes
addressed() {
	cat >"$WORK/net" <<-'END'
		#!/bin/sh
		pid=$(jq .pid)
		nsenter -t $pid -n ip link add eth0 type veth peer name eth1
		for address; do
			nsenter -t $pid -n ip address add $address/24 dev eth0
		done
		nsenter -t $pid -n ip link set eth0 up
	END
	chmod +x "$WORK/net"
	jq -rn '".hooks.prestart = [\({path: "'"$WORK/net"'", args: (["net"] + $ARGS.positional), env: ["PATH='"$PATH"'"]} | tojson)]"' \
		--args "$@"
}
shell() { jq -rn --arg text "$1" '".process.args = " + (["sh", "-ec", $text] | tojson)'; }

# what an engine makes of the CDI device, but for the hooks' and the device's order
cdi_device() {
	vqpctl cdi | jq -r --argjson major "$((0x$(stat -c %t /dev/vqp)))" --argjson minor "$((0x$(stat -c %T /dev/vqp)))" '
		{type: "c", $major, $minor} as $device | .devices[0].containerEdits |
		".mounts += \(.mounts | map({destination: .containerPath, source: .hostPath, type: "bind", options}))
		| .hooks += \(.hooks | map({key: .hookName, value: [del(.hookName)]}) | from_entries)
		| .linux.devices += \([$device + {path: .deviceNodes[0].path, fileMode: 438}])
		| .linux.resources.devices += \([$device + {allow: true, access: "rw"}])"'
}

# NAME VERB [OPTION...]: have vqp-runtime, or $RUNTIME, make the container of a bundle; its
# output goes to $WORK/NAME.out, and to stderr if that fails.
launch() {
	local name=$1 verb=$2

	shift 2
	"${RUNTIME-vqp-runtime}" "$verb" "$@" --bundle "$WORK/$name" --pid-file "$WORK/$name.pid" "$name" \
		</dev/null >"$WORK/$name.out" 2>&1 ||
		{ cat "$WORK/$name.out" >&2; return 1; }
}

# NAME [JQ]: make a bundle and start it.
start() {
	bundle "$@"
	launch "$1" run --detach
}

# NAME: create from the bundle, not started
create() { launch "$1" create; }

# NAME [JQ]: run a container to its end, with its output and its exit status.
run_once() {
	bundle "$@"
	vqp-runtime run --bundle "$WORK/$1" "$1" </dev/null
}

# NAME: runc and CRIU take it down to $WORK/NAME.img, and it is gone
checkpoint() {
	rm -rf "$WORK/$1.img"
	vqp-runtime checkpoint --image-path "$WORK/$1.img" --work-path "$WORK/$1.criu" "$1"
}

# NAME: what checkpoint() has taken down is there again
restore() {
	vqp-runtime restore --detach --bundle "$WORK/$1" --image-path "$WORK/$1.img" --work-path "$WORK/$1.criu" "$1" \
		</dev/null >/dev/null 2>&1
}

pid_of() { echo "$(<"$WORK/$1.pid")"; }	# the file has no end of line

# The kernel's VQP namespaces of containers, as "tenant address" lines.
namespaces() { vqpctl ns list --json | jq -r '.[] | select(.tenant != 0) | "\(.tenant) \(.gid | ltrimstr("::ffff:"))"'; }

# ADDRESS [TENANT]
has_namespace() {
	local list

	list=$(namespaces) && grep -qx "${2-1} $1" <<<"$list"
}

# ADDRESS
has_no_namespace() {
	local list

	list=$(namespaces) && ! grep -q " $1\$" <<<"$list"
}

# NUMBER
has_namespaces() {
	local count

	count=$(namespaces | wc -l) && [ "$count" = "$1" ]
}

# What the module has made and not freed, a line for each kind of object.
live_objects() {
	vqpctl status --json | jq -c '.counters[] | select(has("made")) | [.name, .made - .freed]'
}

# What has just ended is gone: for a second nothing has changed.
at_rest() {
	local before

	before=$(live_objects) && [ "$before" ] && sleep 1 && [ "$(live_objects)" = "$before" ]
}

# ADDRESS: somebody listens there.
is_served() { vqpctl vqps --json | jq -e --arg gid "::ffff:$1" 'any(.[]; .gid == $gid and .state == "bound")'; }

# ADDRESS: the limits of its namespace, as max_vqps/max_mrs/max_bytes, -: unlimited.
limits_of() {
	vqpctl ns list --json | jq -er --arg gid "::ffff:$1" \
		'.[] | select(.gid == $gid) | [.max_vqps, .max_mrs, .max_bytes] | map(if . == "unlimited" then "-" else . end) | join("/")'
}

has_stopped() { [ "$(runc state "$1" | jq -r .status)" = stopped ]; }

# PATTERN: nobody is named so
gone() { ! pgrep -x "$1" >/dev/null; }

is_running() { [ "$(runc state "$1" | jq -r .status)" = running ]; }

# Names a network list on the bridge cni0 with vqp behind it, subnet 10.66.NUMBER.0/24, changed by a jq filter.
network() {
	local list=$WORK/$1.conflist

	jq -n --arg name "$1" --arg number "$2" --arg work "$WORK" '{cniVersion: "1.0.0", name: $name, plugins: [
		{type: "bridge", bridge: ("br" + $name), isGateway: true, ipam: {type: "host-local",
			dataDir: ($work + "/ipam"), ranges: [[{subnet: "10.66.\($number).0/24"}]]}},
		{type: "vqp"}]} | '"${3-.}" >"$list"
	echo "$list"
}

# LIST NAME [IFNAME]: attach a network namespace, which is made if need be; prints its address.
attach() {
	[ -e "/run/netns/$2" ] || ip netns add "$2"
	CNI_PATH=$BIN/cni:/usr/lib/cni cni-exec add "$1" "cni-$2" "/run/netns/$2" "${3-eth0}" |
		jq -r '.ips[-1].address | split("/")[0]'
}

# LIST NAME [IFNAME]
detach() { CNI_PATH=$BIN/cni:/usr/lib/cni cni-exec del "$1" "cni-$2" "/run/netns/$2" "${3-eth0}"; }

# COMMAND LIST NAME RESULT [IFNAME]: call the plugin vqp of a list alone
plugin() {
	jq -c --argjson prev "$4" '. as $list | .plugins[] | select(.type == "vqp") |
		. + {name: $list.name, cniVersion: $list.cniVersion, prevResult: $prev}' "$2" |
		CNI_COMMAND=$1 CNI_CONTAINERID=cni-$3 CNI_NETNS=/run/netns/$3 CNI_IFNAME=${5-eth0} "$BIN/cni/vqp"
}

# NUMBER...: of network namespaces nNUMBER, all at once, call the plugin vqp of a list by COMMAND; their
# addresses are 10.60.2.NUMBER. Fails if one fails.
plugins() {
	local command=$1 list=$2 i pids=() failed=0

	shift 2
	for i; do
		plugin "$command" "$list" "n$i" "$(result "10.60.2.$i")" >/dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=1
	done
	return $failed
}

# ADDRESS: the result of a plugin that gives it
result() { echo '{"cniVersion": "1.0.0", "ips": [{"address": "'"$1"'/24"}]}'; }

# LIST [NAME...]: GC by the plugin vqp of a list; the attachments eth0 of these are to stay
gc() {
	local list=$1

	shift
	network_command GC "$list" "$(jq -cn '{"cni.dev/valid-attachments":
		[$ARGS.positional[] | {containerID: "cni-\(.)", ifname: "eth0"}]}' --args "$@")"
}

# COMMAND LIST [MEMBERS]: what CNI 1.1.0 has for networks; Debian's plugins do not know it
network_command() {
	jq -c --argjson more "${3-null}" '. as $list | .plugins[] | select(.type == "vqp") |
		. + {name: $list.name, cniVersion: "1.1.0"} + $more' "$2" | CNI_COMMAND=$1 "$BIN/cni/vqp"
}

# What a test has left behind.
cleanup() {
	local id name

	for id in $(runc list -q); do
		runc delete --force "$id" || true
	done
	for name in $(ip netns list | cut -d' ' -f1); do
		ip netns del "$name"
	done
	ip link del vqpmaster 2>/dev/null || true
	rm -rf "$WORK/ipam"
	no_operator
	policy_default
	find "$WORK" -mindepth 1 -maxdepth 1 ! -name bin ! -name lib ! -name rootfs ! -name template ! -name config.json \
		-exec rm -rf {} +
}
