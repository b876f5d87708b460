# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What can go wrong in a cluster, each with one command. What is done on the node itself is in
# guest/root/usr/local/sbin/node-fault.

fault_usage()
{
	cat <<-'END'
	Usage: testbed [--name NAME] fault KIND NODE [VALUE] [for SECONDS]
	       testbed [--name NAME] fault KIND NODE off
	       testbed [--name NAME] fault off
	       testbed [--name NAME] fault signals NODE MS COMMAND [ARGUMENT...]
	       testbed [--name NAME] fault fail-nth NODE N COMMAND [ARGUMENT...]

	Let something go wrong at a node, until it is put right by "off" or, with "for", after
	so many seconds. Saying so twice changes nothing. "fault off" ends the faults of all nodes.

	  loss NODE PERCENT%       of the packets that the node sends
	  duplicate NODE PERCENT%  of them arrive twice
	  reorder NODE PERCENT%    of them overtake those before, which take 2 ms
	  opcode NODE N            RC packets of that opcode (IBTA 9.2) over IPv4 are lost on arrival; several add up
	  partition NODE           nothing passes between the node and the others; its link seems well
	  link-down NODE           the cable is out
	  interface-down NODE      as an administrator takes it down; the cable is in
	  parent-gone NODE         the RDMA device is removed
	  memory NODE MIB          only so much memory is left, and the caches are dropped
	  freeze NODE              nothing runs there, but its clock; for 20 s and more its kernel panics
	  crash NODE               it loses power; "off" boots it again

	  signals NODE MS COMMAND  run it there; it is stopped and continued every MS milliseconds,
	                           which interrupts system calls
	  fail-nth NODE N COMMAND  run it there; its N-th allocation in the kernel fails, counted from
	                           its exec. The kernel must be one with fault injection (debug)

	Exit status: 77 if these nodes cannot have it. Of real machines (up --hosts) link-down, freeze
	and crash are not to be had; packets are only lost on soft RDMA devices, and parent-gone takes
	none that was there before; a link by which ssh comes is not cut.
	END
}

fault_misuse()
{
	say "fault: $*; fault --help tells what there is"
	exit 125
}

# fault_impossible WHY: it cannot be had with these nodes; suites skip what needs it
fault_impossible()
{
	say "fault: $*"
	exit 77
}

node_frozen()
{
	local stat
	stat=$(<"/proc/$(<"$state/node-$1.pid")/stat") && [[ ${stat##*) } == T* ]]
}

# fault_guest NODE KIND VALUE [SECONDS]: done on the node itself, and undone there in time
fault_guest()
{
	node_alive "$1" || die "node $1 is dead: fault crash $1 off boots it again"
	! node_frozen "$1" || die "node $1 is frozen: fault freeze $1 off lets it go on"
	node_exec "$1" 0 node-fault "${@:2}"
}

fault_link_down()
{
	local node=$1 link=off answer
	[[ $2 == off ]] && link=on
	need socat
	node_alive "$node" || die "node $node is dead: fault crash $node off boots it again"
	# the monitor answers when the command is carried out
	answer=$(cd "$state" && printf 'set_link data %s\ninfo name\n' "$link" |
		socat -t 5 - "UNIX-CONNECT:node-$node.monitor")
	[[ $answer == *vqp-node-* && $answer != *Error* ]] || die "node $node: no link was set: $answer"
}

fault_freeze()
{
	local signal=STOP
	[[ $2 == off ]] && signal=CONT
	node_alive "$1" || die "node $1 is dead: fault crash $1 off boots it again"
	kill "-$signal" "$(<"$state/node-$1.pid")"
}

fault_crash()
{
	local node=$1
	if [[ $2 == off ]]; then
		node_alive "$node" && return
		[[ -e $state/node-$node.console ]] &&
			mv "$state/node-$node.console" "$state/node-$node.console.before"
		# a kernel that stopped leaves its process
		node_kill "$node"
		step "node $node: booted again" node_boot "$node" || die "node $node does not come up"
		return
	fi
	node_kill "$node"
	node_disconnect "$node"
}

fault_set()
{
	case $1 in
	link-down | freeze | crash) [[ ! -e $state/hosts ]] || fault_impossible "$1: that needs virtual nodes" ;;&
	link-down) fault_link_down "$2" "$3" ;;
	freeze) fault_freeze "$2" "$3" ;;
	crash) fault_crash "$2" "$3" ;;
	*) fault_guest "$2" "$1" "$3" ;;
	esac
}

fault_none()
{
	local kind
	[[ -e $state/hosts ]] || for kind in crash freeze link-down; do
		fault_set "$kind" "$1" off || return
	done
	fault_guest "$1" off
}

fault_all_off()
{
	local node nodes pids=() status=0
	nodes=$(<"$state/nodes")
	for ((node = 1; node <= nodes; node++)); do
		fault_none "$node" &
		pids+=($!)
	done
	for node in "${pids[@]}"; do
		wait "$node" || status=$?
	done
	return "$status"
}

# fault_for KIND NODE VALUE SECONDS
fault_for()
{
	case $1 in
	link-down | freeze | crash)
		on_exit "fault_set $1 $2 off"
		fault_set "$1" "$2" "$3"
		sleep "$4"
		exit_commands=
		fault_set "$1" "$2" off
		;;
	*) fault_guest "$2" "$1" "$3" "$4" ;;
	esac
}

# what KIND needs for VALUE
fault_check_value()
{
	case $1 in
	loss | duplicate | reorder)
		[[ $2 =~ ^(100|[0-9]{1,2}(\.[0-9]+)?)%$ ]] || fault_misuse "$1: not a percentage such as 1%: $2"
		;;
	opcode) [[ $2 =~ ^[0-9]{1,3}$ && $2 -le 255 ]] || fault_misuse "opcode: not a number up to 255: $2" ;;
	memory) [[ $2 =~ ^[1-9][0-9]{0,5}$ ]] || fault_misuse "$1: not a number of MiB: $2" ;;
	esac
}

verb_fault()
{
	local kind=${1-} node=${2-} value=on
	case $kind in
	--help | -h)
		fault_usage
		return
		;;
	off)
		check_node 1
		fault_all_off
		return
		;;
	loss | duplicate | reorder | opcode | partition | link-down | interface-down | parent-gone | memory | \
		freeze | crash) ;;
	signals | fail-nth)
		(($# >= 4)) || fault_misuse "$kind: NODE, a number and COMMAND are needed"
		check_node "$node"
		[[ $3 =~ ^[1-9][0-9]{0,6}$ ]] || fault_misuse "$kind: not a number: $3"
		fault_guest "$node" "$kind" "${@:3}"
		return
		;;
	*) fault_misuse "no kind of fault: $kind" ;;
	esac
	check_node "$node"
	shift 2
	if [[ ${1-} == off && $# == 1 ]]; then
		fault_set "$kind" "$node" off
		return
	fi
	case $kind in
	loss | duplicate | reorder | opcode | memory)
		value=${1-}
		fault_check_value "$kind" "$value"
		shift
		;;
	esac
	if [[ ${1-} != for ]]; then
		(($# == 0)) || fault_misuse "$kind: unknown argument $1"
		fault_set "$kind" "$node" "$value"
		return
	fi
	[[ $# == 2 && $2 =~ ^[0-9]{1,4}(\.[0-9]+)?$ ]] || fault_misuse "$kind: for how many SECONDS?"
	fault_for "$kind" "$node" "$value" "$2"
}
