# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/uapi.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

vqpt32=/vqp/build/32/bin/vqpt

# The cases that a function can try, and that end by themselves.
bad_cases() { vqpt bad list | grep -vx -e until-shutdown -e 'nl-.*'; }

# ADDRESS PORT KEY ADDR: each case on that target ends for a 32-bit program as it does for a 64-bit one.
same_for_32_bit() {
	local case expected got wrong=0
	for case in $(bad_cases); do
		expected=$(inside uapi-a vqpt bad "$case" "$@")
		got=$(inside uapi-a "$vqpt32" bad "$case" "$@")
		[[ $got == "$expected" ]] || { echo "$case: '$got' for 32 bit, '$expected' for 64" >&2; wrong=1; }
	done
	return $wrong
}

# ADDRESS PORT KEY ADDR: try each case on that target, while somebody else's client `pid` goes on.
every_bad_case() {
	local case count=0
	for case in $(bad_cases); do
		inside uapi-a vqpt bad "$case" "$@" >/dev/null
		count=$((count + 1))
	done
	((count > 50))
}
