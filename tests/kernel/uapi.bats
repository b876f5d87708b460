#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=nodes,heart,6-1,budget:240
# Bad input through /dev/vqp: each gives its errno or status, and changes
# nothing for anybody else. What runs on the nodes is in
# tests/kernel/uapi.bash.

bats_require_minimum_version 1.5.0
load ../lib/testbed

helpers=kernel/uapi.bash

setup_file() {
	vqp_up
	on 1 'box uapi-a 7 10.70.0.1; box uapi-b 7 10.70.0.2; box uapi-q 7 10.70.0.8'
	on 2 'box uapi-c 7 10.70.0.3'
	on 1 'known uapi-a 10.70.0.3'
	near="10.70.0.2 $(target 1 uapi-b 701)"
	far="10.70.0.3 $(target 2 uapi-c 701)"
	export near far
}

teardown_file() {
	on 1 remove_boxes && on 2 remove_boxes
}

# NODE BOX PORT [OPTION...]: start a server there that offers 4096 bytes; prints PORT KEY ADDR.
target() {
	on "$1" "serve $2 mem-server $3 --bytes=4096 ${*:4}"'; echo $port $key $addr'
}

# TARGET [CASE EXPECTED]...: what a node does for bad and its like, as a script
script() {
	local target=$1
	shift
	while (($# > 0)); do
		echo "bad uapi-a $1 '$2' $target"
		shift 2
	done
}

# [CASE EXPECTED]...: without a target; to this node (loop); to this and to the other node (dc)
bad() { on 1 "$(script '' "$@")"; }
bad_near() { on 1 "$(script "$near" "$@")"; }
bad_both() { on 1 "$(script "$near" "$@"; script "$far" "$@")"; }

# ---- calls as such ----

@test "open: no VQP namespace is ENONET" {
	on 1 'ip netns add uapi-none; [[ $(inside uapi-none vqpt bad open) == ENONET ]]'
}

@test "open: the host's own namespace is not for ordinary users (EPERM)" {
	on 1 '[[ $(setpriv --reuid=65534 --clear-groups vqpt bad open) == EPERM ]]'
}

@test "open: a context outlives its namespace, and says so (ESHUTDOWN)" {
	on 1 context_outlives_its_namespace
}

@test "ioctl: an unknown number is ENOTTY" { bad ioctl-unknown ENOTTY; }
@test "ioctl: another driver's number is ENOTTY" { bad ioctl-foreign ENOTTY; }
@test "ioctl: the wrong direction is ENOTTY" { bad ioctl-direction ENOTTY; }
@test "ioctl: an argument shorter than the first version is EINVAL" { bad size-short EINVAL; }
@test "ioctl: a longer argument with a zero tail is fine" { bad size-long OK; }
@test "ioctl: a longer argument with content in its tail is E2BIG" { bad size-long-with-content E2BIG; }
@test "ioctl: an unmapped argument is EFAULT" { bad argument-unmapped EFAULT; }
@test "ioctl: an argument that cannot be written is EFAULT, and nothing is done" { bad bind-readonly EFAULT; }
@test "ioctl: reserved fields, fields of the answer and unknown flags must be zero" {
	bad query-answered EINVAL \
		attach-reserved EINVAL \
		attach-flags EINVAL \
		cq-flags EINVAL \
		dereg-reserved EINVAL \
		destroy-reserved EINVAL \
		accept-reserved EINVAL
}

# ---- contexts and their namespace ----

@test "attach: before it a context takes questions, and nothing else (EUNATCH)" {
	bad unattached-query OK \
		unattached-call EUNATCH \
		unattached-mmap EUNATCH
}
@test "attach: without an address it is to the oldest namespace" { bad attach-any OK; }

@test "attach: to an address that the network namespace has not is EADDRNOTAVAIL, and attaches to nothing" {
	bad attach-nowhere EADDRNOTAVAIL
}

@test "attach: to the host's own namespace is not for who got the descriptor of an ordinary user (EPERM)" {
	bad attach-handed OK
	on 1 '[[ $(vqpt bad attach-handed) == EPERM ]]'
}
@test "attach: a context stays where it is (EISCONN)" { bad attach-late EISCONN attach-again OK; }

@test "attach: the oldest is that of those who do not ask; each has its own ports, and ends alone" {
	on 1 namespaces_of_one_netns
	on 2 'known uapi-c 10.70.0.21; inside uapi-c vqpt --count=3 send 10.70.0.21 710'
	on 1 namespaces_end_alone
}

@test "attach: all of a network namespace are of one tenant, and limits by network namespace are for each" {
	on 1 one_netns_one_tenant
}

# ---- memory ----

@test "memory: an empty region is EINVAL" { bad mr-empty EINVAL; }
@test "memory: a region that wraps around is EINVAL" { bad mr-wrap EINVAL; }
@test "memory: unknown rights are EINVAL" { bad mr-flags EINVAL; }
@test "memory: remote write without local write is EINVAL" { bad mr-remote-write-alone EINVAL; }
@test "memory: a hole in the region is EFAULT" { bad mr-unmapped EFAULT; }
@test "memory: write access to read-only memory is EFAULT" { bad mr-readonly-memory EFAULT; }
@test "memory: of files that are written back is EFAULT, but not private pages of them, nor a memfd" {
	bad mr-file-shared EFAULT \
		mr-file-private OK \
		mr-memfd-shared OK
}
@test "memory: more than RLIMIT_MEMLOCK is ENOMEM" { bad mr-memlock ENOMEM; }
@test "memory: a region far beyond RLIMIT_MEMLOCK is refused before it costs the kernel memory" {
	on 1 huge_region_costs_nothing
}
@test "memory: arenas do not count against RLIMIT_MEMLOCK" { bad mr-memlock-arena OK; }
@test "memory: arenas are at most 4 MiB, whole and shared" {
	bad arena-huge EINVAL \
		arena-offset EINVAL \
		arena-private EINVAL
}
@test "memory: the index of a key that has gone rests" { bad dereg-key-rests OK; }
@test "memory: deregistering an unknown key is ENOENT" { bad dereg-unknown ENOENT; }
@test "memory: deregistering twice is ENOENT" { bad dereg-twice ENOENT; }
@test "memory: deregistering another context's key is ENOENT" { bad dereg-foreign ENOENT; }

# ---- completion queues and VQPs ----

@test "CQ: no entries or too many are EINVAL" {
	bad cq-empty EINVAL \
		cq-huge EINVAL
}
@test "CQ: a ring is mapped whole, shared, and by its own context, or it is EINVAL" {
	bad ring-beyond EINVAL \
		ring-from-its-middle EINVAL \
		ring-private EINVAL \
		ring-of-another-context EINVAL \
		ring-of-no-cq EINVAL
}
@test "CQ: its descriptor cannot be mapped (ENODEV)" { bad ring-of-the-descriptor ENODEV; }
@test "mappings: a context goes with its descriptor, whatever is still mapped" { bad map-outlives-context OK; }
@test "mappings: each can be opened by map_files, as CRIU does" {
	on 1 mappings_can_be_opened
}
@test "CQ: destroying it under a VQP is EBUSY" { bad cq-destroy-in-use EBUSY; }
@test "VQP: a closed CQ descriptor is EBADF" { bad qp-without-cq EBADF; }
@test "VQP: a CQ descriptor that is no CQ is EINVAL" {
	bad qp-cq-is-a-file EINVAL \
		qp-cq-is-the-context EINVAL
}
@test "VQP: a CQ of another context is EINVAL" { bad qp-foreign-cq EINVAL; }
@test "VQP: queues and SGE lists beyond the limits are EINVAL" {
	bad qp-huge-queue EINVAL \
		qp-many-sges EINVAL \
		qp-sges-beyond-16-bits EINVAL
}
@test "VQP: unknown flags are EINVAL" { bad qp-flags EINVAL; }
@test "VQP: destroying an unknown one, or one twice, is ENOENT" {
	bad destroy-unknown ENOENT \
		destroy-twice ENOENT
}
@test "VQP: another context's VQP is ENOENT" {
	bad destroy-foreign ENOENT \
		post-foreign-vqp ENOENT
}
@test "VQP: querying an unknown one is ENOENT" { bad query-unknown ENOENT; }

# ---- bind, connect, accept ----

@test "bind: port 0 picks a free one" {
	on 1 'serve uapi-b mem-server 0; first=$port
		serve uapi-b mem-server 0; ((first > 0 && port > 0 && first != port))'
}
@test "bind: twice is EINVAL" { bad bind-twice EINVAL; }
@test "bind: a taken port is EADDRINUSE" { bad bind-taken EADDRINUSE; }
@test "bind: a port beyond 65535 is EINVAL" { bad bind-port-huge EINVAL; }
@test "bind: an unknown VQP is ENOENT" { bad bind-unknown ENOENT; }
@test "bind: a connected VQP is EINVAL" { bad bind-connected EINVAL; }
@test "connect: to nobody is EHOSTUNREACH" { bad connect-nobody EHOSTUNREACH; }
@test "connect: twice is EISCONN" { bad connect-twice EISCONN; }
@test "connect: a bound VQP is EINVAL" { bad connect-bound EINVAL; }
@test "connect: an unknown VQP is ENOENT" { bad connect-unknown ENOENT; }
@test "connect: port 0 or beyond 65535 is EINVAL" {
	bad connect-port-zero EINVAL \
		connect-port-huge EINVAL
}
@test "connect: another tenant's address does not exist (EHOSTUNREACH)" {
	on 1 "box uapi-other 8 10.70.0.1"
	run -1 --separate-stderr on 1 'inside uapi-other vqpt send 10.70.0.2 1'
	[ "$stderr" = "vqpt: connect to 10.70.0.2 port 1: EHOSTUNREACH" ]
	run -1 --separate-stderr on 1 'inside uapi-other vqpt send 10.70.0.3 1'
	[ "$stderr" = "vqpt: connect to 10.70.0.3 port 1: EHOSTUNREACH" ]
}
@test "accept: on a VQP that is not bound is EINVAL" { bad accept-unbound EINVAL; }
@test "accept: from an address nobody has is EHOSTUNREACH" { bad accept-nobody EHOSTUNREACH; }

# ---- posting: refused before anything is queued ----

@test "post: a VQP that is not connected is ENOTCONN" {
	bad post-unconnected ENOTCONN \
		post-bound ENOTCONN
}
@test "post: an unknown VQP is ENOENT" { bad post-unknown-vqp ENOENT; }
@test "post: no requests at all is EINVAL" { bad_near post-no-requests EINVAL; }
@test "post: a list shorter or longer than its requests is EINVAL" {
	bad_near post-truncated EINVAL \
		post-trailing EINVAL
}
@test "post: a list beyond the limit is EINVAL" { bad_near post-too-many-bytes EINVAL; }
@test "post: structs of a later version are fine while what they add is zero, and E2BIG else" {
	bad_both stride-long OK \
		stride-long-with-content E2BIG \
		stride-long-with-content-of-sge E2BIG
}
@test "post: structs shorter than the first version, not of whole words, or beyond the list are EINVAL" {
	bad_near stride-short EINVAL \
		stride-short-of-sge EINVAL \
		stride-odd EINVAL \
		stride-huge EINVAL
}
@test "post: flags of the list and its answer must be zero" {
	bad_near post-list-flags EINVAL \
		post-answered EINVAL
}
@test "post: an unmapped list is EFAULT" { bad_near post-unmapped EFAULT; }
@test "post: an unknown opcode is EINVAL" { bad_both post-opcode EINVAL; }
@test "post: unknown flags or reserved fields are EINVAL" {
	bad_near post-flags EINVAL \
		post-reserved EINVAL
	bad post-recv-reserved EINVAL
}
@test "post: more SGEs than the VQP was made for are EINVAL" {
	bad_near post-many-sges EINVAL \
		post-absurd-sges EINVAL
}
@test "post: inline data must be data to send, and within the limits" {
	bad_near post-inline-read EINVAL \
		post-inline-atomic EINVAL \
		post-inline-long EINVAL \
		post-inline-and-sges EINVAL
	bad post-inline-beyond-attr EINVAL
}
@test "post: an atomic brings 8 bytes, or is EINVAL" {
	bad_both post-atomic-short EINVAL \
		post-atomic-long EINVAL \
		post-atomic-into-nothing EINVAL
}
@test "post: a bad lkey is EACCES" {
	bad_both post-lkey EACCES
	bad post-recv-lkey EACCES
}
@test "post: another context's lkey is EACCES" { bad_near post-foreign-lkey EACCES; }
@test "post: the lkey of a deregistered region is EACCES" { bad_near post-deregistered EACCES; }
@test "post: a range outside of the region is EACCES" {
	bad_near post-range-beyond EACCES \
		post-range-before EACCES \
		post-range-wraps EACCES
}
@test "post: receiving or reading into read-only memory is EACCES" {
	bad post-recv-into-readonly EACCES
	bad_near post-read-into-readonly EACCES
}
@test "post: a message beyond 1 GiB is EMSGSIZE" { bad post-huge-message EMSGSIZE; }
@test "post: bad_wr names the bad request, and those before it are done" {
	bad_both post-third-of-four 'bad_wr=2 EACCES'
}
@test "post: a full send queue is ENOMEM" { bad post-send-queue-full 'posted=32 ENOMEM'; }
@test "post: a full receive queue is ENOMEM" { bad post-recv-queue-full 'bad_wr=32 ENOMEM'; }

# ---- limits of the namespace ----

# LIMITS [COMMAND]: with these on uapi-q, and no others, on node 1
limited() {
	on 1 "vqpctl ns set --netns uapi-q --max-vqps unlimited --max-mrs unlimited --max-bytes unlimited $1; $2"
}

@test "limits: VQPs stop exactly at their limit (EDQUOT), and one that goes makes room at once" {
	limited '--max-vqps 5' 'holds uapi-q "made=5 errno=EDQUOT again=OK" vqps --count=10'
}
@test "limits: regions stop exactly at their limit (EDQUOT), those of arenas too" {
	limited '--max-mrs 5' 'holds uapi-q "made=5 errno=EDQUOT again=OK" mrs --count=10
		holds uapi-q "made=5 errno=EDQUOT again=OK" mrs --count=10 --arena'
}
@test "limits: of 0 there is none at all, neither VQP nor region nor byte" {
	limited '--max-vqps 0' 'holds uapi-q "made=0 errno=EDQUOT again=OK" vqps'
	limited '--max-mrs 0' 'holds uapi-q "made=0 errno=EDQUOT again=OK" mrs'
	limited '--max-bytes 0' 'holds uapi-q "made=0 errno=EDQUOT again=OK" arenas'
}
@test "limits: a region counts with the pages it pins" {
	limited '--max-bytes 40K' 'holds uapi-q "made=5 errno=EDQUOT again=OK" mrs --count=20 --bytes=8K
		holds uapi-q "made=10 errno=EDQUOT again=OK" mrs --count=20 --bytes=1'
}
@test "limits: an arena counts from its mapping on, and regions in it do not" {
	limited '--max-bytes 40K' 'holds uapi-q "made=5 errno=EDQUOT again=OK" arenas --count=20 --bytes=8K
		holds uapi-q "made=20 errno=OK again=OK" mrs --count=20 --bytes=40K --arena'
}
@test "limits: a region or an arena larger than the limit is EDQUOT" {
	limited '--max-bytes 40K' 'holds uapi-q "made=0 errno=EDQUOT again=OK" mrs --bytes=44K
		holds uapi-q "made=0 errno=EDQUOT again=OK" arenas --bytes=44K'
}
@test "limits: VQPs that answer senders count" {
	limited '--max-vqps 1' 'bad uapi-q accept-nobody EDQUOT'
}
@test "limits: what is refused leaves nothing" {
	limited '--max-vqps 5 --max-mrs 5 --max-bytes 40K' 'before=$(census)
		inside uapi-q vqpt hold vqps --count=10
		inside uapi-q vqpt hold mrs --count=10
		inside uapi-q vqpt hold mrs --count=10 --bytes=20K
		inside uapi-q vqpt hold arenas --count=10 --bytes=20K
		eventually census_is "$before"
		vqpctl ns list --json | jq -e ".[] | select(.name == \"uapi-q\") | .vqps + .mrs + .pinned_bytes == 0"'
}
@test "limits: what a killed process had is free again" {
	limited '--max-vqps 5 --max-mrs 5 --max-bytes 40K' 'for what in vqps mrs arenas; do
			serve uapi-q hold $what --count=5 --bytes=8K
			holds uapi-q "made=0 errno=EDQUOT again=OK" $what --bytes=8K
			kill -9 "$pid"
			eventually holds uapi-q "made=5 errno=EDQUOT again=OK" $what --count=10 --bytes=8K
		done'
}
@test "limits: processes that fill a namespace at once get exactly the limit together" {
	limited '--max-vqps 3000' 'for i in {1..4}; do (serve uapi-q hold vqps --count=1000; echo "$pid" >"/run/hold-$i") & done
		wait
		vqpctl ns list --json | jq -e ".[] | select(.name == \"uapi-q\") | .vqps == 3000"
		kill $(cat /run/hold-[1-4])
		eventually eval "! in_use uapi-q"'
}
@test "limits: one that is lowered below what is used takes nothing away" {
	limited '' 'serve uapi-q hold vqps --count=5; holder=$pid
		serve uapi-q mem-server 702 --bytes=64K
		used() { vqpctl ns list --json | jq -c ".[] | select(.name == \"uapi-q\") | [.vqps, .mrs, .pinned_bytes]"; }
		before=$(used)
		vqpctl ns set --netns uapi-q --max-vqps 1 --max-mrs 1 --max-bytes 1
		[[ $(used) == "$before" ]]
		holds uapi-q "made=0 errno=EDQUOT again=OK" mrs
		inside uapi-a vqpt read 10.70.0.8 702 "$key" "$addr" --bytes=64K
		kill "$holder" "$pid"
		eventually holds uapi-q "made=1 errno=EDQUOT again=OK" vqps --count=5'
}
@test "limits: one that is raised or lifted lets more be made" {
	limited '--max-vqps 5' 'serve uapi-q hold vqps --count=5
		vqpctl ns set --netns uapi-q --max-vqps 7
		holds uapi-q "made=2 errno=EDQUOT again=OK" vqps --count=10
		vqpctl ns set --netns uapi-q --max-vqps unlimited
		holds uapi-q "made=10 errno=OK again=OK" vqps --count=10
		kill "$pid"'
}
@test "limits: of one namespace are none of another's" {
	limited '--max-vqps 1 --max-mrs 1 --max-bytes 1' 'holds uapi-a "made=10 errno=OK again=OK" vqps --count=10
		holds uapi-a "made=10 errno=OK again=OK" mrs --count=10'
}

# ---- what only the target can refuse ----

@test "target: good requests succeed" {
	bad_both wc-write OK \
		wc-read OK \
		wc-send OK
}
@test "target: a bad rkey is REM_ACCESS_ERR" {
	bad_both wc-write-rkey REM_ACCESS_ERR \
		wc-read-rkey REM_ACCESS_ERR
}
@test "target: a range outside of the region is REM_ACCESS_ERR" {
	bad_both wc-write-beyond REM_ACCESS_ERR \
		wc-read-beyond REM_ACCESS_ERR \
		wc-write-before REM_ACCESS_ERR \
		wc-read-wraps REM_ACCESS_ERR
}
@test "target: writing to a read-only region is REM_ACCESS_ERR" {
	near="10.70.0.2 $(target 1 uapi-b 704 --access=4)"
	far="10.70.0.3 $(target 2 uapi-c 704 --access=4)"
	bad_both wc-write REM_ACCESS_ERR
}
@test "target: reading from a write-only region is REM_ACCESS_ERR" {
	near="10.70.0.2 $(target 1 uapi-b 703 --access=3)"
	far="10.70.0.3 $(target 2 uapi-c 703 --access=3)"
	bad_both wc-read REM_ACCESS_ERR
}
@test "target: an atomic needs a region that allows it, or is REM_ACCESS_ERR" {
	bad_both wc-atomic REM_ACCESS_ERR
	near="10.70.0.2 $(target 1 uapi-b 705 --access=9)"
	far="10.70.0.3 $(target 2 uapi-c 705 --access=9)"
	bad_both wc-atomic OK \
		wc-atomic-rkey REM_ACCESS_ERR \
		wc-atomic-beyond REM_ACCESS_ERR
}
@test "target: an atomic that is not aligned is REM_INV_REQ_ERR" {
	near="10.70.0.2 $(target 1 uapi-b 706 --access=9)"
	far="10.70.0.3 $(target 2 uapi-c 706 --access=9)"
	bad_both wc-atomic-unaligned REM_INV_REQ_ERR
}
@test "target: a port nobody has bound is REM_INV_REQ_ERR" {
	near='10.70.0.2 9 0 0' far='10.70.0.3 9 0 0'
	bad_both wc-send REM_INV_REQ_ERR
}
@test "target: a message longer than the receive is REM_INV_REQ_ERR" { bad_both wc-send-long REM_INV_REQ_ERR; }

@test "error: a VQP that has failed refuses posts (EIO)" { bad_both then-post EIO; }
@test "error: a VQP that has failed says so" { bad_both then-state 'state=3 OK'; }
@test "error: receives of a failed VQP are flushed" { bad_both then-receives WR_FLUSH_ERR; }
@test "error: requests behind the bad one are flushed" { bad_both then-list WR_FLUSH_ERR; }
@test "error: another VQP on the same CQs goes on" { bad_both then-neighbour OK; }
@test "error: a message that does not fit leaves the receive to the next sender" { bad then-next-sender OK; }
@test "VQP: destroying it ends what other VQPs write to its receives" { bad destroy-while-receiving OK; }
@test "error: a CQ that overflows fails the VQP, and polls as POLLERR" {
	bad_both cq-overflow 'POLLERR state=3 OK'
}

# ---- 32-bit programs ----

@test "32 bit: whatever is done wrong, a 32-bit program is told the same" {
	on 1 'same_for_32_bit '"$far"
}

@test "32 bit: messages, READs and WRITEs" {
	local memory
	memory="10.70.0.3 $(target 2 uapi-c 780)"
	on 2 'serve uapi-c echo-server 779 --bytes=2000'
	on 1 'inside uapi-b "$vqpt32" send 10.70.0.3 779 --bytes=2000 --count=100'
	on 1 "inside uapi-a \"\$vqpt32\" read $memory --bytes=4096
		inside uapi-a \"\$vqpt32\" write $memory --bytes=4096"
}

@test "nobody else notices: traffic goes on through every bad case" {
	on 2 'serve uapi-c echo-server 777 --bytes=2000'
	on 1 'serve uapi-b send 10.70.0.3 777 --bytes=2000 --count=100000000
		every_bad_case '"$far"'
		kill "$pid"
		inside uapi-b vqpt send 10.70.0.3 777 --bytes=2000 --count=100'
}

# CASE EXPECTED: one thing done wrong to the netlink family, from the initial network namespace
bad_netlink() { on 1 "[[ \$(vqpt bad $1) == $2 ]]"; }

@test "netlink: a command without attributes is carried out" { bad_netlink nl-plain OK; }
@test "netlink: reserved bytes of the header are EINVAL" { bad_netlink nl-reserved-bytes EINVAL; }
@test "netlink: reserved flags of the header are EINVAL" { bad_netlink nl-reserved-flags EINVAL; }
@test "netlink: another command's attribute is EINVAL" { bad_netlink nl-foreign-attr EINVAL; }
@test "netlink: an attribute of a dump that takes none is EINVAL" { bad_netlink nl-foreign-attr-of-dump EINVAL; }
@test "netlink: a command that there is not is EOPNOTSUPP" { bad_netlink nl-no-command EOPNOTSUPP; }
@test "netlink: a del of another netns's or of another name's is ENOENT, and deletes nothing" {
	on 1 'box doomed 9 10.90.9.1'
	bad_netlink nl-del-other-netns ENOENT
	bad_netlink nl-del-no-netns ERANGE
	bad_netlink nl-del-other-name ENOENT
	bad_netlink nl-del-condition-alone EINVAL
	bad_netlink nl-del-name OK
	bad_netlink nl-del-name ENOENT
	on 1 'ip netns del doomed'
}
@test "netlink: rules of sockets are whole, no more than 64, and come with sockets that are on" {
	bad_netlink nl-rules ENOENT
	bad_netlink nl-rules-too-many E2BIG
	bad_netlink nl-rules-alone EINVAL
	bad_netlink nl-rules-of-off EINVAL
	bad_netlink nl-sockets-2 ERANGE
	bad_netlink nl-rule-prefix ENOENT
	bad_netlink nl-rule-empty EINVAL
	bad_netlink nl-rule-both EINVAL
	bad_netlink nl-rule-backwards EINVAL
	bad_netlink nl-rule-port-0 ERANGE
	bad_netlink nl-rule-port-65536 ERANGE
	bad_netlink nl-rule-prefix-129 ERANGE
}
