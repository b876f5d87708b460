# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/lookups.bats does on a node. Sourced there.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

# MOST COMMAND...: while it runs, the kernel looks addresses up no more often.
looks_up_at_most() {
	local before lookups
	before=$(events lookups)
	"${@:2}"
	lookups=$(($(events lookups) - before))
	echo "$lookups lookups"
	((lookups <= $1))
}

# In the trace there are lookups, and no two of one address were under way at a time.
looked_up_once_at_a_time() {
	awk '
		match($0, /[0-9]+[.][0-9]+: vqp_lookup: /) {
			ended = substr($0, RSTART) + 0
			address = $(NF - 3) " " $(NF - 2); took = substr($NF, 9) / 1e6
			lookups++; addresses += !(address in until)
			twice += ended - took + 0.00001 < until[address]
			until[address] = ended
		}
		END {
			print lookups + 0 " lookups of " addresses + 0 " addresses, " twice + 0 " while another was under way"
			exit !lookups || twice
		}' /run/vqp/trace
}

# COUNT NAME ADDRESS: so many processes there connect to it at a time, in vain.
asks_at_once() {
	local i
	for ((i = 0; i < $1; i++)); do
		inside "$2" vqpt send "$3" 700 >/dev/null 2>&1 &
	done
	wait
}

# NAME: the meta server answers those there who ask for what nobody has.
is_answered() { [[ $(inside "$1" vqpt send 10.98.9.9 700 2>&1) == *EHOSTUNREACH* ]]; }

# How many processes wait in a connect.
askers() {
	local pid count=0
	for pid in $(pgrep -x vqpt); do
		! grep -qs '\<vqp_connect' "/proc/$pid/stack" || ((++count))
	done
	echo "$count"
}

askers_are() { (($(askers) == $1)); }

# COUNT NAME ADDRESS...: a process for each address there asks for it. All of them wait, and that many lookups begin.
begin() {
	local lookups asking address
	lookups=$(events lookups) asking=$(askers)
	for address in "${@:3}"; do
		setsid -f ip netns exec "$2" vqpt send "$address" 700 >/dev/null 2>&1 </dev/null
	done
	eventually askers_are $((asking + $# - 2))
	eventually more_than lookups $((lookups + $1 - 1))
	echo "$(($(events lookups) - lookups)) lookups"
	(($(events lookups) == lookups + $1))
	# none has been answered meanwhile, which would have let others begin
	askers_are $((asking + $# - 2))
}

# NAME: one process after the other there asks for addresses that nobody has, until stop_all.
asks_for_many() {
	touch /run/vqp/asking
	setsid -f ip netns exec "$1" bash -c 'for i in {1..200}; do
		[[ ! -e /run/vqp/asking ]] || vqpt send "10.98.0.$i" 700
	done' >/dev/null 2>&1 </dev/null
}

# NAME ADDRESS PORT COUNT [BYTES]: that many VQPs of one process there are connected, and wait for the server to receive
# what they send.
storm() {
	setsid -f ip netns exec "$1" vqpt storm "$2" "$3" --count="$4" --depth="$4" --bytes="${5-64}" >/dev/null 2>&1 </dev/null
	within 280 all_send "$4"
}

# The server has receives for some of the messages.
all_send() {
	vqpctl vqps --json | jq -e --argjson count "$1" \
		'map(select(.state == "connected" and .sends_pending + .tx_msgs > 0)) | length >= $count'
}

# NAME COUNT: it has a storm of so many VQPs, which its rate held back until their target and the meta server fell silent.
# When all of them want to have the target looked up, the storm is killed. The lookup under way ends with that, and not
# because the meta server has been silent for so long; and hardly any VQP begins to wait for another.
storm_ends_without_lookups() {
	local moved
	begin_probes 'p:vqp_test/want vqp_movers_queue' 'p:vqp_test/move vqp_meta_route'
	# times that the module takes by the same clock
	echo mono >"$tracing/trace_clock"
	echo 1 >"$tracing/events/vqp/vqp_lookup/enable"
	vqpctl ns set --netns "$1" --max-rate unlimited
	within 120 hits_are want "$2"
	moved=$(hits move)
	storm_ends_within 60
	moved=$(($(hits move) - moved))
	echo 0 >"$tracing/events/vqp/vqp_lookup/enable"
	end_probes
	echo local >"$tracing/trace_clock"
	echo "$moved lookups were wanted meanwhile"
	((moved <= 100)) && grep ' vqp_lookup: .* ret=-4 ' /run/vqp/trace && looked_up_once_at_a_time
}

# NAME ADDRESS PORT: VQPs that end there are gone while those of the storm still wait.
end_beside_storm() {
	local before
	before=$(alive vqp)
	no_more() { (($(alive vqp) <= before)); }
	inside "$1" vqpt cycle "$2" "$3" --count=20
	eventually no_more
	pgrep -f 'vqpt storm'
}

# SECONDS: the storm is killed, and its process gone by then.
storm_ends_within() {
	local begin=${EPOCHREALTIME/[.,]/} took
	pkill -9 -x vqpt
	within "$1" eval '! pgrep -x vqpt'
	took=$((${EPOCHREALTIME/[.,]/} - begin))
	echo "gone after $((took / 1000)) ms"
	((took <= $1 * 1000000))
}
