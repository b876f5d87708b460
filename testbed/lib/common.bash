# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034
# What every part of the testbed uses: messages, progress, places.

top=$(realpath -- "${BASH_SOURCE[0]%/*}/../..")
testbeds=$top/build/testbed

say()
{
	printf '%s\n' "testbed: $*" >&2
}

# the tool's own failures exit with 125, so that they cannot be taken for a command's
die()
{
	say "$*"
	exit 125
}

# on_exit COMMAND: run it when this program ends, in whatever way; the last one comes first
exit_commands=
on_exit()
{
	exit_commands="$1;$exit_commands"
}

trap 'eval "$exit_commands"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# step TEXT COMMAND...: run it, and print one line with the seconds it took
step()
{
	local text=$1 start=${EPOCHREALTIME/./} status=0
	shift
	"$@" || status=$?
	local ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	if ((status == 0)); then
		printf 'testbed: %-48s %4d.%d s\n' "$text" $((ms / 1000)) $((ms % 1000 / 100)) >&2
	else
		printf 'testbed: %-48s failed\n' "$text" >&2
	fi
	return "$status"
}

# watched LOG TEXT COMMAND...: a step whose output goes to LOG and whose last line is shown every
# ten seconds; the end of LOG is shown when it fails
watched()
{
	local log=$1 text=$2 status=0
	shift 2
	step "$text" watch_log "$log" "$@" || status=$?
	((status == 0)) || tail -n 20 "$log" >&2
	return "$status"
}

# end_group PID: end that child and all of its process group
end_group()
{
	local tenths
	kill -- "-$1" 2>/dev/null
	for ((tenths = 0; tenths < 50; tenths++)); do
		kill -0 -- "-$1" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL -- "-$1" 2>/dev/null
	wait "$1"
}

watch_log()
{
	local log=$1 pid seconds=0 status=0 before=$exit_commands
	shift
	# a process group of its own can be ended as a whole
	setsid "$@" </dev/null >"$log" 2>&1 &
	pid=$!
	on_exit "end_group $pid"
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		((++seconds % 10 == 0)) && say "  ... $(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c 1-90)"
	done
	wait "$pid" || status=$?
	exit_commands=$before
	return "$status"
}

need()
{
	local command missing=()
	for command; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null || missing+=("$command")
	done
	((${#missing[@]} == 0)) || die "missing ${missing[*]}: are they in testbed/packages?"
}

# packages FILE: the names in a package list
packages()
{
	sed 's/#.*//' "$1" | xargs -n 1
}

# quote WORD...: one line which a POSIX shell splits into the same words
quote()
{
	local word
	for word; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done
}
