# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/kernel/rc.bats does on a node, beside tests/lib/vqp.bash.

# shellcheck source=tests/lib/vqp.bash
source /vqp/tests/lib/vqp.bash

woven=/run/vqp/woven

# ADDRESS PORT KEY ADDR [NAME [OPTION...]]: weave there until woven_end, in the background; what comes of it is in a
# file.
weave() {
	local name=${5:-vqp-a}
	setsid -f bash -c "ip netns exec $name vqpt --count=0 weave $1 $2 $3 $4 ${*:6}; echo status \$?" \
		>"$woven-$name" 2>&1 </dev/null
	goes_on
}

# NAME: it is told to end, and all was well until then.
woven_end() {
	pkill -TERM -f "^vqpt --count=0 weave" || true
	eventually woven_ended "$@"
	cat "$woven-${1:-vqp-a}"
	grep -qx 'status 0' "$woven-${1:-vqp-a}"
}

# COUNT: weave until carriers have been changed more often than that.
switches_until() {
	local tries
	for ((tries = 0; tries < 500; tries++)); do
		! more_than rc_switches "$1" || break
		! woven_ended vqp-a || break
		sleep 1
	done
	woven_end vqp-a
	more_than rc_switches "$1"
}

# ADDRESS PORT KEY ADDR: vqp-b weaves there, too, and is killed, which vqp-a does not notice.
another_is_killed() {
	local before
	before=$(alive vqp)
	weave "$@" vqp-b
	eventually pkill -9 -f "^vqpt --count=0 weave $1"
	eventually alive_are vqp "$before"
	goes_on
	woven_end vqp-a
}

# OBJECTS COUNT: that many are alive.
alive_are() { (($(alive "$1") == $2)); }

# COMMAND...: trace meanwhile where windows are looked up and asked for, and where a VQP's lock is dropped and taken:
# a post has ended, or requests are handed out again.
traces_lookups() {
	begin_probes 'p:vqp_test/lookup vqp_rkey_ready' 'p:vqp_test/ask vqp_link_ask_later' \
		'r:vqp_test/posted vqp_send_queue' 'p:vqp_test/resumed vqp_send_resume'
	"$@"
	end_probes
}

# LEAST MOST: so many windows, at most, were looked up with a VQP's lock held once.
looked_up_at_once() {
	awk -v least="$1" -v most="$2" '
		/ lookup: / && ++n > found { found = n }
		/ (posted|resumed): / { n = 0 }
		END { print found + 0 " windows were looked up at once"; exit !(found >= least && found <= most) }
		' /run/vqp/trace
}

# BURST RATE: windows were asked for no faster than that, in one and in windows per second.
asked_within() {
	awk -v burst="$1" -v rate="$2" '
		match($0, /[0-9.]+: ask: /) { at = substr($0, RSTART) + 0; first = first ? first : at; asks++ }
		END {
			print asks + 0 " windows were asked for in " at - first " s"
			exit !(asks && asks <= burst + 16 + rate * (at - first))
		}' /run/vqp/trace
}

# COMMAND...: for how many microseconds, at most, one post had a VQP's lock meanwhile, with bottom halves off.
longest_post() {
	local status=0
	begin_probes 'p:vqp_test/post vqp_send_queue' 'r:vqp_test/posted vqp_send_queue'
	"$@" >&2 || status=$?
	end_probes
	((!status)) && awk '
		match($0, /[0-9]+[.][0-9]+: post(ed)?: /) {
			at = substr($0, RSTART) + 0
			if (/ post: /) began[$1] = at
			else if (at - began[$1] > longest) longest = at - began[$1]
		}
		END { printf "%d\n", longest * 1000000; exit !longest }' /run/vqp/trace
}

# LIST COMMAND...: it posts a list of so many receives. Of no 256 in a row does the processor have to do all at once.
lets_others_run() {
	begin_probes 'p:vqp_test/post vqp_recv_post' 'p:vqp_test/rest __cond_resched by=$stack0:symbol'
	echo 'comm == "vqpt"' | tee "$tracing"/events/vqp_test/{post,rest}/filter >/dev/null
	"${@:2}"
	end_probes
	awk -v list="$1" '
		/ post: / { posts++; if (++n > most) most = n }
		/ rest: .*by=vqp_post_recv[+]/ { n = 0 }
		END { print posts + 0 " receives, " most + 0 " of them in a row"; exit !(posts >= list && most <= 256) }
		' /run/vqp/trace
}

# Trace where the mutex of the windows is taken and dropped, and where regions are made and freed at the device.
begin_verbs() {
	local mutex
	mutex=0x$(awk '$3 == "window_mutex" && $4 == "[vqp]" { print $1 }' /proc/kallsyms)
	begin_probes 'p:vqp_test/lock mutex_lock mutex=$arg1:x64' 'p:vqp_test/unlock mutex_unlock mutex=$arg1:x64' \
		'p:vqp_test/verb ib_alloc_mr' 'p:vqp_test/verb ib_map_mr_sg' 'p:vqp_test/verb ib_dereg_mr_user'
	echo "mutex == $mutex" | tee "$tracing"/events/vqp_test/{lock,unlock}/filter >/dev/null
	# what was traced before has other mutexes
	echo >"$tracing/trace"
}

# No thread has called such a verb since begin_verbs while it had the mutex, though some have called some.
verbs_were_outside_the_mutex() {
	end_probes
	awk '
		/ lock: / { locked[$1] = 1; locks++ }
		/ unlock: / { locked[$1] = 0 }
		/ verb: / { verbs++; inside += locked[$1] }
		END {
			print verbs + 0 " verbs, " inside + 0 " of them with the mutex, which was taken " locks + 0 " times"
			exit !verbs || !locks || inside
		}' /run/vqp/trace
}

# COUNT: there are so many windows at least
windows_are() { (($(alive window) >= $1)); }

# PID1 PID2: these servers are killed, the second while node 1 is told of one region of the first after the other. It is
# told of the second's next. Returns 2 if the first had no regions left to tell of.
told_in_turn() {
	begin_probes 'p:vqp_test/revoke vqp:window_revoke' \
		'p:vqp_test/tell vqp_rpc kind=+1($arg2):u8 tenant=+36($arg2):x32'
	echo 'kind == 4' >"$tracing/events/vqp_test/tell/filter"
	kill -9 "$1"
	eventually hits_are tell 1
	kill -9 "$2"
	eventually windows_closed
	end_probes
	awk -v second="-$2$" '
		/ tell: / { tenant = $NF; first = first ? first : tenant }
		/ tell: / && tenant == first { before += ends && !told; behind += told }
		/ tell: / && tenant != first { told = 1 }
		/ revoke: / && $1 ~ second { ends = 1 }
		END {
			print before + 0 " of the first namespace were told of before it, " behind + 0 " behind it"
			exit (!ends || !told || !behind) ? 2 : (before > 2)
		}' /run/vqp/trace
}

# TIMES COMMAND...: the least of what so many runs of it say. When a node stands still, since its machine has others to
# run, that lengthens some of them.
least_of() {
	local i said least=0
	for ((i = 0; i < $1; i++)); do
		said=$("${@:2}") || return
		((least && least <= said)) || least=$said
	done
	echo "$least"
}

# TIMES MEASURE ADDRESS PORT KEY ADDR: by that measure, a list of 2,000 requests to memory that nobody offers costs others
# no more than so many times what one of 32 does, which need as many windows as are looked up in one piece.
list_costs_at_most() {
	local short list
	short=$(least_of 5 "$2" stray "${@:3}" 32)
	list=$(least_of 5 "$2" stray "${@:3}" 2000)
	echo "$2: $list us with a list of 2,000, $short us with one of 32"
	((list <= $1 * short))
}

# ADDRESS PORT KEY ADDR COUNT: READs by a link, and while it is there a list of as many requests to memory that nobody
# offers, of 16 SGEs of 4 MiB each.
stray() {
	brings rc_requests 10 inside vqp-a vqpt read "${@:1:4}" --count=100 &&
		inside vqp-a vqpt stray "${@:1:3}" 0x100000000000 --list="$5" --sges=16 --bytes=4M
}

# NAME: it ended.
woven_ended() { grep -q '^status' "$woven-${1:-vqp-a}"; }

# EVENT: it happens.
happens() {
	local before
	before=$(events "$1")
	eventually more_than "$1" "$before"
}

# Requests go from NIC to NIC.
goes_on() { happens rc_requests; }

# EVENT COUNT COMMAND...: time and again, until it happens so often meanwhile: the first find no link, nor do those of
# a node that stands still.
brings() {
	local tries before
	for ((tries = 0; tries < 50; tries++)); do
		before=$(events "$1")
		"${@:3}"
		(($(events "$1") < before + $2)) || return 0
	done
	echo "never $2 $1 in one of $tries runs" >&2
	return 1
}

# OPCODE: packets of the RC transport with it (IBTA 9.2, table 38) are lost when they arrive, until that ends.
lose() { node-fault opcode "$(($1))"; }

lose_no_more() { node-fault opcode off; }

# -I|-D OPCODE: the rule by which soft RoCE cannot send packets of the RC transport with it, and is told so.
unsendable() { iptables -w "$1" OUTPUT -p udp --dport 4791 -m u32 --u32 "28>>24&0xFF=$(($2))" -j DROP; }

# OPCODE: it cannot, until that ends.
cannot_send() { unsendable -I "$1" && echo "$1" >/run/vqp/unsendable; }

can_send_again() {
	[[ ! -e /run/vqp/unsendable ]] || { unsendable -D "$(</run/vqp/unsendable)" && rm /run/vqp/unsendable; }
}

# OPCODE: so many are lost that the link fails, and its requests go on.
lose_until_failure() {
	local before
	before=$(events rc_failures)
	lose "$1"
	eventually more_than rc_failures "$before" || { lose_no_more; return 1; }
	lose_no_more
	goes_on
}

# The answers to READs are lost, and vqpt destroys its VQP: it has to wait until the link fails, and settles them.
destroyed_when_settled() {
	begin_probes 'p:vqp_test/settle vqp_segments_settle' 'r:vqp_test/destroyed vqp_destroy'
	lose 0x10
	pkill -TERM -x vqpt
	eventually not pgrep -x vqpt
	eventually links_down
	lose_no_more
	end_probes
	awk '
		/ settle: / { settled = 1 }
		/vqpt-.* destroyed: / { destroyed = 1; early = !settled }
		END { exit !settled || !destroyed || early }
		' /run/vqp/trace
}

# What there is of links and their windows: of the initiator's, the target's.
links_down() { (($(alive link) == 0 && $(alive rkey) == 0)); }
windows_open() { (($(alive window) > 0)); }
windows_closed() { (($(alive window) == 0)); }

# Messages are fetched.
is_pulled() { happens zcopy_messages; }

small_messages_are_not_fetched() {
	before=$(events zcopy_messages)
	inside vqp-a vqpt send 10.90.0.3 720 --bytes=64K --depth=16 --count=50 --sges=3
	inside vqp-a vqpt send 10.90.0.3 720 --bytes=1000 --depth=16 --count=50 --inline
	inside vqp-a vqpt send 10.90.0.3 720 --bytes=16383 --depth=16 --count=50
	(( $(events zcopy_messages) == before ))
}

# NAME COUNT: so many VQPs send a message from there; how many messages were fetched is in `fetched`.
storm() {
	local before
	before=$(events zcopy_messages)
	inside "$1" vqpt storm 10.90.0.3 720 --bytes=40 --count="$2" --depth=8
	fetched=$(($(events zcopy_messages) - before))
}

# Some of so many are fetched. The first of a process never are: their memory's windows are asked for meanwhile.
storm_fetches() {
	storm "$1" 32
	((fetched))
}

# Senders count whether or not their messages could be fetched, so that less than 256 may have been when no more is.
# While they wait for the link, others send than those that it must fetch from in the end.
at_most_256_senders() {
	local sum=0 tries
	box vqp-many 9 10.90.0.5
	box vqp-first 9 10.90.0.6
	eventually storm_fetches vqp-first
	for ((tries = 0; tries < 8; tries++)); do
		storm vqp-many 300
		echo "$fetched fetched"
		sum=$((sum + fetched))
		((fetched)) || break
	done
	((!fetched && 0 < sum && sum <= 256))
	eventually storm_fetches vqp-a
}

begin_fetches() {
	begin_probes 'p:vqp_test/fetch vqp_zcopy_recv' 'r:vqp_test/fetched vqp_zcopy_recv' 'p:vqp_test/lookup vqp_meta_route'
}

# No thread that was to fetch messages since begin_fetches has wanted to look an address up.
fetches_without_lookups() {
	end_probes
	awk '
		match($0, /-[0-9]+ +\[/) { thread = substr($0, RSTART, RLENGTH) }
		/ fetch: / { fetching[thread] = 1; fetches++ }
		/ fetched: / { fetching[thread] = 0 }
		/ lookup: / { lookups += fetching[thread] }
		END { print lookups + 0 " lookups in " fetches + 0 " fetches"; exit !fetches || lookups }
		' /run/vqp/trace
}
