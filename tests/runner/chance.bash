# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Emulated nodes on a busy machine are late at times, and a test fails which would pass. In CI (the environment has
# CI) such a test is tried once more, on nodes that were booted anew; if it passes then, it has passed and is called
# flaky. What no lateness explains is no chance, and what a suite leaves behind is not either.
#
# flaky, flakes   how many of those that passed did so at the second try; of each its name, and in a second line where
#                 what it said at the first is kept

flaky=0
flakes=()

# What is no chance, as those who see it say it.
hard_faults=(
	'the kernel of [^ ]+ complains:'		# kernel_log_check, tests/lib/testbed.bash
	'node [0-9]+ is (dead|not answering)'		# testbed/testbed
	'unreferenced object|lockdep has given up'	# leak-check, on the nodes
	'(Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer'
	'runtime error: '				# UBSan
	'WRONG: '					# tests/programs/vqpt, tests/programs/soak, bench: bytes, order, what came twice
	'Segmentation fault|stack smashing detected'
)

# is_hard_fault TEXT: it has a sign of one
is_hard_fault()
{
	local pattern
	for pattern in "${hard_faults[@]}"; do
		[[ ! $1 =~ $pattern ]] || return 0
	done
	return 1
}

# has_second_try SUITE: real machines are not late, and are not booted anew
has_second_try()
{
	[[ ${CI-} && ! ${HOSTS-} ]] && { tagged "$1" nodes || tagged "$1" own-nodes; }
}

# evidence_of SUITE NUMBER: what tells why a test failed at the first try. One without a result says nothing itself,
# and those of a suite that boots nodes for all of them say it together.
evidence_of()
{
	local i
	if [[ ${result["1 $2"]-} ]] && ! tagged "$1" own-nodes; then
		printf '%s' "${said["1 $2"]-}"
		return
	fi
	for i in setup $(seq "$planned") teardown; do
		printf '%s' "${said["1 $i"]-}"
	done
}

# find_chances SUITE: the numbers of the tests that may have failed by chance go to the array `chances`
find_chances()
{
	local i
	chances=()
	for ((i = 1; i <= planned; i++)); do
		if [[ ${result["1 $i"]-failed} == failed ]] && ! is_hard_fault "$(evidence_of "$1" "$i")"; then
			chances+=("$i")
		fi
	done
}

# test_names SUITE: as its file has them, a line each
test_names()
{
	sed -nE '/^[[:blank:]]*@test[[:blank:]]/{ s///; s/^(.*[^[:blank:]])[[:blank:]]+\{.*$/\1/; s/^["'\'']//; s/["'\'']$//; p }' \
		"${file_of[$1]}"
}

# filter_of SUITE NUMBER...: a pattern for bats that takes these tests and no others
filter_of()
{
	local all names=() i
	mapfile -t all < <(test_names "$1" | sed 's/[][\.*^$+?(){}|]/\\&/g')
	for i in "${@:2}"; do
		names+=("${all[i - 1]}")
	done
	(IFS='|'; echo "^(${names[*]})\$")
}

# settle_chance NUMBER SECOND: a test had another try, as the one of that number
settle_chance()
{
	local i=$1 log
	if [[ ! ${result["1 $i"]-} && ${result["2 $2"]-} == skip ]]; then
		# It was not run at the first try, and there is no reason to run it here.
		result["1 $i"]=skip
		return
	elif [[ ${result["2 $2"]-} != ok ]]; then
		said["1 $i"]+=$'# the second try:\n'${said["2 $2"]-${said["2 setup"]-# no result}}
		return
	fi
	log=build/flaky/${label//[!a-z0-9.]/-}-$i.log
	log=${log//--/-}
	((++flaky))
	flakes+=("$label: $i ${name["2 $2"]% in *ms}"$'\n'"$log")
	mkdir -p "$top/build/flaky"
	{
		printf '%s: %s\n' "$label" "$i ${name["1 $i"]-gave no result}"
		evidence_of "$suite" "$i"
		printf '\n%s' "$consoles"
	} >"$top/$log"
	result["1 $i"]=flaky
}

# node_consoles: how the nodes' consoles end
node_consoles()
{
	local node
	for node in "${nodes[@]}"; do
		echo "the console of node $node ends with:"
		"$testbed" console "$node" | tail -n 60
	done 2>/dev/null
}

# run_again SUITE NUMBER...: these tests
run_again()
{
	local try=2 planned status
	run_bats "$1" --filter "$(filter_of "$@")"
	[[ ! ${result["2 teardown"]-} ]] || fail "$label: teardown_file failed" "${said["2 teardown"]-}"
}

# second_try PLACE SUITE: for those that may have failed by chance
second_try()
{
	local place=$1 suite=$2 chances consoles='' i
	find_chances "$suite"
	((${#chances[@]} > 0)) || return 0
	echo "$label: once more: ${chances[*]}"
	if [[ $place != here ]]; then
		consoles=$(node_consoles)
		boot "$place" "$suite" || { nodes_state=spent; return 0; }
		nodes_state=usable
	fi
	run_again "$suite" "${chances[@]}"
	[[ $place == here ]] || close_nodes "$place" || nodes_state=spent
	for i in "${!chances[@]}"; do
		settle_chance "${chances[i]}" $((i + 1))
	done
}
