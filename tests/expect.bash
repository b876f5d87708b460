# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Commands that are to succeed in a while, and such that are to fail. Sourced on a node.

# Try COMMAND until it succeeds, for up to 20 s.
eventually() {
	local deadline=$((SECONDS + 20))

	until "$@" >/dev/null 2>&1; do
		((SECONDS < deadline)) || { echo "never: $*" >&2; return 1; }
		sleep 0.1
	done
}

# COMMAND fails; plain "!" would not end the script.
not() { ! "$@"; }
