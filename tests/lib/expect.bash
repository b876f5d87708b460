# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Commands that are to succeed in a while, and such that are to fail. Sourced on nodes, and by suites that need none.

# SECONDS COMMAND: try it until it succeeds, for up to so long.
within() {
	local deadline=$((SECONDS + $1))

	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < deadline)) || { echo "never: $*" >&2; return 1; }
		sleep 0.1
	done
}

# COMMAND: the same for up to 20 s.
eventually() { within 20 "$@"; }

# COMMAND fails; plain "!" would not end the script.
not() { ! "$@"; }

# SIGNAL STATUS PID: that child, sent SIGNAL, ends with STATUS. Not for bats' `run`, whose subshell has no
# children to wait for.
ends_by() {
	local status=0

	kill "-$1" "$3"
	wait "$3" || status=$?
	[ "$status" -eq "$2" ]
}

# PID: that process runs no more.
runs_no_more() { [[ $(ps -o stat= -p "$1") == @(|Z*) ]]; }
