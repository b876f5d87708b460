# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/qos.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

rate() { vqpctl ns set --netns "$1" --max-rate "$2"; }
priority() { vqpctl ns set --netns "$1" --priority "$2"; }

# NAME...: these are to have neither again.
unlimited() {
	local name
	for name; do
		vqpctl ns set --netns "$name" --max-rate unlimited --priority normal
	done
}

now_us() { echo "${EPOCHREALTIME/[.,]/}"; }

# NAME: what each of its VQPs has sent, as [[NUMBER, MESSAGES], ...]
shares_of() {
	local gid
	gid=$(vqpctl ns list --json | jq -er --arg name "$1" '.[] | select(.name == $name).gid')
	vqpctl vqps --json | jq -ec --arg gid "$gid" 'map(select(.gid == $gid and .state == "connected") | [.qp_num, .tx_msgs])'
}

# NAME SECONDS: what each has sent in so long, as [MESSAGES, ...]
sent_in() {
	local before
	before=$(shares_of "$1")
	sleep "$2"
	shares_of "$1" | jq -c --argjson before "$before" '[., $before] | transpose | map(.[0][1] - .[1][1])'
}

# NAME SECONDS FILTER: what they have sent in one of three such times passes the filter; one that stood still when
# the node did has less in another.
shares_pass() {
	local shares tries
	for ((tries = 0; tries < 3; tries++)); do
		shares=$(sent_in "$1" "$2")
		echo "$shares"
		! jq -e "$3" <<<"$shares" || return 0
	done
	return 1
}

# NAME: messages of all of them
sent_by() { shares_of "$1" | jq 'map(.[1]) | add'; }

# NAME RATE BYTES DEPTH: for four seconds its VQPs complete no more messages of BYTES than RATE allows,
# of which they have DEPTH under way, and no less than half as many unless the node stands still.
keeps_rate() {
	local begin before after end bytes tries
	for ((tries = 0; tries < 10; tries++)); do
		begin=$(now_us) before=$(sent_by "$1")
		sleep 4
		after=$(sent_by "$1") end=$(now_us)
		bytes=$(((after - before) * $3))
		echo "$bytes bytes in $((end - begin)) us"
		# what was sent before and acknowledged now, a burst, and one packet or chunk
		((bytes <= $2 * (end - begin) / 1000000 + $4 * $3 + 65536 + 65536)) || return 1
		((bytes < $2 * 4 / 2 - $4 * $3)) || return 0
	done
	return 1
}

# NAME RATE BYTES: in a second its VQPs complete more than that
faster_than() {
	local before
	before=$(sent_by "$1")
	sleep 1
	((($(sent_by "$1") - before) * $3 > $2))
}

# In a second. The kernels' own questions, when a link begins or ends, are of normal priority.
nobody_yields() {
	local yielded
	yielded=$(events yielded)
	sleep 1
	(($(events yielded) == yielded))
}

messages_keep_the_rate() {
	rate qos-a 200K
	begin=$(now_us)
	inside qos-a vqpt send 10.96.0.3 700 --bytes=20000 --count=40
	# what it may send at once, and 40 messages of 20,000 bytes
	(($(now_us) - begin >= (40 * 20000 - 65536 - 20000) * 1000000 / 204800))
}
