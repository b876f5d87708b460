# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Nodes that are machines of their own, reached by ssh as its configuration says. See also node.bash; what is done on
# the machine is in host/machine. The process of each is the ssh connection that the others share; it follows the
# kernel's log.
#
# state/hosts             HOST[/DEVICE] of each, a line each
# state/ssh_config        the file that VQP_SSH_CONFIG named
# state/owner             what machines say of who uses them
# state/node-I.release    of its kernel
# state/node-I.is         variables for what runs there, once it has begun to be a node
# state/refreshed         when the tree was copied there

# what of the tree is of no use on a node: paths for find
host_useless=(./.git ./build/last-run.json ./build/{testbed,obj,fuzz,here,coverage,flaky,hosts,check,planted} './build/run-*' './build/kmod-*')

# host_says NODE TEXT: why it is of no use
host_says()
{
	say "$(node_title "$1"): $2"
}

node_title() { echo "node $1 ($(node_login "$1"))"; }

node_login()
{
	local host
	host=$(sed -n "$1p" "$state/hosts")
	echo "${host%%/*}"
}

# host_wanted NODE: the device or interface that was named, if one was
host_wanted()
{
	sed -n "$1s|^[^/]*/*||p" "$state/hosts"
}

# Nothing of the user's may get between, such as a shared connection of his own.
node_ssh_options()
{
	[[ ! -e $state/ssh_config ]] || printf '%s\n' -F "$state/ssh_config"
	printf '%s\n' -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=4 \
		-o ControlMaster=no -o ControlPersist=no -o "ControlPath=node-$1.ssh" -o RemoteCommand=none \
		-o ClearAllForwardings=yes -o ForwardAgent=no -o LogLevel=ERROR
}

# host_run NODE LINE: run that line of shell on the machine, not in the node's file systems
host_run()
{
	local options
	mapfile -t options < <(node_ssh_options "$1")
	(cd "$state" && exec ssh "${options[@]}" -T "$(node_login "$1")" "$2")
}

# host_machine NODE WORD...: what host/machine does there
host_machine()
{
	host_run "$1" "exec bash -s -- $(quote "${@:2}")" <"$top/testbed/host/machine"
}

node_line()
{
	local variables
	mapfile -t variables < <(grep ^VQP_ "$state/node-$1.is")
	quote nsenter -t "$(host_keeper "$1")" -m -- env -C /root \
		PATH=/vqp/testbed/guest/root/usr/local/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"${variables[@]}" "${@:2}"
}

# host_keeper NODE: the process there that has the node's file systems
host_keeper() { sed -n 's/^keeper=//p' "$state/node-$1.is"; }

node_root() { echo "/proc/$(host_keeper "$1")/root"; }

node_describe()
{
	local device link
	device=$(sed -n 's/^VQP_DEVICE=//p' "$state/node-$1.is")
	link=$(sed -n 's/^VQP_LINK=//p' "$state/node-$1.is")
	echo "$(node_login "$1") by ssh, Linux $(<"$state/node-$1.release"), $device on $link"
}

# host_module NODE: the module that was built here for its kernel, from what the sources are now
host_module()
{
	local module
	module=build/kmod-$(<"$state/node-$1.release")/vqp.ko
	[[ -e $top/$module && ! $(find "$top"/{kmod,include} -type f -newer "$top/$module" -print -quit) ]] && echo "./$module"
}

# host_check NODE: it could be one; nothing is changed there
host_check()
{
	local said
	if ! said=$(host_machine "$1" check "$(host_wanted "$1")" 2>&1); then
		host_says "$1" "$said"
		return 1
	fi
	# a machine may greet whoever comes
	read -r boot_id machine release <<<"${said##*$'\n'}"
	echo "$release" >"$state/node-$1.release"
	if [[ $machine != "$(uname -m)" ]]; then
		host_says "$1" "its processor is $machine; what was built here is for $(uname -m)"
	elif ! host_module "$1" >/dev/null &&
		! host_run "$1" "test -e /lib/modules/$release/build/Makefile && command -v make >/dev/null && command -v gcc >/dev/null"; then
		host_says "$1" "to build the module for its kernel it needs make, gcc and the headers of Linux $release"
	else
		echo "$boot_id" >"$state/node-$1.boot"
		return 0
	fi
	return 1
}

# host_connect NODE: open the connection, and follow the kernel's log by it
host_connect()
{
	local node=$1 options tries
	mapfile -t options < <(node_ssh_options "$node")
	(
		cd "$state" || exit
		setsid ssh -o ControlMaster=yes "${options[@]}" -T "$(node_login "$node")" \
			'cd /run/vqp-testbed && exec stdbuf -oL dmesg --follow-new' \
			</dev/null >"node-$node.console" 2>"node-$node.errors" &
		echo $! >"node-$node.pid"
	)
	for ((tries = 0; tries < 200; tries++)); do
		[[ ! -S $state/node-$node.ssh ]] || return 0
		node_alive "$node" || break
		sleep 0.1
	done
	node_report "$node"
	return 1
}

# host_tree NODE WORD...: find in the tree what that node needs
host_tree()
{
	local path prune=() module
	module=$(host_module "$1")
	for path in "${host_useless[@]}"; do
		prune+=(-o -path "$path")
	done
	cd "$top" || return
	find . \( -name '*.o' "${prune[@]}" \) -prune -o \( -type f -o -type l \) "${@:2}"
	[[ ! $module ]] || find "$module" "${@:2}"
}

# host_copy NODE WORD...: those of them, to the machine
host_copy()
{
	(host_tree "$@" -print0 | tar -c -C "$top" --null --no-recursion -T -) |
		host_run "$1" 'tar -x --unlink-first --no-same-owner -C /run/vqp-testbed/tree'
}

# host_build NODE: the module, on the machine, unless it was built here for the same kernel
host_build()
{
	local log=$state/node-$1.build
	! host_module "$1" >/dev/null || return 0
	host_run "$1" "make -s -C /run/vqp-testbed/tree/kmod O=/run/vqp-testbed/tree/build" </dev/null >"$log" 2>&1 && return
	host_says "$1" "the module cannot be built there:"
	tail -n 20 "$log" >&2
	return 1
}

# host_programs NODE: those that were built here can start there
host_programs()
{
	local missing
	missing=$(node_exec "$1" 0 sh -c 'ldd /vqp/build/bin/* 2>&1' | sed -nE \
		's/^[[:blank:]]*([^ ]*) => not found.*/\1/p; s/.*: version .([A-Z_0-9.]*). not found.*/\1/p' | sort -u | xargs)
	[[ ! $missing ]] || { host_says "$1" "it lacks libraries that the programs need: $missing"; return 1; }
}

# host_begin NODE: make it one
host_begin()
{
	local node=$1 said status=0
	: >"$state/node-$node.is"
	said=$(host_machine "$node" begin "$node" "$(<"$state/owner")" "$(host_wanted "$node")" 2>&1) || status=$?
	# another's it is, and nothing of it is ours to end
	((status != 3)) || rm "$state/node-$node.is"
	if ((status != 0)); then
		host_says "$node" "$said"
		return 1
	fi
	grep ^VQP_ <<<"$said" >"$state/node-$node.is"
	echo "keeper=$(host_run "$node" "cat /run/vqp-testbed/keeper")" >>"$state/node-$node.is"
	host_connect "$node" && host_copy "$node" && host_build "$node" && host_programs "$node"
}

# hosts_differ: no machine stands for two nodes
hosts_differ()
{
	local twice
	twice=$(cat "$state"/node-*.boot | sort | uniq -d)
	[[ ! $twice ]] || { say "one machine cannot be two nodes: $(grep -lFx "$twice" "$state"/node-*.boot | wc -l) hosts are the same"; return 1; }
}

# hosts_linked: the nodes reach each other by the links of their devices
hosts_linked()
{
	local node
	for ((node = 2; node <= $(<"$state/nodes"); node++)); do
		node_exec 1 0 ping -q -c 1 -W 10 "10.77.0.$node" >/dev/null || {
			say "node 1 does not reach node $node: their RDMA devices, $(node_describe 1) and $(node_describe "$node"), are not on one link"
			return 1
		}
	done
}

nodes_begin()
{
	touch "$state/refreshed"
	on_nodes "can be a node" host_check && hosts_differ && on_nodes "is a node" host_begin && hosts_linked
}

# host_end NODE: it is none any more
host_end()
{
	[[ -e $state/node-$1.is ]] || return 0
	host_machine "$1" end "$(<"$state/owner")" && rm "$state/node-$1.is"
}

nodes_end()
{
	local node status=0
	for ((node = 1; node <= $(<"$state/nodes"); node++)); do
		host_end "$node" || {
			host_says "$node" "not all was taken back there"
			status=1
		}
	done
	return "$status"
}

# What has changed here since. A module that is built there is so again.
nodes_refresh()
{
	local node
	touch "$state/refreshing"
	for ((node = 1; node <= $(<"$state/nodes"); node++)); do
		[[ $(host_tree "$node" -newer "$state/refreshed" -print -quit) ]] || continue
		host_copy "$node" -newer "$state/refreshed" && host_build "$node" || return
	done
	mv "$state/refreshing" "$state/refreshed"
}
