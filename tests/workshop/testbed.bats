#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,virtual,long,budget:120
# The testbed itself: what the other suites rely on.
# On one kernel: it is the same for each.
# shellcheck disable=SC2016 # expanded on the nodes

bats_require_minimum_version 1.5.0
load ../lib/testbed

second=$VQP_TESTBED-second

teardown_file()
{
	"$testbed" --name "$second" down
}

# The clocks of node and host, read in turns: what must have gone by on a node, at least and at most.
@test "time goes as fast on the nodes as here" {
	local node before between begin end at_least at_most
	for node in "${nodes[@]}"; do
		before=$(date +%s%N)
		begin=$(node "$node" cut -d' ' -f1 /proc/uptime)
		between=$(date +%s%N)
		sleep 5
		at_least=$(($(date +%s%N) - between))
		end=$(node "$node" cut -d' ' -f1 /proc/uptime)
		at_most=$(($(date +%s%N) - before))
		awk -v begin="$begin" -v end="$end" -v least="$at_least" -v most="$at_most" 'BEGIN {
			took = end - begin
			printf "%.2f s; %.2f to %.2f here\n", took, least / 1e9, most / 1e9
			exit took < least / 1e9 * 0.99 - 0.02 || took > most / 1e9 * 1.01 + 0.02
		}'
	done
}

# ---- exec ----

@test "exec: the exit status passes through" {
	run node 1 sh -c 'exit 7'
	[ "$status" -eq 7 ]
}

@test "exec: output and error output stay apart" {
	run --separate-stderr node 1 sh -c 'echo out; echo err >&2'
	[ "$output" = out ]
	[ "$stderr" = err ]
}

@test "exec: input and output are binary" {
	head -c 2000000 /dev/urandom >"$BATS_TEST_TMPDIR/random"
	# shellcheck disable=SC2094 # both read it
	node 2 cat <"$BATS_TEST_TMPDIR/random" | cmp - "$BATS_TEST_TMPDIR/random"
}

@test "exec: arguments arrive as they are" {
	local arguments=('two words' "quo'te" '"$HOME"' '' $'new\nline' '*' '\n')
	[ "$(node 1 printf '[%s]' "${arguments[@]}")" = "$(printf '[%s]' "${arguments[@]}")" ]
}

@test "exec: a command that takes too long is ended with 124" {
	run "$testbed" exec --timeout 1 1 sleep 100
	[ "$status" -eq 124 ]
	run node 1 pgrep -x sleep
	[ "$status" -eq 1 ]
}

@test "exec: a command that ignores its end is killed" {
	run "$testbed" exec --timeout 1 1 sh -c 'trap "" TERM; while :; do sleep 1; done'
	[ "$status" -eq 124 ]
}

@test "exec: twenty at once do not disturb one another" {
	local i status pids=()
	for i in {1..20}; do
		node $((i % 2 + 1)) sh -c "sleep 1; exit $i" &
		pids[i]=$!
	done
	for i in {1..20}; do
		status=0
		wait "${pids[i]}" || status=$?
		[ "$status" -eq "$i" ]
	done
}

@test "exec: a node that does not exist is the testbed's own failure" {
	run node 3 true
	[ "$status" -eq 125 ]
	[[ $output == *"no node 3"* ]]
}

# ---- cp and shares ----

@test "cp: a file goes there and back" {
	head -c 500000 /dev/urandom >"$BATS_TEST_TMPDIR/there"
	chmod 750 "$BATS_TEST_TMPDIR/there"
	"$testbed" cp "$BATS_TEST_TMPDIR/there" 1:/tmp/
	[ "$(node 1 stat -c %a /tmp/there)" = 750 ]
	"$testbed" cp 1:/tmp/there "$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/back"
}

@test "cp: a directory goes there and back" {
	mkdir -p "$BATS_TEST_TMPDIR/tree/below"
	echo text >"$BATS_TEST_TMPDIR/tree/below/file"
	"$testbed" cp "$BATS_TEST_TMPDIR/tree" 2:/tmp/
	"$testbed" cp 2:/tmp/tree "$BATS_TEST_TMPDIR/back"
	diff -r "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/back"
}

@test "cp: what is not there gives an error" {
	run "$testbed" cp 1:/nowhere "$BATS_TEST_TMPDIR/"
	[ "$status" -ne 0 ]
	run "$testbed" cp /nowhere "$BATS_TEST_TMPDIR/"
	[ "$status" -eq 125 ]
}

@test "/vqp is the source tree, read-only" {
	node 1 cmp /vqp/tests/workshop/testbed.bats - <"$tests/workshop/testbed.bats"
	run node 1 touch /vqp/new
	[ "$status" -ne 0 ]
}

@test "/share is one directory for all nodes" {
	node 1 sh -c 'echo from node1 >/share/message'
	[ "$(node 2 cat /share/message)" = "from node1" ]
}

# ---- the link and the RDMA device ----

@test "the nodes reach each other over IPv4 and IPv6" {
	node 1 ping -q -c 3 -i 0.2 10.77.0.2
	node 2 ping -q -c 3 -i 0.2 fd77::1
}

@test "the link carries frames of 9000 bytes" {
	node 1 ping -q -c 3 -i 0.2 -M 'do' -s 8972 10.77.0.2
}

@test "rxe0 is active, with 4096 bytes a packet and an IPv4 GID" {
	run node 1 ibv_devinfo -v -d rxe0
	[[ $output == *PORT_ACTIVE* ]]
	[[ $output =~ active_mtu:[[:space:]]+4096 ]]
	[[ $output == *"::ffff:10.77.0.1"* ]]
}

# perf TOOL OPTION...: run a test of perftest from node 2 to node 1, with the GID of IPv4
perf()
{
	local index
	index=$(node 1 sh -c 'grep -l 0000:0000:0000:0000:0000:ffff /sys/class/infiniband/rxe0/ports/1/gids/*')
	local options=("${@:2}" -d rxe0 -x "${index##*/}")
	node 1 sh -c 'setsid -f "$@" >/tmp/server.log 2>&1 </dev/null' sh timeout 60 "$1" "${options[@]}"
	node 1 sh -c 'for i in $(seq 100); do
		ss -Hltn sport = 18515 | grep -q . && exit; sleep 0.1; done; cat /tmp/server.log; exit 1'
	node 2 timeout 60 "$1" "${options[@]}" 10.77.0.1
}

@test "a UD message of 4096 bytes arrives" {
	perf ib_send_lat -c UD -s 4096 -n 100
}

@test "RC reads work" {
	perf ib_read_lat -s 8 -n 100
}

# ---- containers ----

@test "control groups are of version 2, with controllers to give away" {
	[ "$(node 1 stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]
	run node 1 cat /sys/fs/cgroup/cgroup.subtree_control
	[[ $output == *memory* && $output == *pids* && $output == *cpu* ]]
}

# The bundle /tmp/bundle has busybox, and a config.json that runs the given shell command.
bundle()
{
	node 1 bash -ec 'mkdir -p /tmp/bundle/rootfs/bin
		cp /bin/busybox /tmp/bundle/rootfs/bin/
		ln -sf busybox /tmp/bundle/rootfs/bin/sh
		ln -sf busybox /tmp/bundle/rootfs/bin/sleep
		cd /tmp/bundle
		rm -f config.json
		runc spec
		jq --arg command "$1" ".process.terminal = false | .process.args = [\"sh\", \"-c\", \$command]" \
			config.json >new
		mv new config.json' bash "$1"
}

@test "runc runs a container" {
	bundle 'echo inside; exit 5'
	run node 1 runc run --bundle /tmp/bundle one
	[ "$status" -eq 5 ]
	[ "$output" = inside ]
}

@test "crun runs a container" {
	bundle 'echo inside; exit 5'
	run node 1 crun run --bundle /tmp/bundle two
	[ "$status" -eq 5 ]
	[ "$output" = inside ]
}

@test "CRIU takes a container down and brings it back" {
	bundle 'while :; do sleep 1; done'
	node 1 bash -ec 'cd /tmp
		runc run -d --bundle /tmp/bundle three >/dev/null 2>&1 </dev/null
		runc checkpoint three
		runc restore -d --bundle /tmp/bundle three >/dev/null 2>&1 </dev/null
		[[ $(runc state three | jq -r .status) == running ]]
		runc delete --force three'
}

@test "podman runs a container" {
	bundle true
	node 1 bash -ec 'tar -C /tmp/bundle/rootfs -c . | podman import -q - busybox
		[[ $(podman run --rm --network none busybox /bin/busybox echo inside) == inside ]]'
}

@test "docker runs a container" {
	bundle true
	node 1 bash -ec 'setsid -f dockerd --iptables=false >/tmp/dockerd.log 2>&1 </dev/null
		for ((i = 0; i < 300; i++)); do docker info >/dev/null 2>&1 && break; sleep 0.1; done
		tar -C /tmp/bundle/rootfs -c . | docker import - busybox
		[[ $(docker run --rm --network none busybox /bin/busybox echo inside) == inside ]]
		kill $(cat /run/docker.pid)'
}

# ---- faults ----

@test "the kernel log check finds a complaint, once" {
	node 2 sh -c 'echo "<4>WARNING: this is a test" >/dev/kmsg'
	run kernel_log_check
	[ "$status" -ne 0 ]
	[[ $output == *"node2"*"WARNING: this is a test"* ]]
	run kernel_log_check
	[ "$status" -eq 0 ]
}

@test "the kernel log check finds what the kernel itself reports" {
	node 1 bash -ec 'for text; do
			echo "<4>$text" >/dev/kmsg
			if kernel-log; then
				echo "not found: $text"
				exit 1
			fi
		done' bash \
		'BUG: unable to handle page fault' 'WARNING: CPU: 0 PID: 1 at kernel/x.c' \
		'WARNING: possible recursive locking detected' 'unreferenced object 0xffff888' \
		'Oops: 0000 [#1] PREEMPT SMP' 'refcount_t: underflow; use-after-free.' \
		'general protection fault, probably for non-canonical address' \
		'BUG: KASAN: slab-out-of-bounds' 'UBSAN: shift-out-of-bounds in x.c' \
		'rcu: INFO: rcu_preempt self-detected stall on CPU' \
		'watchdog: BUG: soft lockup - CPU#0 stuck for 22s' \
		'INFO: task x:1 blocked for more than 120 seconds.' 'WARNING: suspicious RCU usage'
}

@test "the kernel log check lets ordinary lines pass" {
	node 1 sh -c 'echo "<6>vqp: parent rxe0 appeared" >/dev/kmsg'
	kernel_log_check
}

@test "the kernel log check knows what Linux 6.1 wrongly says of nf_tables, and of nothing else" {
	node 1 bash -ec 'for place in nf_tables_api.c nf_queue.c; do
			printf "<4>%s\n" "WARNING: suspicious RCU usage" "6.1 #1 Not tainted" ------- \
				"net/netfilter/$place:10 RCU-list traversed in non-reader section!!" >/dev/kmsg
			kernel-log >/tmp/found && status=0 || status=1
			[[ $place == nf_tables_api.c && $status == 0 ]] ||
				[[ $place == nf_queue.c && $status == 1 && $(</tmp/found) == *nf_queue.c* ]]
		done'
}

@test "the kernel log check knows what soft RoCE says of itself, and of nothing else" {
	# as 6.1 and 7.3 write it
	node 1 bash -ec 'for where in "CPU: 1 PID: 1 at drivers/infiniband/sw/rxe/FILE.c:827 rxe_completer+0x1/0x2 [rdma_rxe]" \
			"drivers/infiniband/sw/rxe/FILE.c:827 at rxe_completer+0x1/0x2 [rdma_rxe], CPU#1: swapper/1/0"; do
			for file in rxe_comp rxe_qp; do
				echo "<4>WARNING: ${where/FILE/$file}" >/dev/kmsg
				kernel-log >/tmp/found && status=0 || status=1
				[[ $file == rxe_comp && $status == 0 ]] ||
					[[ $file == rxe_qp && $status == 1 && $(</tmp/found) == *rxe_qp.c* ]]
			done
		done'
}

@test "an emulator that fails is started anew" {
	local fake=$BATS_TEST_TMPDIR/bin
	mkdir "$fake"
	cat >"$fake/qemu-system-x86_64" <<-END
		#!/bin/sh
		case "\$*" in
		*vqp-node-1*)
			[ -e $fake/failed ] || {
				: >$fake/failed
				echo "qemu-system-x86_64: file.c:1: function: Assertion 'x' failed." >&2
				exit 134
			}
		esac
		exec $(command -v qemu-system-x86_64) "\$@"
	END
	chmod +x "$fake/qemu-system-x86_64"
	PATH=$fake:$PATH "$testbed" --name "$second" up --nodes 1 >"$BATS_TEST_TMPDIR/out" 2>&1
	cat "$BATS_TEST_TMPDIR/out"
	grep -q 'once more' "$BATS_TEST_TMPDIR/out"
}

@test "a second testbed runs beside this one" {
	"$testbed" --name "$second" status
	[ "$("$testbed" --name "$second" exec 1 hostname)" = node1 ]
	"$testbed" status
}

@test "a panic ends what runs on the node, with the end of its console" {
	"$testbed" --name "$second" exec --timeout 60 1 sh -c 'sleep 1; echo c >/proc/sysrq-trigger; sleep 50' \
		>"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 125 ]
	grep -qx 'Kernel panic - not syncing: sysrq triggered crash' "$BATS_TEST_TMPDIR/out"
	grep -q '^called by .*sysrq_handle_crash' "$BATS_TEST_TMPDIR/out"
	run "$testbed" --name "$second" status
	[ "$status" -eq 1 ]
}

# nothing_runs_in DIRECTORY
nothing_runs_in()
{
	[ -z "$(find /proc -maxdepth 2 -name cwd -lname "$1*" 2>/dev/null)" ]
}

@test "down leaves neither process nor file behind" {
	local directory=$tests/../build/testbed/$second
	directory=$(realpath "$directory")
	[ -d "$directory" ]
	"$testbed" --name "$second" down
	[ ! -e "$directory" ]
	nothing_runs_in "$directory"
}

@test "nodes have a disk of one's own for reading, beside those of image and modules" {
	local tree=$BATS_TEST_TMPDIR/tree disk=$BATS_TEST_TMPDIR/disk.img
	mkdir "$tree" && echo words >"$tree/file"
	mke2fs -q -t ext4 -L vqp-own -d "$tree" "$disk" 16M
	"$testbed" --name "$second" up --nodes 1 --disk "$disk"
	[ "$("$testbed" --name "$second" exec 1 sh -c 'mount -o ro LABEL=vqp-own /mnt && cat /mnt/file')" = words ]
	run "$testbed" --name "$second" exec 1 mount -o remount,rw /mnt
	[ "$status" -ne 0 ]
	"$testbed" --name "$second" down
	run "$testbed" --name "$second" up --nodes 1 --disk "$disk.none"
	[ "$status" -eq 125 ]
}

@test "an up that is interrupted leaves nothing behind" {
	local directory pid i status=0
	setsid "$testbed" --name "$second" up --nodes 1 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	directory=$(realpath "$tests/../build/testbed")/$second
	for ((i = 0; i < 1200; i++)); do
		[ ! -s "$directory/node-1.pid" ] || break
		sleep 0.1
	done
	[ -s "$directory/node-1.pid" ]
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 143 ]
	[ ! -e "$directory" ]
	nothing_runs_in "$directory"
}
