# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Who has a turn when. There are lanes, two at most, since nodes wait more than they work; each has nodes of its own,
# which stay up for the next turn with the same kernel.
#
# queue        PLACE SUITE of each turn that is to come
# place_of     by lane: the place of its last turn
# booted       by lane: whose nodes are up there
# kept         by lane: whose were up there before the turn that is under way
# turn_in      by lane: NUMBER PLACE SUITE of the turn that is under way
# lane_of      by process: the lane of its turn

queue=()
declare -a place_of=() booted=() kept=() turn_in=()
declare -A lane_of=()
turns=0

# on_lane LANE COMMAND...: with its testbed
on_lane()
{
	VQP_TESTBED=$VQP_TESTBED-$1 "${@:2}"
}

# down LANE
down()
{
	local place=${booted[$1]-}
	booted[$1]=
	[[ ! $place ]] || on_lane "$1" "$testbed" down || {
		record=$(record_of $((++turns)))
		lost "$place" nodes "not all of them was taken down"
	}
}

# choose LANE: where in the queue is who is next there: somebody at the same place, else at a place where no other lane
# is, else the first
choose()
{
	local i place others=' '
	for i in "${!turn_in[@]}"; do
		read -r _ place _ <<<"${turn_in[i]}"
		others+="$place "
	done
	for i in "${!queue[@]}"; do
		[[ ${queue[i]%% *} != "${place_of[$1]-}" ]] || { echo "$i"; return; }
	done
	for i in "${!queue[@]}"; do
		[[ $others == *" ${queue[i]%% *} "* ]] || { echo "$i"; return; }
	done
	for i in "${!queue[@]}"; do
		echo "$i"
		return
	done
}

# record_of NUMBER: the file for what comes of that turn
record_of()
{
	printf '%s/%03d.json' "$run" "$1"
}

# next_turn LANE: if there is one
next_turn()
{
	local lane=$1 i place suite
	i=$(choose "$lane")
	if [[ ! $i ]]; then
		down "$lane"
		return
	fi
	read -r place suite <<<"${queue[i]}"
	unset 'queue[i]'
	[[ $place == "${booted[lane]-}" ]] || down "$lane"
	place_of[lane]=$place
	turn_in[lane]="$((++turns)) $place $suite"
	# a process group, which can be ended as a whole
	set -m
	record=$(record_of "$turns") on_lane "$lane" run_turn "$place" "$suite" "${booted[lane]-}" </dev/null &
	set +m
	lane_of[$!]=$lane
	kept[lane]=${booted[lane]-}
	# if this ends before the turn does, there may be nodes
	[[ $place == here ]] || booted[lane]=$place
}

# end_turn LANE: what came of it counts, and if nothing did, that does
end_turn()
{
	local lane=$1 number place suite record state
	read -r number place suite <<<"${turn_in[lane]}"
	unset 'turn_in[lane]'
	record=$(record_of "$number")
	state=$(cat "$record.nodes" 2>/dev/null) || {
		lost "$place" "$suite" "its turn did not end"
		state=spent
	}
	case $state in
	untouched) booted[lane]=${kept[lane]} ;;
	spent) down "$lane" ;;
	absent)
		down "$lane"
		strike "$place"
		;;
	esac
	write_last_run false
}

# lost PLACE SUITE WHY: a turn that is a failure as a whole
lost()
{
	local passed=0 failed=0 skipped=0 flaky=0 failures=() flakes=()
	fail "$([[ $1 == here ]] || echo "$1: ")$2: $3"
	write_record "$1" "$2" 0
}

# strike PLACE: there is no way to have the turns there that are to come
strike()
{
	local i place suite record
	for i in "${!queue[@]}"; do
		read -r place suite <<<"${queue[i]}"
		[[ $place == "$1" ]] || continue
		unset 'queue[i]'
		record=$(record_of $((++turns)))
		lost "$place" "$suite" "was not run"
	done
}

# take_turns LANES: all of the queue
take_turns()
{
	local lane process
	for ((lane = 1; lane <= $1; lane++)); do
		next_turn "$lane"
	done
	while ((${#lane_of[@]} > 0)); do
		process=
		wait -n -p process "${!lane_of[@]}"
		[[ $process ]] || continue
		lane=${lane_of[$process]}
		unset "lane_of[$process]"
		end_turn "$lane"
		next_turn "$lane"
	done
}

# end_turns: at once; their nodes go, too
end_turns()
{
	local lane process
	for process in "${!lane_of[@]}"; do
		kill -- "-$process"
		wait "$process"
	done 2>/dev/null
	for lane in "${!booted[@]}"; do
		down "$lane"
	done
}
