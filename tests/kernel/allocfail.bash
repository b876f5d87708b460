# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernel's fault injection, for allocations that no system call of ours makes. Sourced on a node.

# shellcheck source=tests/sock/far.bash
source /vqp/tests/sock/far.bash

failslab=/sys/kernel/debug/failslab fail_page_alloc=/sys/kernel/debug/fail_page_alloc

# WHICH ATTRIBUTE VALUE...: of the one or the other
knobs_set() {
	local knobs=$1
	shift
	while (($# > 0)); do
		echo "$2" >"$knobs/$1"
		shift 2
	done
}

# LEVEL: what is less important is not printed there, but logged all the same.
console_level() { sysctl -qw kernel.printk="$1"; }

# Nothing fails; when something does again, nothing is said of it.
knobs_reset() {
	local knobs
	for knobs in "$failslab" "$fail_page_alloc"; do
		knobs_set "$knobs" probability 0 times 0 interval 1 space 0 task-filter N ignore-gfp-wait Y verbose 0 \
			require-start 0 require-end 0xffffffffffffffff
	done
}

# PERCENT TIMES: fail that many of the allocations that must not sleep, until so many have failed
fail_atomic() {
	knobs_reset
	knobs_set "$failslab" times "$2" probability "$1"
}

# FUNCTION: where the module has it, as two attributes
range_of() {
	grep -w '\[vqp\]$' /proc/kallsyms | sort | awk -v f="$1" \
		'start && $1 != start { print "require-start 0x" start " require-end 0x" $1; found = 1; exit }
		$3 == f { start = $1 }
		END { exit !found }' || { echo "no function $1" >&2; return 1; }
}

# FUNCTION TIMES: fail that many of what the module allocates in that function and those that it calls
fail_within() {
	local range
	range=$(range_of "$1")
	knobs_reset
	# shellcheck disable=SC2086 # two attributes
	knobs_set "$failslab" ignore-gfp-wait N $range times "$2" probability 100
}

# FUNCTION TIMES: the same of pages
fail_pages_within() {
	local range
	range=$(range_of "$1")
	knobs_reset
	# shellcheck disable=SC2086 # two attributes
	knobs_set "$fail_page_alloc" ignore-gfp-wait N min-order 0 $range times "$2" probability 100
}

# All that were to fail have failed.
spent() { [[ $(<"$failslab/times") == 0 && $(<"$fail_page_alloc/times") == 0 ]]; }

# The RDMA device goes and comes back: the node has no peers then.
device_anew() {
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev data0
	eventually vqpctl pool
}
