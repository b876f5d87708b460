#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=own-nodes,long,budget:300
# Nodes that are real machines, reached by ssh: two virtual nodes stand for them, with a configuration of ssh that
# calls them real1 and real2.

bats_require_minimum_version 1.5.0

testbed=$BATS_TEST_DIRNAME/../../testbed/testbed

# NUMBER COMMAND...: on the machine, not as a node
machine() { "$BATS_TEST_DIRNAME/../../testbed/testbed" --name "$machines" exec "$@"; }

# HOST...: these become nodes.
up() { "$testbed" --name "$real" up --hosts "$*" 2>&1 3>&-; }

node() { "$testbed" --name "$real" exec "$@"; }

# NUMBER: what is on the machine that must be as before, when it is no node any more
sight()
{
	machine "$1" bash -c 'find /etc /root /var /usr/local /opt /home -printf "%p %y\n" | sort
		ls -A / /run /tmp /share /sys/class/infiniband
		cut -d " " -f 4-5 /proc/self/mountinfo | sort
		ip -o addr | cut -d "\\" -f 1
		ip -o link | sed "s/ promiscuity.*//"
		ip netns
		iptables-save | grep -E "^(-|:vqp)" || true
		cat /proc/sys/net/ipv4/ip_forward
		find /sys/fs/cgroup -type d
		tc qdisc show dev data0 | cut -d " " -f 2
		sysctl net.ipv6.conf.data0.keep_addr_on_down
		cut -d " " -f 1 /proc/modules | grep -E "^(vqp|rdma|ib_)" | sort
		pgrep -l "vqp|dmesg|sleep" || true'
}

# TEXT HOST...: these cannot be nodes, and it says why
refused()
{
	run up "${@:2}"
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"$1"* ]]
	[ ! -e "$BATS_TEST_DIRNAME/../../build/testbed/$real" ]
}

# The configuration of ssh, for the machines as they are now.
configure()
{
	local i state
	state=$(realpath "$BATS_TEST_DIRNAME/../../build/testbed/$machines")
	for i in 1 2; do
		printf '%s\n' "Host real$i other$i" "Port $(<"$state/node-$i.port")"
	done
	cat <<-END
		Host real* other*
		HostName 127.0.0.1
		User root
		IdentityFile $(<"$state/image")/ssh_key
		UserKnownHostsFile $state/known_hosts
		HostKeyAlias node
	END
}

setup_file()
{
	export machines=hosts-$$ real=hosts-$$-real VQP_SSH_CONFIG=$BATS_FILE_TMPDIR/ssh_config
	"$testbed" --name "$machines" up --kernel 6.12 --cpus 2 3>&-
	configure >"$VQP_SSH_CONFIG"
}

teardown_file()
{
	"$testbed" --name "$real" down || true
	"$testbed" --name "$machines" down
}

teardown()
{
	"$testbed" --name "$real" down
}

# A copy of the testbed, whose tree has no module.
without_module()
{
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/build"
	cp -r "$BATS_TEST_DIRNAME/../../testbed" "$tree/"
	testbed=$tree/testbed/testbed
}

# ---- who cannot be a node ----

@test "a host that ssh does not reach" { refused 'node 2 (nowhere.invalid): ssh: Could not resolve hostname' real1 nowhere.invalid; }

@test "no host" { refused '--hosts: 1 to 16 of them' ' '; }

@test "a host twice" { refused 'one machine cannot be two nodes' real1 other1; }

@test "a user who is not root" {
	machine 1 sh -c 'useradd -m -p "*" -s /bin/bash walker && chmod 644 /etc/ssh/vqp_authorized_keys'
	refused 'root is needed, and this is walker: "User root" in the ssh configuration' walker@real1 real2
	machine 1 sh -c 'userdel -r walker 2>/dev/null; chmod 600 /etc/ssh/vqp_authorized_keys'
}

@test "a host without an RDMA device, or without the one that is named" {
	machine 1 rdma link delete rxe0
	refused 'it has no RDMA device with a port that is up (rdma link); HOST/INTERFACE makes a soft one' real1 real2
	refused 'it has neither an RDMA device nor an interface mlx5_9' real1/mlx5_9 real2
	machine 1 rdma link add rxe0 type rxe netdev data0
}

@test "a host with an address of the nodes elsewhere" {
	machine 1 ip addr add 10.77.0.9/24 dev lo
	refused 'it has an address of the nodes, 10.77.0.0/24, at lo' real1 real2
	machine 1 ip addr del 10.77.0.9/24 dev lo
}

@test "a host whose address another machine on the link has" {
	machine 1 ip addr add fd77::2/64 dev data0 nodad
	machine 2 ip addr del fd77::2/64 dev data0
	refused 'node 2 (real2): another machine on data0 has the address fd77::2: is it in another testbed?' real1 real2
	machine 1 ip addr del fd77::2/64 dev data0
	machine 2 ip addr add fd77::2/64 dev data0 nodad
}

@test "a host whose link loses packets already" {
	machine 1 tc qdisc add dev data0 root netem loss 1%
	refused 'its interface data0 has a queueing discipline netem of its own, where faults would be made' real1 real2
	machine 1 tc qdisc del dev data0 root
}

@test "a host where vqp is in use" {
	machine 2 sh -c 'insmod /vqp/build/kmod-$(uname -r)/vqp.ko'
	refused 'node 2 (real2): the module vqp is in use' real1 real2
	machine 2 rmmod vqp
}

@test "a kernel that there is no module for, nor headers" {
	without_module
	refused 'to build the module for its kernel it needs make, gcc and the headers of Linux 6.12' real1 real2
}

@test "a configuration of ssh that is not there" {
	VQP_SSH_CONFIG=/nowhere refused 'VQP_SSH_CONFIG: there is no /nowhere' real1 real2
}

# ---- nodes ----

@test "tests run there by tests/run; faults that need an emulator are skipped; nothing is left" {
	local tree=$BATS_TEST_TMPDIR/tree i
	mkdir -p "$tree/tests/suites"
	cp -r "$BATS_TEST_DIRNAME"/../{run,runner,lib} "$tree/tests/"
	ln -s "$BATS_TEST_DIRNAME/../../testbed" "$tree/testbed"
	sed 's/^@@/@/; s/^#@/#/' >"$tree/tests/suites/planted.bats" <<-'END'
		#@ bats file_tags=nodes,heart
		load ../lib/testbed
		setup_file() { vqp_up && on 1 'box real-a 9 10.90.0.1' && on 2 'box real-c 9 10.90.0.3' && on 1 'known real-a 10.90.0.3'; }
		teardown() { fault off; }
		teardown_file() { on_each bash -c 'source /vqp/tests/lib/vqp.bash; remove_boxes'; }
		transfer() { on 2 'stop_all; serve real-c echo-server 700' && on 1 'inside real-a vqpt send 10.90.0.3 700 --count=100'; }
		@@test "bytes" { transfer; }
		@@test "loss" { fault loss 2 3%; transfer; }
		@@test "partition" { fault partition 2 for 0.5; transfer; }
		@@test "interface-down" { fault interface-down 2 for 0.5; on 1 'known real-a 10.90.0.3'; transfer; }
		@@test "opcode" { fault opcode 1 17; fault opcode 1 16; [ "$(node 1 iptables -S vqp-fault | grep -c DROP)" = 2 ]; transfer; }
		@@test "memory" { fault memory 1 500; transfer; }
		@@test "link-down" { fault link-down 2; false; }
		@@test "freeze" { fault freeze 2; false; }
		@@test "crash" { fault crash 1; false; }
		@@test "parent-gone" { fault parent-gone 1; false; }
		@@test "share" { node 1 sh -c 'cd /vqp && ! touch new && touch /share/new /tmp/new /etc/new'; }
	END
	sed 's/^@@/@/; s/^#@/#/' >"$tree/tests/suites/unfit.bats" <<-'END'
		#@ bats file_tags=nodes,virtual,heart
		@@test "it" { false; }
	END
	for i in 1 2; do
		machine $i modprobe -r rdma_ucm
		sight $i >"$BATS_TEST_TMPDIR/before-$i"
	done
	unset VQP_TESTBED SUITE_TIMEOUT
	HOSTS="real1 real2" run "$tree/tests/run" planted unfit 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "8 passed, 0 failed, 5 skipped" ]
	[[ $output == *"hosts: planted: ok 7 link-down"*"# skip "*"link-down: that needs virtual nodes"* ]]
	[[ $output == *"hosts: planted: ok 10 parent-gone"*"# skip "*"rxe0 was there before: HOST/INTERFACE makes a soft one"* ]]
	[[ $output == *"hosts: unfit: skipped, it needs virtual nodes"* ]]
	HOSTS="real1 real2" run "$tree/tests/run" --list
	[ "$output" = "hosts planted null" ]
	for i in 1 2; do
		diff "$BATS_TEST_TMPDIR/before-$i" <(sight $i)
		machine $i modprobe rdma_ucm
	done
}

@test "a soft device is made on an interface that has an address of its own, may go and come, and goes in the end; so does whoever is left" {
	local i
	for i in 1 2; do
		machine $i rdma link delete rxe0
		machine $i modprobe -r rdma_rxe
	done
	for i in 1 2; do
		machine $i ip addr del 10.77.0.$i/24 dev data0
		machine $i ip addr add 192.0.2.$i/24 dev data0
		sight $i >"$BATS_TEST_TMPDIR/before-$i"
	done
	up real1/data0 real2/data0
	run "$testbed" --name "$real" status
	[[ $output == "$real node 1 alive, real1 by ssh, Linux 6.12."*", rxe_vqp on data0"* ]]
	for i in 1 2; do
		node $i bash /vqp/tests/programs/services start
	done
	"$testbed" --name "$real" fault parent-gone 1 for 0.2
	node 1 bash -c 'source /vqp/tests/lib/vqp.bash
		eventually vqpctl ping --count 1 10.77.0.2
		node-fault opcode 17
		box left 9 10.90.0.1
		serve left echo-server 700'
	node 2 bash -c 'setsid -f sleep 1000 >/dev/null 2>&1 </dev/null'
	"$testbed" --name "$real" down
	for i in 1 2; do
		diff "$BATS_TEST_TMPDIR/before-$i" <(sight $i)
		machine $i ip addr del 192.0.2.$i/24 dev data0
		machine $i ip addr add 10.77.0.$i/24 dev data0
		machine $i sh -c 'modprobe rdma_rxe && rdma link add rxe0 type rxe netdev data0'
	done
}

# The compiler is a fake, which takes the module from where the machines have it, as virtual nodes.
@test "a module that there is none of here is built there, and anew when its source changes" {
	local i
	without_module
	cp -r "$BATS_TEST_DIRNAME"/../../{tests,kmod} "$tree/"
	cp -r "$BATS_TEST_DIRNAME/../../build/bin" "$tree/build/"
	for i in 1 2; do
		machine $i sh -ec 'mkdir /tmp/upper /tmp/work
			mount -t overlay -o lowerdir=/usr/lib/modules,upperdir=/tmp/upper,workdir=/tmp/work overlay /usr/lib/modules
			mkdir "/usr/lib/modules/$(uname -r)/build"
			touch "/usr/lib/modules/$(uname -r)/build/Makefile"
			cat >/usr/local/bin/make
			chmod +x /usr/local/bin/make
			ln -s make /usr/local/bin/gcc' <<-'END'
				#!/bin/sh
				for word; do
					case $word in
					O=*) out=${word#O=}/kmod-$(uname -r) ;;
					esac
				done
				echo "make $*" >>/tmp/made
				mkdir -p "$out"
				cp "/vqp/build/kmod-$(uname -r)/vqp.ko" "$out/"
			END
	done
	up real1 real2
	for i in 1 2; do
		node $i bash /vqp/tests/programs/services start
	done
	[ "$(machine 2 cat /tmp/made)" = "make -s -C /run/vqp-testbed/tree/kmod O=/run/vqp-testbed/tree/build" ]
	touch "$tree/kmod/main.c"
	"$testbed" --name "$real" refresh
	"$testbed" --name "$real" refresh
	[ "$(machine 2 cat /tmp/made | wc -l)" -eq 2 ]
	"$testbed" --name "$real" down
	for i in 1 2; do
		machine $i sh -c 'umount /usr/lib/modules; rm -rf /usr/local/bin/make /usr/local/bin/gcc /tmp/upper /tmp/work /tmp/made'
	done
}

@test "console, kernel log, exit status, time-outs, files, and a tree that changes" {
	local new
	up real1 real2
	node 2 sh -c 'kernel-log >/dev/null; echo "<4>WARNING: this is a test" >/dev/kmsg'
	run node 2 kernel-log
	[ "$status" -eq 1 ]
	[[ $output == *"WARNING: this is a test"* ]]
	run "$testbed" --name "$real" console 2
	[[ $output == *"WARNING: this is a test"* ]]
	[[ $output != *"Linux version"* ]]
	run node 1 sh -c 'exit 7'
	[ "$status" -eq 7 ]
	run node --timeout 1 1 sleep 100
	[ "$status" -eq 124 ]
	head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/there"
	"$testbed" --name "$real" cp "$BATS_TEST_TMPDIR/there" 1:/tmp/
	run machine 1 test -e /tmp/there
	[ "$status" -eq 1 ]
	node 1 cmp /tmp/there - <"$BATS_TEST_TMPDIR/there"
	"$testbed" --name "$real" cp 1:/tmp/there "$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/back"
	new=$BATS_TEST_DIRNAME/../../build/hosts-$$
	echo new >"$new"
	"$testbed" --name "$real" refresh
	rm "$new"
	[ "$(node 2 cat "/vqp/build/${new##*/}")" = new ]
	real=$real-too refused 'it is in use: testbed hosts-' real1 real2
}

@test "an up that is killed changes nothing later, and down takes back what it had done" {
	local i
	for i in 1 2; do
		sight $i >"$BATS_TEST_TMPDIR/before-$i"
	done
	# the first waits for this when it is about to begin
	machine 1 bash -c 'setsid -f flock /run sleep 1000 >/dev/null 2>&1 </dev/null'
	setsid "$testbed" --name "$real" up --hosts "real1 real2" 3>&- &
	machine 1 bash -c 'source /vqp/tests/lib/expect.bash; within 60 pgrep -f "^flock -w"'
	machine 2 bash -c 'source /vqp/tests/lib/expect.bash; within 60 test -e /run/vqp-testbed/variables'
	kill -KILL -- -$!
	machine 1 bash -c 'pkill -f "^sleep 1000"
		source /vqp/tests/lib/expect.bash; within 60 flock -n /run true'
	diff "$BATS_TEST_TMPDIR/before-1" <(sight 1)
	"$testbed" --name "$real" down
	for i in 1 2; do
		diff "$BATS_TEST_TMPDIR/before-$i" <(sight $i)
	done
}

@test "a machine that dies is dead, with the end of what its kernel said" {
	up real1 real2
	"$testbed" --name "$machines" fault crash 2
	run node 2 true
	echo "$output"
	[ "$status" -eq 125 ]
	[[ $output == *"node 2 is dead"* ]]
	run "$testbed" --name "$real" down
	[ "$status" -eq 125 ]
	[[ $output == *"node 2 (real2): not all was taken back there"* ]]
	"$testbed" --name "$machines" fault crash 2 off 3>&-
	# at another port
	configure >"$BATS_TEST_DIRNAME/../../build/testbed/$real/ssh_config"
	"$testbed" --name "$real" down
}
