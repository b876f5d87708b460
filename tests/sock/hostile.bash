# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/hostile.bats does on a node. Sourced there.

# shellcheck source=tests/sock/far.bash
source /vqp/tests/sock/far.bash

group=/sys/fs/cgroup/hostile

# MIB COMMAND...: in a cgroup with so much memory and half a processor, as a container has them
contained() {
	echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p "$group"
	echo "${1}M" >"$group/memory.max"
	echo '50000 100000' >"$group/cpu.max"
	(echo "$BASHPID" >"$group/cgroup.procs" && "${@:2}")
}

contained_end() {
	stop_socks
	[[ ! -d $group ]] || eventually rmdir "$group"
}

# How much that cgroup is charged for, in bytes
charged() { cat "$group/memory.current"; }

# NAME WORD...: what hostile.py does with them in that network namespace
hostile() { inside "$1" /vqp/tests/sock/hostile.py "${@:2}"; }

# Pages of what is unread on this node
pages() { alive chunk; }

# COUNT: no more than so many connections' ends are on this node
ends_at_most() { (($(alive stream) <= $1)) || { echo "$(alive stream) ends, more than $1" >&2; return 1; }; }
