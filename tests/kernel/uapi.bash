# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/uapi.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

vqpt32=/vqp/build/32/bin/vqpt

# The cases that a function can try, and that end by themselves.
bad_cases() { vqpt bad list | grep -vx -e until-shutdown -e 'nl-.*'; }

# ADDRESS PORT KEY ADDR: each case on that target ends for a 32-bit program as it does for a 64-bit one.
same_for_32_bit() {
	local case expected got wrong=0
	for case in $(bad_cases); do
		expected=$(inside uapi-a vqpt bad "$case" "$@")
		got=$(inside uapi-a "$vqpt32" bad "$case" "$@")
		[[ $got == "$expected" ]] || { echo "$case: '$got' for 32 bit, '$expected' for 64" >&2; wrong=1; }
	done
	return $wrong
}

# ADDRESS PORT KEY ADDR: try each case on that target, while somebody else's client `pid` goes on.
every_bad_case() {
	local case count=0
	for case in $(bad_cases); do
		inside uapi-a vqpt bad "$case" "$@" >/dev/null
		count=$((count + 1))
	done
	((count > 50))
}

context_outlives_its_namespace() {
	box uapi-short 7 10.70.0.9
	inside uapi-short vqpt bad until-shutdown >/run/until-shutdown &
	eventually in_use uapi-short
	vqpctl ns del --netns /run/netns/uapi-short
	wait
	[[ $(</run/until-shutdown) == ESHUTDOWN ]]
}

namespaces_of_one_netns() {
	box uapi-two 7 10.70.0.20
	vqpctl ns add --netns uapi-two --tenant 7 --address 10.70.0.21
	serve uapi-two echo-server 710 --depth=4
	serve uapi-two --address=10.70.0.21 echo-server 710 --depth=4
	for address in 10.70.0.20 10.70.0.21; do
		inside uapi-a vqpt --count=3 send $address 710
	done
	inside uapi-two vqpt --address=10.70.0.21 send 10.70.0.20 710
	elsewhere() { [[ $(inside "$1" vqpt "--address=$2" send 10.70.0.20 710 2>&1) == *EADDRNOTAVAIL* ]]; }
	elsewhere uapi-two 10.70.0.22
	elsewhere uapi-a 10.70.0.20
}

namespaces_end_alone() {
	vqpctl ns del --tenant 7 --address 10.70.0.20
	inside uapi-a vqpt --count=3 send 10.70.0.21 710
	not inside uapi-a vqpt send 10.70.0.20 710
	inside uapi-two vqpt send 10.70.0.21 710
	vqpctl ns add --netns uapi-two --tenant 7 --address 10.70.0.20
	vqpctl ns del --netns uapi-two
	[[ $(inside uapi-two vqpt bad open) == ENONET ]]
	not inside uapi-a vqpt send 10.70.0.21 710
}

one_netns_one_tenant() {
	box uapi-one 7 10.70.0.30
	before=$(vqpctl ns list --json | jq length)
	not vqpctl ns add --netns uapi-one --tenant 8 --address 10.70.0.31
	[ "$(vqpctl ns list --json | jq length)" = "$before" ]
	vqpctl ns add --netns uapi-one --tenant 7 --address 10.70.0.31
	vqpctl ns set --netns uapi-one --max-vqps 5
	vqpctl ns list --json | jq -e "[.[] | select(.gid | test(\"10.70.0.3[01]$\")).max_vqps] == [5, 5]"
}

huge_region_costs_nothing() {
	group=/sys/fs/cgroup/uapi-huge
	mkdir "$group"
	(echo $BASHPID >"$group/cgroup.procs"; bad uapi-a mr-memlock-huge ENOMEM)
	peak=$(<"$group/memory.peak")
	rmdir "$group"
	echo "at most $peak bytes"
	((peak < 64 << 20))
}

mappings_can_be_opened() {
	serve uapi-b echo-server 0
	maps=$(grep -c " /dev/vqp$" "/proc/$pid/maps")
	((maps >= 2))
	opened=0
	for map in "/proc/$pid/map_files/"*; do
		[[ $(readlink "$map") == /dev/vqp ]] || continue
		: <"$map"
		opened=$((opened + 1))
	done
	((opened == maps))
}
