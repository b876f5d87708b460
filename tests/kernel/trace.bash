# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/trace.bats does on a node. Sourced there.

# shellcheck source=tests/kernel/rc.bash
source /vqp/tests/kernel/rc.bash
# shellcheck source=tests/sock/kinds.bash
source /vqp/tests/sock/kinds.bash

# COMMAND...: trace what the module does meanwhile, into a file.
traces() {
	begin_tracing
	echo 8192 >"$tracing/buffer_size_kb"
	echo 1 >"$tracing/events/vqp/enable"
	"$@"
	echo 0 >"$tracing/events/vqp/enable"
	cat "$tracing/trace" >/run/vqp/trace
}

# COMMAND...: the functions of the module that allocate memory meanwhile, in vqpt's threads, which is charged to nobody's
# memory cgroup; a line each. What the core needs beside what it is asked for is not counted (Linux 7 allocates sheaves
# when it frees), nor what an interrupt does.
uncharged() {
	begin_tracing
	echo 32768 >"$tracing/buffer_size_kb"
	echo 1 | tee "$tracing"/options/{stacktrace,sym-offset} "$tracing"/events/kmem/{kmalloc,kmem_cache_alloc}/enable >/dev/null
	"$@" >&2
	echo 0 >"$tracing/events/kmem/enable"
	# names of modules are there with offsets alone
	cat "$tracing/trace" >/run/vqp/trace
	echo 0 | tee "$tracing"/options/{stacktrace,sym-offset} >/dev/null
	awk -v core='obj_exts|slab_cgroups|allocate_slab|vmalloc|security_|khugepaged|softirq' \
		-v free='__pcs_replace_|kvfree_call_rcu|kfree[+]|kmem_cache_free[+]' '
		function over() { if (caller) print caller; caller = "" }
		match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
		/ (kmalloc|kmem_cache_alloc): / { found[cpu] = /^ *vqpt-/ && /accounted=false/; next }
		# what another processor tells may stand between an event and its stack
		/ <stack trace>$/ { over(); counts = found[cpu]; found[cpu] = 0; next }
		counts && $0 ~ "^ => .*(" core "|" free ")" { counts = 0 }
		counts && /^ => .* \[vqp\]$/ { sub(/\+.*/, "", $2); caller = $2; counts = 0 }
		END { over() }
		' /run/vqp/trace | sort -u
}

# ADDRESS: what a function does is charged to its memory cgroup, but for what is bounded for a namespace (zero-copy
# sends) or a link, and allocated where there is no telling for whom: there is at most so much of it.
charged() {
	local names
	names=$(uncharged does_everything "$1")
	[[ $(wc -l </run/vqp/trace) -gt 1000 ]] && grep -q '=> vqp_post_send.*\[vqp\]$' /run/vqp/trace
	names=$(grep -vxE 'zsend_take|segment_alloc|rkey_want|link_begin|cache_put|vqp_peer_.*' <<<"$names" | grep . || true)
	[[ ! $names ]] || { echo "charged to nobody: $names"; return 1; } >&2
}

# ADDRESS: a function makes one of everything, and sends to a function there and to one of its own node.
does_everything() {
	inside vqp-a vqpt hold vqps --count=200
	inside vqp-a vqpt hold mrs --count=100
	inside vqp-a vqpt hold arenas --count=4
	inside vqp-a vqpt --background echo-server 77
	inside vqp-a vqpt --count=20 send 10.90.0.1 77
	inside vqp-a vqpt --count=20 send "$1" 78
	inside vqp-a vqpt --count=10 --bytes=300K send "$1" 78
}

# EVENT [TEXT]: it was traced, with that in its line.
traced() {
	# not grep | grep -q, which fails when the second has seen enough before the first has said all
	awk -v event=" $1: " -v text="${2-}" 'index($0, event) && index($0, text) { found = 1 } END { exit !found }' \
		/run/vqp/trace ||
		{ echo "no $1 with '${2-}' in:"; grep -m 40 " $1: " /run/vqp/trace || grep -m 40 -v '^#' /run/vqp/trace; return 1; } >&2
}

# EVENT COUNT: it was traced just so often.
traced_times() {
	(($(grep -c " $1: " /run/vqp/trace) == $2)) || { echo "$1 $(grep -c " $1: " /run/vqp/trace) times" >&2; return 1; }
}

# ADDRESS PORT KEY ADDR: READs, WRITEs and messages make a VQP change to rc and back.
changes_of_carriers_are_traced() {
	local before
	before=$(events rc_switches)
	traces weave_until_switched "$((before + 1))" "$@"
	woven_end vqp-a
	traced vqp_carrier 'dc -> rc'
	traced vqp_carrier 'rc -> dc'
}

weave_until_switched() {
	weave "${@:2}"
	eventually more_than rc_switches "$1"
}

messages_are_traced() {
	vqpctl cache flush
	traces inside vqp-a vqpt send 10.90.0.3 700 --bytes=100 --count=50
	traced vqp_lookup "tenant=9 gid=::ffff:10.90.0.3 ret=0"
	traced vqp_carrier "none -> dc"
	traced_times vqp_post 50
	traced vqp_post "SEND bytes=100"
	traced vqp_tx_packet "bytes=100"
	traced vqp_rx_packet
	traced_times vqp_recv 50
	traced_times vqp_complete 50
	traced vqp_complete "SEND status=0"
}

# Stream sockets of two containers of this node, near and by TCP.
streams_are_traced() {
	trap streams_end EXIT
	boxes
	sock sock-b serve 0.0.0.0 7000
	traces streams_talk
	traced vqp_sock_connect "remote=[::ffff:10.91.0.2]:7000 kind=near why=0"
	traced vqp_sock_connect "remote=[::ffff:127.0.0.1]:7000 kind=tcp why=-113"
	traced vqp_sock_connect "remote=[::ffff:10.91.0.2]:7000 kind=unconnected why=-99"
	traced vqp_sock_connect "remote=[::ffff:10.91.0.2]:7000 kind=tcp why=-13"
	traced vqp_sock_accept "kind=near local=[::ffff:10.91.0.2]:7000 remote=[::ffff:10.91.0.1]:"
	traced vqp_sock_accept "kind=tcp local=[::ffff:127.0.0.1]:7000"
	traced vqp_sock_close "remote=[::ffff:10.91.0.2]:7000 tx=100000 rx=100000"
	traced vqp_sock_close "kind=tcp"
}

streams_talk() {
	sock sock-a talk 10.91.0.2 7000
	sock sock-b talk 127.0.0.1 7000
	sock sock-a taken 10.91.0.2 7000
	give sock-b 2 only:22
	sock sock-a talk 10.91.0.2 7000
}

streams_end() {
	stop_socks
	ip netns del sock-a
	ip netns del sock-b
	ip link del socks
}
