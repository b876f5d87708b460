# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/doctor.bats does on a node. Sourced there.

# shellcheck source=tests/node/node.bash
source "${BASH_SOURCE[0]%/*}/node.bash"

# where programs are that another vqp has installed
other=/tmp/vqp-doctor-other
# a list that comes before those of other suites
list=/etc/cni/net.d/00-doctor.conflist

# STATE ID [PROGRAM]: the doctor has this finding, whatever its exit status
finds() {
	{ "${3-vqpctl}" doctor --json || true; } |
		jq -e --arg state "$1" --arg id "$2" 'any(.findings[]; .id == $id and .state == $state)' >/dev/null
}

# Another installation, with the programs WORD...
install_other() {
	local program

	mkdir -p "$other"
	for program; do
		cp "/vqp/build/bin/$program" "$other/"
	done
}

# No engine knows the runtime, of which a suite before may have told them, with programs that are gone.
forget_engines() {
	local engine

	for engine in containerd crio docker podman; do
		vqpctl configure "$engine" --remove >/dev/null
	done
}

# What the tests have written is gone.
clean() {
	local engine

	for engine in containerd podman; do
		[[ ! -e /run/vqp-doctor-$engine ]] || vqpctl configure "$engine" --remove >/dev/null
		rm -f "/run/vqp-doctor-$engine"
	done
	rm -rf "$other" "$list" /run/vqp-doctor.tar.gz /run/vqp-doctor
}

# ENGINE PROGRAM: it is configured by that vqpctl, until clean
configure() {
	touch "/run/vqp-doctor-$1"
	"$2" configure "$1" >/dev/null
}

# A list for containerd, with these plugins behind the first
write_list() {
	mkdir -p "${list%/*}"
	jq -n --argjson more "$1" '{cniVersion: "1.0.0", name: "doctor", plugins: ([{type: "bridge", password: "S3CRET"}] + $more)}' >"$list"
}

# The policy with an error, and no policy, until it is as it was.
misses_policy() {
	local file=/etc/vqp/policy.json status=0

	mv "$file" "$file.mine"
	finds fault policy.file || status=$?
	echo '{"rules": [{"subnet": "any", "tennant": 7}]}' >"$file"
	finds fault policy.file || status=$?
	finds fault policy.vqpd || status=$?
	mv "$file.mine" "$file"
	return $status
}

# The address goes, the doctor says so, and it comes back. It has three seconds for that (PARENT_GONE_JIFFIES).
misses_address() {
	local address status=0

	address=$(ip -4 -o address show dev "$link" | awk '{ print $4; exit }')
	ip address del "$address" dev "$link"
	finds fault device.address || status=$?
	ip address add "$address" dev "$link"
	return $status
}

# A smaller MTU, and what the doctor says; the former one is back afterwards.
misses_mtu() {
	local mtu status=0

	mtu=$(cat "/sys/class/net/$link/mtu")
	ip link set dev "$link" mtu 1500
	eventually finds warning device.mtu || status=$?
	ip link set dev "$link" mtu "$mtu"
	return $status
}

bundle_has_no_secrets() {
	local all

	write_list '[{"type": "other", "tenant": 4711}]'
	vqpctl doctor --bundle /run/vqp-doctor.tar.gz
	[ "$(stat -c %a /run/vqp-doctor.tar.gz)" = 600 ]
	tar -C /run -xzf /run/vqp-doctor.tar.gz
	all=$(cat /run/vqp-doctor/*)
	not grep -q S3CRET <<<"$all"
	not grep -qw "$(vqpctl status --json | jq .qkey)" <<<"$all"
	not grep -qw "$(table_key)" <<<"$all"
	# it could have been there
	grep -q S3CRET "$list"
	grep -q 4711 <<<"$all"
	jq -e '.findings | length > 0' /run/vqp-doctor/doctor.json
	grep -q '^parent ' /run/vqp-doctor/status
	grep -q '"buckets"' /run/vqp-doctor/meta.json
	grep -q vqp /run/vqp-doctor/kernel-log
	grep -q . /run/vqp-doctor/sys-module-vqp-parameters-rc_max
	grep -q "$device" /run/vqp-doctor/rdma-link
}

bundle_is_a_directory() {
	vqpctl doctor --bundle /run/vqp-doctor
	[ "$(stat -c %a /run/vqp-doctor)" = 700 ]
	jq -e '.findings | length > 0' /run/vqp-doctor/doctor.json
	not eval 'ls -d /run/vqp-doctor.??????'
}
