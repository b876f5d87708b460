# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2016 # expanded on the nodes
# What a bats suite that runs on a testbed loads first. The testbed is up already: tests/run sees to
# it, or `testbed/testbed up` with the same VQP_TESTBED.
#
# A suite may define setup_file, teardown_file and teardown, but not setup: that is here, and makes
# every test fail during which a node's kernel complained. bats runs a teardown to its end whatever
# fails in it, and asks for its last status only: its commands are to be joined by &&.

tests=$(realpath -- "${BASH_SOURCE[0]%/*}/..")
testbed=$tests/../testbed/testbed

# find_nodes: the numbers of the testbed's nodes are in the array `nodes` from now on
find_nodes()
{
	local count=$tests/../build/testbed/${VQP_TESTBED-default}/nodes
	mapfile -t nodes < <(seq "$([[ -e $count ]] && cat "$count" || echo 2)")
}

find_nodes

# node NODE COMMAND...: run it there; output, error output and exit status pass through. A command
# that takes longer than NODE_TIMEOUT seconds is ended with status 124.
node()
{
	"$testbed" exec --timeout "${NODE_TIMEOUT-180}" "$@"
}

# The functions that scripts on nodes have: a file in tests/. A suite that needs others sets it to its own.
helpers=lib/vqp.bash

# on NODE SCRIPT: run it there, with these functions; the first command that fails ends it
on()
{
	node "$1" bash -c "source /vqp/tests/$helpers; $2"
}

# on_each COMMAND...: run it on all nodes at once
on_each()
{
	local node pids=() status=0
	for node in "${nodes[@]}"; do
		node "$node" "$@" &
		pids+=($!)
	done
	for node in "${pids[@]}"; do
		wait "$node" || status=$?
	done
	return "$status"
}

# vqp_up: have the module loaded and the daemons running on all nodes, and /vqp seen as it is now. What
# runs stays, but for vqpd, which is started anew: a restart of it disturbs nobody.
vqp_up()
{
	# shellcheck disable=SC2119 # without parameters
	"$testbed" refresh && start_services
}

# start_services [PARAMETER=VALUE...]: on all nodes, with a device that lies if VQP_LIES says so
# shellcheck disable=SC2120 # suites have parameters
start_services()
{
	on_each env VQP_LIES="${VQP_LIES-}" bash /vqp/tests/programs/services start "$@"
}

# fault ARGUMENT...: of `testbed fault`. A test that needs one which these nodes cannot have is skipped.
fault()
{
	local said=${BATS_TEST_TMPDIR-$BATS_FILE_TMPDIR}/fault status=0
	"$testbed" fault "$@" 2>"$said" || status=$?
	cat "$said" >&2
	# what signals and fail-nth run has a status of its own
	[[ $status != 77 || $1 == signals || $1 == fail-nth ]] || skip "$(tail -n 1 "$said")"
	return "$status"
}

# real_machines: the nodes are
real_machines()
{
	[[ $("$testbed" status) == *" by ssh, "* ]]
}

# vqp_services_stop: the daemons alone
vqp_services_stop()
{
	on_each bash /vqp/tests/programs/services stop
}

# vqp_down: the daemons and the module; fails if the module is in use
vqp_down()
{
	on_each bash /vqp/tests/programs/services unload
}

# kernel_log_check: fails if a node's kernel complained since it was asked last
kernel_log_check()
{
	on_each sh -c 'found=$(kernel-log) && exit
		printf "the kernel of %s complains:\n%s\n" "$(hostname)" "$found"
		exit 1'
}

# console_bytes: how much the nodes' kernels have printed. What is worth a failure is a warning at
# least, and those are printed; to look here costs the nodes nothing.
console_bytes()
{
	local node
	for node in "${nodes[@]}"; do
		"$testbed" console "$node" | wc -c
	done
}

setup()
{
	if declare -F teardown >/dev/null; then
		eval "suite_$(declare -f teardown)"
	else
		suite_teardown() { :; }
	fi
	# what goes wrong while a suite's teardown cleans up is the test's fault, too
	teardown()
	{
		local seen=$BATS_FILE_TMPDIR/console_bytes now
		suite_teardown || return
		now=$(console_bytes)
		if [[ ! -e $seen || $(<"$seen") != "$now" ]]; then
			echo "$now" >"$seen"
			kernel_log_check
		fi
	}
}
