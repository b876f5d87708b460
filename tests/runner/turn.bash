# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# A turn: one suite in its place, on this machine ("here"), on nodes with a kernel, or on real machines
# ("hosts"). It runs in a shell of its own.
#
# label          stands before each line that is shown: SUITE, or KERNEL: SUITE
# nodes_state    what there is for the next suite: usable nodes, spent ones, those that were there before (untouched),
#                or absent ones, which could not be had

nodes_state=untouched

# run_bats SUITE [OPTION...]: it may take half an hour, on the debug kernel two, or SUITE_TIMEOUT seconds
run_bats()
{
	local limit=1800
	[[ $label != debug[:\ ]* ]] || limit=7200
	read_from tap timeout -k 10 "${SUITE_TIMEOUT-$limit}" \
		bats --formatter tap --timing "${@:2}" "${file_of[$1]}"
}

# build_debug: the kernel, and the module for it. To compile is what the processors do while another turn's nodes wait.
build_debug()
{
	local start=$SECONDS label=debug
	read_from plain env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
		flock "$top/build/kmod-debug.lock" make --no-print-directory -C "$top" kmod-debug
	echo "debug: kernel and module in $((SECONDS - start)) s"
	((status == 0))
}

# too_late PLACE SUITE: the turn would not be over when CI has to be, at the second VQP_CI_ENDS of the epoch
too_late()
{
	local takes
	[[ ${VQP_CI_ENDS-} ]] || return
	takes=$(budget_of "$1" "$2")
	[[ $takes != null ]] || takes=0
	# the debug kernel is compiled in a quarter of an hour, on a quick machine
	[[ $1 != debug ]] || "$testbed" kernels --cached debug >/dev/null 2>&1 || ((takes += 900))
	((EPOCHSECONDS + takes > VQP_CI_ENDS))
}

# boot PLACE SUITE: fresh nodes. What the kernel said meanwhile is no test's fault.
boot()
{
	local what=(--kernel "$1" --image "$image" --cpus "${cpus[$1]-}")
	! tagged "$2" systemd || what+=(--init systemd)
	! tagged "$2" four || what+=(--nodes 4)
	! tagged "$2" strings || what+=(--copies strings)
	! tagged "$2" apps || what+=(--disk "$("$tests/sock/apps-root")")
	[[ $1 != hosts ]] || what=(--hosts "$HOSTS")
	if [[ $1 == debug ]] && ! build_debug; then
		fail "$label: no kernel"
	elif ! "$testbed" up "${what[@]}"; then
		fail "$label: no testbed"
	else
		find_nodes
		on_each kernel-log >/dev/null || true
		return 0
	fi
	# of its own nodes that says nothing of others
	shares_nodes "$2" && nodes_state=absent || nodes_state=spent
	return 1
}

# close_nodes PLACE: fails if the nodes are no basis for the next suite
close_nodes()
{
	if ! "$testbed" status >/dev/null; then
		fail "$label: a node died"
	elif ! "$testbed" fault off; then
		fail "$label: faults do not end"
	elif ! { vqp_down && kernel_log_check; }; then
		fail "$label: the module does not unload afterwards"
	elif [[ $1 == debug ]] && ! { on_each leak-check && kernel_log_check; }; then
		fail "$label: memory has leaked, or lockdep has given up"
	else
		return 0
	fi
	return 1
}

# close_suite PLACE
close_suite()
{
	local start=$SECONDS
	if close_nodes "$1"; then
		((++passed))
		echo "$label: ok - the module unloads afterwards in $((SECONDS - start))s"
	else
		nodes_state=spent
	fi
}

run_unit()
{
	local entry before label
	for entry in tests/unit:run tests/programs/soak:check runtime-lib:check common:check node:check libcni:check oci-hook:check preload:check; do
		label="unit: ${entry%:*}"
		before=$failed
		read_from cmocka make --no-print-directory -C "$top/${entry%:*}" "${entry#*:}"
		((failed > before)) || check_status
	done
}

run_plain()
{
	case $1 in
	unit) run_unit ;;
	fuzz)
		read_from tap make --no-print-directory --silent -C "$top/tests/fuzz" check
		count_tap
		;;
	static | analysis)
		read_from checks "$tests/check" "--$([[ $1 == static ]] && echo quick || echo slow)"
		((failed > 0)) || check_status
		;;
	esac
}

# run_suite PLACE SUITE: sets `seconds`, without what a second try takes
run_suite()
{
	local start=$SECONDS
	run_bats "$2"
	[[ $1 == here ]] || close_suite "$1"
	seconds=$((SECONDS - start))
	! has_second_try "$2" || second_try "$1" "$2"
	count_tap
}

# run_turn PLACE SUITE BOOTED: those are the nodes that are there; writes to the file $record what came of it
run_turn()
{
	local place=$1 suite=$2 booted=$3 start=$SECONDS seconds='' label=$2
	trap 'end_command; exit 143' TERM
	[[ $place == here ]] || label="$place: $suite"
	[[ $place == here || $image == bookworm ]] || label="$place $image: $suite"
	if [[ " ${plain_suites[*]} " == *" $suite "* ]]; then
		run_plain "$suite"
	elif [[ $place != debug ]] && tagged "$suite" debug-only; then
		echo "$label: skipped, it needs the debug kernel"
		((++skipped))
	elif too_late "$place" "$suite"; then
		echo "$label: skipped, CI has no time left for it"
		((++skipped))
	elif ! fits "$place" "$suite"; then
		echo "$label: skipped, it needs virtual nodes"
		((++skipped))
	elif [[ $place == here ]]; then
		run_suite "$place" "$suite"
	elif [[ $place == "$booted" ]] && shares_nodes "$suite" || boot "$place" "$suite"; then
		nodes_state=usable
		run_suite "$place" "$suite"
		shares_nodes "$suite" || nodes_state=spent
	fi
	write_record "$place" "$suite" "${seconds:-$((SECONDS - start))}"
	echo "$nodes_state" >"$record.nodes"
}
