# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/consumer.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

# NAME [PARAMETER=VALUE...]: load the consumer in that network namespace; it fails if the consumer does.
consume() {
	inside "$1" insmod "/vqp/build/kmod-$(uname -r)/consumer/vqp-consumer.ko" "${@:2}"
}

# CARRIER...: the numbers (enum vqp_carrier) of just those have carried its requests.
carried_by() {
	local carrier bits=0
	for carrier; do
		((bits |= 1 << carrier))
	done
	[[ $(</sys/module/vqp_consumer/parameters/carriers) == "$bits" ]]
}

# NAME COUNT: that namespace has so many VQPs.
has_vqps() {
	vqpctl ns list --json | jq -e --arg name "$1" --argjson count "$2" 'any(.[]; .name == $name and .vqps == $count)'
}

# NAME ADDRESS PORT: it writes and reads a region that a vqpt mem-server offers, of which more is in KEY and ADDR.
consume_region() {
	consume "$1" peer="$2" port="$3" count=0 key="$4" addr="$5"
}

stop_consumer() {
	[[ ! -e /sys/module/vqp_consumer ]] || rmmod vqp-consumer
}
