# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What suites of the CNI plugin load that run on the machine that builds, with a vqpd that answers as
# told; tests/containers/containers.bats has the real one.

setup_file() {
	export PLUGIN=${O:-$BATS_TEST_DIRNAME/../../build}/bin/cni/vqp
	export SOCKET=$BATS_FILE_TMPDIR/vqpd.sock
	"$BATS_TEST_DIRNAME/../programs/fake-vqpd" "$SOCKET" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/pid"
	# The container: a network namespace that lives as long as the suite.
	unshare -n sleep infinity 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/container"
	timeout 10 bash -c 'until [ -S "$SOCKET" ]; do sleep 0.01; done
		while [ "$(readlink "/proc/$1/ns/net")" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done' -- $!
	readlink "/proc/$!/ns/net"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/pid")" "$(cat "$BATS_FILE_TMPDIR/container")"
}

setup() {
	NETNS=$BATS_TEST_TMPDIR/netns
	ln -s "/proc/$(cat "$BATS_FILE_TMPDIR/container")/ns/net" "$NETNS"
	rm -f "$SOCKET".re*
}

# ANSWER [OP[.ID]]: what vqpd says to all, or to OP, or to OP for a container.
reply() { echo "$1" >"$SOCKET.reply${2+.$2}"; }

# A configuration as behind bridge, of CNI version $1, changed by the jq filter $2.
config() {
	jq -cn --arg version "$1" --arg socket "$SOCKET" '{
		cniVersion: $version, name: "net", type: "vqp", vqpd: $socket,
		prevResult: {
			cniVersion: $version,
			interfaces: [{name: "br0"}, {name: "veth0"}, {name: "eth0", mac: "02:00:00:00:00:01", sandbox: "/run/netns/x"}],
			ips: [{interface: 2, address: "10.1.0.2/24", gateway: "10.1.0.1"}],
			routes: [{dst: "0.0.0.0/0"}],
			dns: {}
		}
	} | '"${2-.}"
}

# COMMAND CONFIG [NAME=VALUE...]: call the plugin with a full environment, changed as told.
call() {
	local command=$1 config=$2
	shift 2

	run --separate-stderr env -i CNI_COMMAND="$command" CNI_CONTAINERID=c1 CNI_NETNS="$NETNS" \
		CNI_IFNAME=eth0 CNI_PATH=/nowhere "$@" "$PLUGIN" <<<"$config"
}

# The last call failed with this code and a text, as the specification has it.
error_is() {
	echo "status $status, output $output"
	[ "$status" -eq 1 ]
	jq -e --argjson code "$1" '.code == $code and (.msg | length > 0) and (.cniVersion | length > 0)' <<<"$output"
}

# ... and vqpd was not asked.
refused_with() {
	error_is "$1"
	[ ! -e "$SOCKET.requests" ]
}

# The last call succeeded with an answer on which the jq filter is true.
answer_is() {
	echo "status $status, output $output, stderr $stderr"
	[ "$status" -eq 0 ]
	jq -e "$1" <<<"$output"
}

# The last call failed, and nothing was made: a del came last.
undone_with() {
	error_is "$1"
	[ "$(jq -sc 'map(.op)' "$SOCKET.requests")" = '["add","del"]' ]
	with_netns
}

# The last request came with the container's network namespace; or with none.
with_netns() { [ "$(tail -n 1 "$SOCKET.received")" = "$(stat -Lc %i "$NETNS")" ]; }
with_none() { [ "$(tail -n 1 "$SOCKET.received")" = none ]; }

# Of the last request.
request_is() { tail -n 1 "$SOCKET.requests" | jq -e "$1"; }

# Succeeded, and printed nothing.
silent() {
	echo "status $status, output $output, stderr $stderr"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}
