# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/lies.bats does on a node, beside tests/kernel/rc.bash.

# shellcheck source=tests/kernel/rc.bash
source /vqp/tests/kernel/rc.bash

liar=/sys/module/vqp_liar/parameters

# LIE=Y|N...: whether they are told
lies() {
	local lie
	for lie; do
		echo "${lie#*=}" >"$liar/${lie%=*}"
	done
}

# ud|rc: such QPs of the kernel's fail.
fail_qps() { echo "$1" >"$liar/fail_qps"; }

# SECONDS: the link that comes is there as long, and carries requests.
stays_up() {
	local failures begun
	eventually more_than rc_requests 0
	failures=$(events rc_failures)
	sleep "$1"
	begun=$(events rc_requests)
	eventually more_than rc_requests "$begun"
	(($(events rc_failures) == failures))
}
