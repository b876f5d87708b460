# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# A node of the testbed in $state, of whichever kind: a process that lives as long as the node does, and the shared
# ssh connection to it.
#
# state/nodes             how many there are
# state/slowness          what time-outs are multiplied by
# state/node-I.pid        the process
# state/node-I.console    everything its kernel said
# state/node-I.errors     what the process said itself
# state/node-I.ssh        the control socket of the connection
#
# What the kinds do differently is in emulator.bash and host.bash, each with these functions:
#
# nodes_begin             have them, from nothing
# nodes_end               give back what they hold, but for their processes here
# nodes_refresh           have /vqp there as it is here
# node_title NODE         what it is called when something is said of it
# node_login NODE         whom ssh is to reach
# node_ssh_options NODE   options for ssh and scp, to be run in $state because a socket's path is short
# node_line NODE WORD...  what a shell there runs for that command
# node_root NODE          where on the machine that is reached the node's file system is
# node_describe NODE      what there is, in a few words

# use_kind: of the testbed in $state
use_kind()
{
	local kind=emulator
	[[ ! -e $state/hosts ]] || kind=host
	# shellcheck source=/dev/null
	source "$lib/$kind.bash"
}

# on_nodes TEXT COMMAND: that for each at once, with its number; TEXT is said of those for which it is done
on_nodes()
{
	local node pids=() status=0
	for ((node = 1; node <= $(<"$state/nodes"); node++)); do
		step "$(node_title "$node"): $1" "$2" "$node" &
		pids+=($!)
	done
	for node in "${pids[@]}"; do
		wait "$node" || status=1
	done
	return "$status"
}

# node_process NODE: its process is there
node_process()
{
	local pid
	pid=$(cat "$state/node-$1.pid" 2>/dev/null) || return
	# a recycled process id does not run in our directory
	[[ $(readlink "/proc/$pid/cwd") == "$state" ]]
}

# node_alive NODE: its process is there, and its kernel has not stopped
node_alive()
{
	node_process "$1" && ! grep -q '\] ---\[ end Kernel panic' "$state/node-$1.console"
}

# node_kill NODE: end its process, and wait until it has ended
node_kill()
{
	local tries
	node_process "$1" || return 0
	kill -KILL "$(<"$state/node-$1.pid")"
	for ((tries = 0; tries < 100; tries++)); do
		node_process "$1" || return 0
		sleep 0.05
	done
	return 1
}

# node_last_words NODE: the last lines of its console, and all since its kernel first complained
node_last_words()
{
	tail -n 200 "$state/node-$1.console" | tr -d '\r' | awk '
		{ line[NR] = $0 }
		!first && /Kernel panic|BUG:|Oops|cut here/ { first = NR }
		END {
			if (!first || first > NR - 39)
				first = NR - 39
			for (i = first; i <= NR; i++)
				if (i > 0)
					print line[i]
		}'
}

# node_complaint NODE: what its kernel complained of first, where, and who called; a line each
node_complaint()
{
	tr -d '\r' <"$state/node-$1.console" | sed -E 's/^(<[0-9]+>)?\[ *[0-9.]+\] ?//' | awk '
		!what && /Kernel panic|BUG:|Oops|general protection|WARNING: CPU/ { what = $0 }
		what && !where && /RIP: / { where = $0 }
		what && /^Call Trace:/ && !callers { traced = 1 }
		traced && match($0, /^ +[a-zA-Z_][^ ]*\+0x/) { callers = callers " " substr($1, 1, index($1, "+") - 1) }
		/^ *<\/(TASK|IRQ)>/ || /^---/ { traced = 0 }
		END {
			if (what)
				printf "%s\n%s\ncalled by%s\n", what, where, substr(callers, 1, 180)
		}'
}

# node_report NODE: say that it is of no more use, and what it said last; at length only once
node_report()
{
	local condition=dead
	node_alive "$1" && condition="not answering"
	if [[ ! -e $state/node-$1.reported ]]; then
		say "node $1 is $condition; its console ends with:"
		node_last_words "$1" >&2
	fi
	: >"$state/node-$1.reported"
	cat "$state/node-$1.errors" >&2
	say "node $1 is $condition; its kernel's first complaint:"
	node_complaint "$1" >&2
}

# node_dies NODE: the connection breaks before the node is dead; how long before, the host's load says
node_dies()
{
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		node_alive "$1" || return 0
		sleep 0.1
	done
	return 1
}

# node_disconnect NODE: end the connection, which has the outputs of the commands that it carries
node_disconnect()
{
	local options
	mapfile -t options < <(node_ssh_options "$1")
	(cd "$state" && ssh "${options[@]}" -O exit "$(node_login "$1")" 2>/dev/null)
	rm -f "$state/node-$1.ssh"
}

# node_exec NODE TIMEOUT COMMAND...: run it there; TIMEOUT 0 waits for ever
node_exec()
{
	local node=$1 limit=$2 options line login status=0 guard=()
	shift 2
	if ! node_alive "$node"; then
		node_report "$node"
		return 125
	fi
	line=$(node_line "$node" "$@")
	if ((limit > 0)); then
		# what ignores its end is killed together with timeout itself: the shell tells the tale
		line="timeout -k 5 $limit $line; exit \$?"
		guard=(timeout -k 1 $((limit + 15)))
	fi
	mapfile -t options < <(node_ssh_options "$node")
	login=$(node_login "$node")
	(cd "$state" && exec "${guard[@]}" ssh "${options[@]}" -T "$login" "$line") || status=$?
	if ((status == 255)) && ! (cd "$state" && ssh "${options[@]}" -O check "$login" 2>/dev/null); then
		node_dies "$node" || { node_report "$node"; return 125; }
	fi
	if ((status != 0)) && ! node_alive "$node"; then
		node_disconnect "$node"
		node_report "$node"
		status=125
	elif ((status == 137 && limit > 0)); then
		status=124
	fi
	return "$status"
}

# node_processes: the ids of this testbed's processes, which all work in $state, also if that has been deleted
node_processes()
{
	local path
	for path in /proc/[0-9]*; do
		[[ $(readlink "$path/cwd") == "$state"?(" (deleted)") && $(readlink "$path/exe") =~ /(qemu-system[^/]*|ssh|scp)$ ]] &&
			echo "${path##*/}"
	done 2>/dev/null
	return 0
}

# nodes_stop: end this testbed's processes, even those of an earlier run that was cut short
nodes_stop()
{
	local pids tries
	for ((tries = 0; tries < 100; tries++)); do
		mapfile -t pids < <(node_processes)
		((${#pids[@]} > 0)) || return 0
		if ((tries == 0)); then
			kill "${pids[@]}" 2>/dev/null
		elif ((tries == 60)); then
			kill -KILL "${pids[@]}" 2>/dev/null
		fi
		sleep 0.05
	done
	die "$name: cannot be stopped: processes ${pids[*]}"
}
