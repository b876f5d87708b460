# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The kernel's fault injection, for allocations that no system call of ours makes. Sourced on a node
# after tests/vqp.bash.

failslab=/sys/kernel/debug/failslab

# ATTRIBUTE VALUE...
knobs_set() {
	while (($# > 0)); do
		echo "$2" >"$failslab/$1"
		shift 2
	done
}

# Nothing fails; nothing is said on the console.
knobs_reset() {
	knobs_set probability 0 times 0 interval 1 space 0 task-filter N ignore-gfp-wait Y verbose 1
	sysctl -qw kernel.printk=1
}

# PERCENT TIMES: fail that many of the allocations that must not sleep, until so many have failed
fail_atomic() {
	knobs_reset
	knobs_set times "$2" probability "$1"
}

# PERCENT TIMES: the same of those of the kernel's unbound workers
fail_workers() {
	local pid
	knobs_reset
	for pid in $(pgrep '^kworker/u'); do
		echo 1 >"/proc/$pid/make-it-fail"
	done
	knobs_set ignore-gfp-wait N task-filter Y times "$2" probability "$1"
}

# All that were to fail have failed.
spent() { [[ $(<"$failslab/times") == 0 ]]; }

# The RDMA device goes and comes back: the node has no peers then.
device_anew() {
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev data0
	eventually vqpctl pool
}
