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

# NAME: while its VQPs wait for their turns, nothing looks time and again whether they can go on.
waits_quietly() {
	local before sent looks
	before=$(sent_by "$1")
	begin_probes 'p:vqp_test/look vqp_send_resume'
	sleep 3
	end_probes
	sent=$(($(sent_by "$1") - before))
	looks=$(awk '$1 == "look" { print $2 }' /run/vqp/hits)
	echo "$looks looks for $sent messages"
	((sent && looks <= 20 * sent + 200))
}

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

# ---- What follows has memory to write to and read from as its arguments: ADDRESS PORT KEY ADDR, of the other node
# and, in four more words, of this one. ----

vqps_share_the_rate() {
	rate qos-a 1M
	for _ in 1 2 3; do serve qos-a flood write "$@" --bytes=16K --depth=8; done
	keeps_rate qos-a 1048576 16384 24
	# shellcheck disable=SC2016 # jq's variable
	shares_pass qos-a 6 'add as $all | length == 3 and all(. * 3 > $all * 0.6)'
}

carriers_share_the_rate() {
	rate qos-a 1M
	serve qos-a flood write "${@:1:4}" --bytes=16K --depth=4
	serve qos-a flood write "${@:5}" --bytes=16K --depth=4
	keeps_rate qos-a 1048576 16384 8
	eventually two_have_sent
}

two_have_sent() { shares_of qos-a | jq -e 'length == 2 and all(.[1] > 20)'; }

# On one node a message is sent as a whole.
lengths_share_the_rate() {
	serve qos-a flood write "${@:5}" --bytes=1M --depth=2
	serve qos-a flood write "${@:1:4}" --bytes=4K --depth=16
	rate qos-a 1M
	sleep 1
	shares_pass qos-a 9 'min >= 1 and max * 4096 >= (min - 1) * 1048576 / 4'
}

rate_changes() {
	rate qos-a 64K
	serve qos-a flood write "$@" --bytes=16K --depth=4
	keeps_rate qos-a 65536 16384 4
	rate qos-a 1M
	keeps_rate qos-a 1048576 16384 4
	rate qos-a unlimited
	eventually faster_than qos-a 2097152 16384
}

# Each of the flows waits longer than giveup_ms allows a flow to be without progress.
held_back_and_not_failed() {
	local stale resent tries
	rate qos-a 64K
	stale=$(events stale)
	# a node that stands still has everything sent to it again
	for ((tries = 0; tries < 5; tries++)); do
		resent=$(events resent)
		twelve_write "$@"
		resent=$(($(events resent) - resent))
		echo "$resent sent again"
		((resent >= 12)) || break
	done
	((resent < 12))
	(($(events stale) == stale))
}

twelve_write() {
	local i pids=()
	for i in {1..12}; do
		inside qos-a vqpt write "$1" "$2" "$3" $(($4 + (i << 16))) --bytes=64K &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
}

rates_are_apart() {
	rate qos-a 64K
	serve qos-a flood write "$@" --bytes=16K --depth=8
	serve qos-b flood write "$@" --bytes=16K --depth=8
	eventually faster_than qos-b 1048576 16384
	keeps_rate qos-a 65536 16384 8
}

killed_while_held_back() {
	local before throttled pids=()
	before=$(census)
	for _ in 1 2 3; do
		serve qos-a flood write "${@:1:4}" --bytes=64K --depth=8
		pids+=("$pid")
		serve qos-a flood write "${@:5}" --bytes=64K --depth=8
		pids+=("$pid")
	done
	rate qos-a 64K
	throttled=$(events throttled)
	eventually more_than throttled "$throttled"
	kill -9 "${pids[@]}"
	eventually census_is "$before"
}

# COUNT PID: it is killed, and of its VQP's requests, which are so many or a few less, no more than 256 are completed each
# time that the VQP's lock is taken.
ends_in_pieces() {
	begin_probes 'p:vqp_test/piece vqp_send_abort'
	echo 1 >"$tracing/events/vqp/vqp_complete/enable"
	kill -9 "$2"
	eventually has_ended "$2"
	echo 0 >"$tracing/events/vqp/vqp_complete/enable"
	end_probes
	awk -v count="$1" -v pid="-$2$" '
		$1 ~ pid && / piece: / { n = 0; pieces++ }
		$1 ~ pid && / vqp_complete: / { all++; if (++n > most) most = n }
		END {
			print all + 0 " requests in " pieces + 0 " pieces, " most + 0 " at once"
			exit !(all >= count / 2 && most <= 256)
		}' /run/vqp/trace
}

deleted_while_held_back() {
	local before far near
	before=$(census)
	box qos-d 12 10.96.0.4
	serve qos-d flood write "${@:1:4}" --bytes=64K --depth=8
	far=$pid
	serve qos-d flood write "${@:5}" --bytes=64K --depth=8
	near=$pid
	rate qos-d 64K
	vqpctl ns del --tenant 12 --address 10.96.0.4
	eventually has_ended "$far"
	eventually has_ended "$near"
	ip netns del qos-d
	eventually census_is "$before"
}

has_ended() { ! kill -0 "$1"; }

low_ones_yield_and_go_on() {
	local yielded sent
	priority qos-a low
	priority qos-b high
	for _ in 1 2 3 4; do serve qos-a flood write "$@" --bytes=64K --depth=8; done
	eventually nobody_yields
	yielded=$(events yielded) sent=$(sent_by qos-a)
	inside qos-b vqpt send 10.96.0.3 700 --count=300 --depth=1
	(($(events yielded) > yielded && $(sent_by qos-a) > sent))
	eventually nobody_yields
	eventually sends_more qos-a "$(sent_by qos-a)"
}

# NAME MESSAGES: its VQPs have sent more than that.
sends_more() { (($(sent_by "$1") > $2)); }

equals_do_not_yield() {
	local yielded
	yielded=$(events yielded)
	serve qos-a flood write "$@" --bytes=64K --depth=8
	serve qos-b flood read "$@" --bytes=64K --depth=8
	sleep 2
	(($(events yielded) == yielded))
}

what_yields_is_whole() {
	local yielded
	yielded=$(events yielded)
	priority qos-a low
	serve qos-b flood read "$@" --bytes=64 --depth=1
	inside qos-a vqpt send 10.96.0.3 700 --bytes=50000 --count=30 --depth=4
	inside qos-a vqpt read "$@" --bytes=500000 --count=2
	(($(events yielded) > yielded))
}

# The host's memory on the other node comes before that of the function there.
the_host_does_not_yield() {
	priority qos-b high
	serve qos-b flood write "${@:5:4}" --bytes=64 --depth=1
	eval "$(vqpt --background flood write "${@:1:4}" --bytes=64K --depth=8)"
	nobody_yields
	eventually host_sends_more "$(sent_by_host)"
}

sent_by_host() { vqpctl vqps --json | jq '[.[] | select(.tenant == 0 and .remote_port == 703).tx_msgs] | add // 0'; }
host_sends_more() { (($(sent_by_host) > $1)); }

priority_changes() {
	serve qos-b flood write "$@" --bytes=64 --depth=1
	serve qos-a flood write "$@" --bytes=64K --depth=8
	nobody_yields
	priority qos-a low
	eventually more_than yielded "$(events yielded)"
	priority qos-a normal
	sleep 1
	nobody_yields
}
