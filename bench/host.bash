# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What measures on two nodes of its own does it here: one step after the other. Sourced by
# bench/demo and bench/bench, with $top.

name=${0##*/}
export VQP_TESTBED=${VQP_TESTBED:-$name-$$}
# shellcheck source=tests/lib/testbed.bash
source "$top/tests/lib/testbed.bash"

# step TEXT COMMAND...: say what is done, and how long it took
step()
{
	local text=$1 start=$SECONDS
	shift
	printf '%s: %s\n' "$name" "$text" >&2
	"$@" || { printf '%s: failed: %s\n' "$name" "$text" >&2; exit 1; }
	printf '%s: %s: %d s\n' "$name" "$text" $((SECONDS - start)) >&2
}

# there FILE NODE WORD...: a function of bench/FILE
there()
{
	local file=$1 node=$2
	shift 2
	# shellcheck disable=SC2016
	node "$node" bash -c 'source /vqp/bench/"$0"; "$@"' "$file" "$@"
}

# nodes_boot ARGUMENT...: of `testbed up`, unless HOSTS names machines that are to be the nodes; they are none any more
# when the script ends
nodes_boot()
{
	[[ ! ${HOSTS-} ]] || set -- --hosts "$HOSTS"
	trap 'status=$?; "$testbed" down || ((status)) || status=1; exit "$status"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	"$testbed" up "$@" > /dev/null && { on_each kernel-log > /dev/null || true; }
}

# nodes_end: nothing of ours is left in their kernels, and these have not complained
nodes_end()
{
	kernel_log_check && vqp_down && kernel_log_check
}
