# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Which suites there are, what they are like, and where a run has them. A suite is tests/*/SUITE.bats, whose tags, in
# bats' own line "# bats file_tags=", say what it is like, or one of the plain ones below.
#
# nodes         runs on a testbed of two nodes that is up; others run on this machine
# virtual       needs nodes that are virtual, and has no turn on real machines
# systemd       has nodes of its own whose init is systemd
# strings       has nodes of its own whose processors copy by string instructions
# four          has four nodes of its own
# apps          has nodes of its own with the disk of tests/sock/apps-root
# own-nodes     runs on this machine, and boots nodes itself
# heart         is in `make test`
# 6-1, newest, debug
#               `make test-all` has it on that kernel, too; others on the main one alone. bats takes no dot in a tag.
# debug-only    is no test of any other kernel
# long          has a target of its own, and is in neither
# budget:N      should take N seconds at most, beside another suite; four times as many on the debug kernel

main_kernel=6.12
# In this order, as far as nobody is there. The debug kernel comes last: on a new machine it has to be compiled first,
# for which there may be no time left.
places=(6.12 here newest 6.1 debug)

# Some faults show with one processor, others with two.
declare -A cpus=([6.1]=1 [6.12]=2 [newest]=2 [debug]=2)

# With HOSTS that is where all suites run that run on nodes, as on the main kernel; nothing else does.
[[ ! ${HOSTS-} ]] || main_kernel=hosts places=(hosts)

plain_suites=(static unit fuzz analysis)
declare -A tags=(
	[static]='heart budget:90'
	[unit]='heart budget:90'
	[fuzz]='heart budget:120'
	[analysis]='budget:240'
)
declare -A file_of=()

# read_suites: the names of all go to the array `all_suites`, their tags to `tags`, their files to `file_of`. A name
# stands for one suite, whatever folder its file is in; fails and says so if it does not.
read_suites()
{
	local file suite
	all_suites=("${plain_suites[@]}")
	for file in "$tests"/*/*.bats; do
		[[ -e $file ]] || continue
		suite=${file##*/} suite=${suite%.bats}
		if [[ ${tags[$suite]+known} ]]; then
			echo "tests/run: two suites are named $suite: ${file_of[$suite]-a plain one} and $file" >&2
			return 1
		fi
		all_suites+=("$suite")
		file_of[$suite]=$file
		tags[$suite]=$(sed -n '/^# bats file_tags=/{ s///; s/,/ /g; p }' "$file")
	done
}

# tagged SUITE TAG
tagged()
{
	[[ " ${tags[$1]} " == *" $2 "* ]]
}

# shares_nodes SUITE: its nodes are as others expect them
shares_nodes()
{
	! tagged "$1" systemd && ! tagged "$1" strings && ! tagged "$1" four && ! tagged "$1" apps
}

# budget_of PLACE SUITE: in seconds, or "null"
budget_of()
{
	local slowness=1
	[[ $1 != debug ]] || slowness=4
	if [[ " ${tags[$2]-} " =~ " budget:"([0-9]+)" " ]]; then
		echo $((BASH_REMATCH[1] * slowness))
	else
		echo null
	fi
}

# home_of SUITE: where it runs if it runs once
home_of()
{
	tagged "$1" nodes && echo "$main_kernel" || echo here
}

# fits PLACE SUITE: it can be there
fits()
{
	[[ $1 != hosts ]] || ! tagged "$2" virtual
}

in_heart()
{
	fits "$@" && tagged "$2" heart && [[ $1 == "$(home_of "$2")" ]]
}

in_all()
{
	! tagged "$2" long && fits "$@" || return
	case $1 in
	"$(home_of "$2")") ! tagged "$2" debug-only ;;
	here) false ;;
	*) tagged "$2" "${1/./-}" ;;
	esac
}

# what `make test-all` has and `make test` has not, so that both together have each exactly once
in_rest()
{
	in_all "$@" && ! in_heart "$@"
}

# turns_of heart|rest|all: a line "PLACE SUITE" for each; of one place the longest first, so that no long one is
# left alone at the end
turns_of()
{
	local place suite
	for place in "${places[@]}"; do
		for suite in "${all_suites[@]}"; do
			! "in_$1" "$place" "$suite" || echo "$(budget_of "$place" "$suite") $place $suite"
		done | sort -s -rn -k 1,1
	done | cut -d ' ' -f 2-
}
