# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2054 # QEMU's options are full of commas
# Virtual nodes: QEMU is the process of each. See also node.bash.
#
# state/image, state/kernel       the directories of image and kernel in the cache
# state/initramfs                 the kernel's first file system, with the guest's files as they are now
# state/release                   of the kernel
# state/cpus, state/accel         of each node, and what carries it out
# state/init                      busybox or systemd
# state/copies                    words or strings: how processors copy
# state/disk                      a file system that nodes may mount by its label, or nothing
# state/node-I.port               the loopback port of its sshd
# state/node-I.monitor            the socket of QEMU's monitor
# state/node-I.refusal            what ssh said when it could not connect

# accelerator VMLINUX INITRAMFS: "kvm" where a real kernel reaches user space under it, else "tcg"
accelerator()
{
	local vmlinux=$1 initramfs=$2 verdict key probe status=0
	if [[ ! -w /dev/kvm ]]; then
		echo tcg
		return
	fi
	key=$(cat /proc/sys/kernel/random/boot_id <(qemu-system-x86_64 --version) | sha256sum)
	verdict=$cache/accel-${key:0:16}
	if [[ ! -s $verdict ]]; then
		# of earlier boots of this machine
		rm -f "$cache"/accel-*
		probe=$(timeout -k 1 10 qemu-system-x86_64 -accel kvm -cpu host -m 512M -nodefaults \
			-no-user-config -display none -no-reboot -serial stdio \
			-kernel "$vmlinux" -initrd "$initramfs" \
			-append "console=ttyS0 panic=-1 vqp.probe" </dev/null 2>/dev/null) || status=$?
		if [[ $probe == *"vqp-probe: user space runs"* ]]; then
			echo kvm >"$verdict"
		elif ((status == 124 || status == 137)); then
			# that may be a busy machine's fault
			echo tcg
			return
		else
			echo tcg >"$verdict"
		fi
	fi
	cat "$verdict"
}

# The data link is datagrams between Unix sockets: nothing is lost on the way, and a node may come
# and go. Node 1 is the hub when there are more than two.
node_data_link()
{
	local node=$1 nodes=$2 peer args=()
	local address=local.type=unix,local.path=link-
	if ((nodes == 2)); then
		args=(-netdev "dgram,id=data,${address}$node,remote.type=unix,remote.path=link-$((3 - node))")
	elif ((node > 1)); then
		args=(-netdev "dgram,id=data,${address}$node,remote.type=unix,remote.path=link-1-$node")
	else
		args=(-netdev hubport,id=data,hubid=1)
		for ((peer = 2; peer <= nodes; peer++)); do
			args+=(-netdev "dgram,id=link$peer,${address}1-$peer,remote.type=unix,remote.path=link-$peer"
				-netdev "hubport,id=hub$peer,hubid=1,netdev=link$peer")
		done
	fi
	printf '%s\n' "${args[@]}"
}

# host_tsc_khz: how fast this machine's time stamp counter counts, in kHz; 0 leaves it to be measured
host_tsc_khz()
{
	# bogomips are twice the megahertz wherever the counter is what delays are timed by
	awk '$1 == "bogomips" { khz = $3 * 500 } END { printf "%d\n", khz }' /proc/cpuinfo
}

# node_command_line NODE INIT: of its kernel
node_command_line()
{
	local words=(console=ttyS0 loglevel=5 mitigations=off oops=panic softlockup_panic=1
		sysctl.kernel.hung_task_panic=1 sysctl.kernel.panic_on_rcu_stall=1 unknown_nmi_panic)
	# A kernel that panics tells what every processor does, so that a hang shows the lock's holder.
	words+=(panic_print=64)
	# The time stamp counter is the host's; any other clock is a device, slow to read. How fast it
	# counts, a kernel that measures it on a busy host may get wrong several times over.
	words+=(tsc=reliable "tsc_early_khz=$(host_tsc_khz)" "vqp.node=$1")
	# QEMU keeps its translation of code by virtual address, too: a program that is elsewhere each time is
	# translated each time, and that took most of the time that programs ran.
	words+=(norandmaps)
	# A node that can boot anew by itself stops when its kernel dies; any other ends. Names of interfaces are
	# vqp-init's to give: udev would rename one between its looking and its naming.
	if [[ $2 == systemd ]]; then
		words+=(panic=0 vqp.init=systemd systemd.show_status=no net.ifnames=0)
	else
		words+=(panic=-1)
	fi
	echo "${words[*]}"
}

# data_nic_options: for the network card that Soft RoCE uses
data_nic_options()
{
	# Soft RoCE frees the packets of a QP in error with interrupts off, under the lock of the QP's state. The card's
	# driver of Linux 7 takes packets from a page pool, and giving a page back may run softirqs, which take
	# that lock again. Without mergeable buffers, and with large packets, the driver has no page pool.
	[[ $(<"$state/release") == [1-6].* ]] || echo ,mrg_rxbuf=off
}

# node_start NODE PORT: start QEMU in the background with nothing of ours open in it
node_start()
{
	local node=$1 port=$2 image kernel nodes accel cpus init disk link suffix args disks=() reboots=(-no-reboot)
	image=$(<"$state/image") kernel=$(<"$state/kernel") nodes=$(<"$state/nodes")
	accel=$(<"$state/accel") cpus=$(<"$state/cpus") init=$(<"$state/init") disk=$(<"$state/disk")
	[[ $init != systemd ]] || reboots=()
	suffix=$(printf %02x "$node")
	mapfile -t link < <(node_data_link "$node" "$nodes")
	[[ ! -e $kernel/modules.img ]] ||
		disks+=(-drive "file=$kernel/modules.img,format=raw,if=none,id=modules,readonly=on"
			-device virtio-blk-pci,drive=modules)
	[[ ! $disk ]] ||
		disks+=(-drive "file=$disk,format=raw,if=none,id=disk,readonly=on" -device virtio-blk-pci,drive=disk)
	args=(-name "vqp-node-$node" -no-user-config -nodefaults -display none
		"${reboots[@]}" -machine q35 -smp "$cpus" -m 4G
		-kernel "$kernel/vmlinux" -initrd initramfs -append "$(node_command_line "$node" "$init")"
		-chardev "file,id=console,path=node-$node.console" -serial chardev:console
		-chardev "socket,id=monitor,path=node-$node.monitor,server=on,wait=off" -mon chardev=monitor
		-drive "file=$image/root.img,format=raw,if=none,id=root,snapshot=on,cache=unsafe"
		-device virtio-blk-pci,drive=root
		"${disks[@]}"
		-device virtio-rng-pci
		-device i6300esb -action watchdog=inject-nmi
		-netdev "user,id=ctl,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22"
		-device "virtio-net-pci,netdev=ctl,mac=52:54:00:0c:00:$suffix,romfile="
		"${link[@]}"
		-device "virtio-net-pci,netdev=data,mac=52:54:00:77:00:$suffix,host_mtu=9000$(data_nic_options),romfile="
		-virtfs "local,path=$top,mount_tag=vqp,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$state/share,mount_tag=share,security_model=none,multidevs=remap")
	if [[ $accel == kvm ]]; then
		args+=(-accel kvm -cpu host)
	else
		# Without erms kernel and libc copy by words: one byte at a time, as QEMU does it, takes ten times as long.
		# A kernel that is told of fsrm without erms does not boot.
		args+=(-accel tcg,thread=multi -cpu "max$([[ $(<"$state/copies") == strings ]] || echo ,-erms,-fsrm)")
	fi
	echo "$port" >"$state/node-$node.port"
	rm -f "$state/node-$node.reported"
	: >"$state/node-$node.console"
	(
		cd "$state" || exit
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			((fd > 2)) && eval "exec $fd>&-"
		done
		cache_hold "$image" && cache_hold "$kernel"
		[[ $disk != "$cache"/* ]] || cache_hold "${disk%/*}"
		TMPDIR=$state setsid qemu-system-x86_64 "${args[@]}" </dev/null >"node-$node.errors" 2>&1 &
		echo $! >"node-$node.pid"
	)
}

# node_port_taken NODE: another has it; the emulator may say so late
node_port_taken() { grep -q 'Could not set up host forwarding' "$state/node-$1.errors"; }

# node_launch NODE: start it on a free port
node_launch()
{
	local node=$1 tries
	for ((tries = 0; tries < 20; tries++)); do
		node_start "$node" $((20000 + RANDOM % 12000))
		sleep 0.3
		node_alive "$node" && break
		node_port_taken "$node" || break
	done
}

# node_failed_alone NODE: its emulator failed, lost a timer's interrupt or found its port taken
node_failed_alone()
{
	node_port_taken "$1" || grep -q '^qemu.*Assertion .* failed' "$state/node-$1.errors" ||
		grep -q 'Possible timer handling issue on cpu' "$state/node-$1.console"
}

# node_boot NODE: start it and wait until it can be used. An emulator that fails is started anew: it says
# nothing about what runs in it.
node_boot()
{
	local node=$1 tries
	for ((tries = 1; ; tries++)); do
		node_launch "$node"
		node_wait "$node" && break
		((tries < 3)) && node_failed_alone "$node" || return
		say "node $node: that was QEMU, not the node: once more"
		node_kill "$node"
	done
	node_connect "$node"
}

# node_boots NODE: how often it has booted
node_boots() { grep -c 'vqp-init: node .* ready' "$state/node-$1.console"; }

# node_wait NODE [BOOTS]: until it has booted so many times
node_wait()
{
	# long enough for a debug kernel beside other work; one that dies is noticed at once
	local node=$1 boots=${2-1} deadline=$((SECONDS + 600))
	until (($(node_boots "$node") >= boots)); do
		if ! node_alive "$node" || ((SECONDS > deadline)); then
			node_report "$node"
			return 1
		fi
		sleep 0.1
	done
}

node_title() { echo "node $1"; }

node_login() { echo root@127.0.0.1; }

node_ssh_options()
{
	local image
	image=$(<"$state/image")
	printf '%s\n' -o LogLevel=QUIET -F none -i "$image/ssh_key" -o IdentitiesOnly=yes -o BatchMode=yes \
		-o "UserKnownHostsFile=$state/known_hosts" -o HostKeyAlias=node \
		-o "Port=$(<"$state/node-$1.port")" -o ConnectTimeout=10 -o "ControlPath=node-$1.ssh" \
		-o ServerAliveInterval=15 -o "ServerAliveCountMax=$((8 * $(<"$state/slowness")))"
}

node_line()
{
	shift
	quote "$@"
}

node_root() { :; }

node_describe() { echo "Linux $(<"$state/release"), $(<"$state/accel")"; }

# node_connect NODE: open the connection
node_connect()
{
	local node=$1 options deadline=$((SECONDS + 60 * $(<"$state/slowness")))
	mapfile -t options < <(node_ssh_options "$node")
	while ((SECONDS < deadline)); do
		(cd "$state" && ssh -o LogLevel=ERROR "${options[@]}" -o ControlMaster=yes -f -N root@127.0.0.1 \
			</dev/null >/dev/null 2>"node-$node.refusal") && return
		node_alive "$node" || break
		sleep 0.2
	done
	cat "$state/node-$node.refusal" >&2
	node_report "$node"
	return 1
}

# node_reboot NODE: as its administrator does it; its disk stays
node_reboot()
{
	local node=$1 boots
	boots=$(node_boots "$node")
	# by then the connection has been closed here
	node_exec "$node" 0 systemd-run --quiet sh -c 'sleep 1; systemctl reboot'
	node_disconnect "$node"
	node_wait "$node" $((boots + 1)) && node_connect "$node"
}

# guest_initramfs TREE OUTPUT: that tree plus the guest's files as they are now
guest_initramfs()
{
	{
		(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0)
		(cd "$top/testbed/guest" && find init root | cpio --quiet -o -H newc -R 0:0)
	} >"$2"
}

nodes_begin() { on_nodes booted node_boot; }

nodes_end() { :; }

# /vqp is the source tree itself
nodes_refresh() { :; }
