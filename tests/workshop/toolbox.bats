#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=long,budget:150
# The toolbox and the cache: what goes in and out, and what is left when something goes wrong. A stand-in for
# mmdebstrap makes roots of busybox, since the real one takes a minute; `make test-hosts` has the real one.

bats_require_minimum_version 1.5.0
load ../lib/expect

setup()
{
	top=$(realpath "$BATS_TEST_DIRNAME/../..")
	stub=$BATS_TEST_TMPDIR/stub
	export VQP_CACHE=$BATS_TEST_TMPDIR/cache PATH=$stub:$PATH
	# these tests run in a toolbox; the scripts that they call are to find that out for themselves
	unset VQP_TOOLBOX
	mkdir "$stub"
	# the environment does not reach it: what it is to do is said by files beside it
	cat >"$stub/mmdebstrap" <<-END
		#!/bin/bash
		stub=$stub output=\${@: -2:1}
		echo "\$output" >>"\$stub/made"
		for number in {3..9}; do [[ ! -e /proc/self/fd/\$number ]] || echo "\$number"; done >"\$stub/descriptors"
		mkdir -p "\$output"/{dev,etc,mnt,proc,root,sys,tmp,usr/{bin,sbin},var/lib/dpkg}
		[[ ! -e \$stub/full ]] || head -c 1G /dev/zero >"\$output/file" || exit
		[[ ! -e \$stub/slow ]] || sleep 300
		[[ ! -e \$stub/takes ]] || sleep "\$(<"\$stub/takes")"
		ln -s usr/bin "\$output/bin"
		for name in \$(/bin/busybox --list); do ln -sf busybox "\$output/usr/bin/\$name"; done
		cp --remove-destination /bin/busybox "\$output/usr/bin/"
		echo whole >"\$output/etc/whole"
	END
	chmod +x "$stub/mmdebstrap"
}

teardown()
{
	! mountpoint -q "$VQP_CACHE" || umount "$VQP_CACHE"
}

toolbox()
{
	"$top/testbed/toolbox" build "$@"
}

# fails STATUS TEXT... -- COMMAND...: it does, and says each TEXT
fails()
{
	local expected=$1 texts=() text
	shift
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	run "${@:2}"
	echo "$output"
	[ "$status" -eq "$expected" ]
	for text in "${texts[@]}"; do
		[[ $output == *"$text"* ]]
	done
}

# nothing_made: there is nothing in the cache that one might take for an entry
nothing_made()
{
	[[ ! $(find "$VQP_CACHE" -mindepth 1 -maxdepth 1 -type d ! -name go) ]]
}

no_process()
{
	! pgrep -f "$1" >/dev/null
}

# ---- what is asked for ----

@test "what there is not is no reason to make anything" {
	fails 2 "Usage: toolbox" -- "$top/testbed/toolbox" nonsense true
	fails 2 "Usage: toolbox" -- "$top/testbed/toolbox" build
	export VQP_TOOLBOX=build
	fails 125 "image: one of bookworm trixie current" -- "$top/testbed/testbed" image sid
	fails 125 "kernels: one of 6.1 6.12 newest debug" -- "$top/testbed/testbed" kernels 5.4
	fails 125 "--kernel: one of" -- "$top/testbed/testbed" up --kernel 5.4
	# what modules are only built for is no kernel for nodes
	fails 125 "--kernel: one of 6.1 6.12 newest debug" -- "$top/testbed/testbed" up --kernel 6.1-arm64
	fails 125 "--image: one of" -- "$top/testbed/testbed" up --image sid
	fails 125 "newest debug 6.1-oldest" -- "$top/testbed/testbed" kernels 6.12-oldest
	fails 125 "build: one of" -- "$top/testbed/testbed" build 5.4 true
	[ ! -e "$VQP_CACHE" ]
}

@test "exit status and signals pass through" {
	toolbox true
	fails 7 -- toolbox sh -c 'exit 7'
	fails 143 -- toolbox sh -c 'kill -TERM $$'
	run -127 toolbox /no/such/program
}

@test "a signal for the toolbox ends what runs in it" {
	local pid
	toolbox true
	"$top/testbed/toolbox" build sleep 4711 &
	pid=$!
	# itself, and not the script that is to become it
	within 10 pgrep -x -f 'sleep 4711'
	ends_by TERM 143 "$pid"
	within 10 no_process 'sleep 4711'
}

@test "of this machine's environment only what is for this project comes in" {
	toolbox true
	CC=false CFLAGS=-nonsense LIBRARY_PATH=/nowhere LD_LIBRARY_PATH=/nowhere PERL5LIB=/nowhere MAKEFLAGS=k TMPDIR=/nowhere \
		KERNEL=6.12 VQP_SOMETHING='two words' https_proxy=http://proxy run toolbox env
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ! $output =~ nonsense|nowhere|(^|$'\n')(CC|MAKEFLAGS)= ]]
	[[ $output == *"VQP_SOMETHING=two words"* && $output == *KERNEL=6.12* && $output == *https_proxy=http://proxy* ]]
}

@test "descriptors that the caller has left open do not reach mmdebstrap, whose shell knows few" {
	toolbox true 3</dev/null 4</dev/null 5</dev/null 6</dev/null 7</dev/null 8</dev/null 9</dev/null
	[ -e "$stub/descriptors" ]
	[ ! -s "$stub/descriptors" ]
}

@test "what is written in the toolbox is gone afterwards, but for source tree and cache" {
	local there file files=({/etc,/root,/var/tmp,/opt/new}/vqp-was-here)
	toolbox sh -c "mkdir -p /opt/new && touch ${files[*]} && ls ${files[*]}"
	for file in "${files[@]}"; do
		[ ! -e "$file" ]
		fails 1 -- toolbox test -e "$file"
	done
	for file in {/usr,/etc/apt,/var/lib/apt/lists,/var/lib/dpkg}/vqp-was-here; do
		fails 1 "Read-only" -- toolbox touch "$file"
	done
	there=$(mktemp -u "$top/build/vqp-was-here.XXXXXX")
	toolbox sh -c "touch $there $VQP_CACHE/vqp-was-here"
	rm "$there" "$VQP_CACHE/vqp-was-here"
}

# ---- where the cache and the tree are ----

# cache_of VARIABLE=VALUE...: where the cache is with only these
cache_of()
{
	env -i PATH="$PATH" "$@" bash -uc "cd / && source '$top/testbed/lib/common.bash' && source '$top/testbed/lib/cache.bash' && echo \$cache"
}

# TEXT COMMAND...: it says so to a user whose home has a key for ssh
at_home()
{
	run env HOME="$BATS_TEST_TMPDIR/home" "${@:2}"
	echo "$output"
	[[ $output == *"$1"* ]]
}

@test "keys for ssh come in if nodes are real machines, for reading" {
	local tree=$BATS_TEST_TMPDIR/tree
	# a tree without testbeds of real machines, which another suite may have just now
	mkdir -p "$tree" "$BATS_TEST_TMPDIR/home/.ssh"
	cp -r "$top/testbed" "$tree/"
	unset HOSTS VQP_SSH_CONFIG
	echo secret >"$BATS_TEST_TMPDIR/home/.ssh/key"
	at_home "No such file" "$tree/testbed/toolbox" build cat "$BATS_TEST_TMPDIR/home/.ssh/key" /root/.ssh/key
	[[ $output != *secret* ]]
	at_home secret env HOSTS="a b" "$tree/testbed/toolbox" build cat /root/.ssh/key
	at_home "Read-only file system" env HOSTS="a b" "$tree/testbed/toolbox" build sh -c 'echo mine >/root/.ssh/key'
	[ "$(<"$BATS_TEST_TMPDIR/home/.ssh/key")" = secret ]
}

@test "the cache is where the environment says, or where the user is at home" {
	[ "$(cache_of HOME=/a XDG_CACHE_HOME=/b VQP_CACHE=/c)" = /c ]
	[ "$(cache_of HOME=/a XDG_CACHE_HOME=/b)" = /b/vqp ]
	[ "$(cache_of HOME=/a)" = /a/.cache/vqp ]
	[ "$(cache_of)" = "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/vqp" ]
	[ "$(cache_of VQP_CACHE=relative)" = /relative ]
}

@test "the cache may be a symbolic link, and on another file system" {
	mkdir "$BATS_TEST_TMPDIR/other"
	mount -t tmpfs -o size=100m,nosuid,nodev other "$BATS_TEST_TMPDIR/other"
	ln -s other "$VQP_CACHE"
	toolbox sh -c "touch $BATS_TEST_TMPDIR/other/written"
	ls "$BATS_TEST_TMPDIR/other"
	[ -e "$BATS_TEST_TMPDIR/other/written" ]
	umount "$BATS_TEST_TMPDIR/other"
}

@test "a path that make or QEMU would not understand is refused" {
	local tree="$BATS_TEST_TMPDIR/two words"
	mkdir "$tree"
	cp -r "$top/testbed" "$top/Makefile" "$tree"
	fails 125 "has a character that" "two words" -- "$tree/testbed/toolbox" build true
	fails 2 "path has a blank in it" -- make -C "$tree" demo
	VQP_CACHE=$BATS_TEST_TMPDIR/a,b fails 125 "has a character that" -- "$top/testbed/toolbox" build true
	[ ! -e "$VQP_CACHE" ]
}

@test "without root and what it takes to do without, the command to run is printed" {
	local tree
	! command -v newuidmap || skip "this toolbox has newuidmap"
	# where everybody can read
	tree=$(mktemp -d /tmp/vqp-tree.XXXXXX)
	chmod 755 "$tree"
	cp -r "$top/testbed" "$tree"
	fails 125 "as root: apt-get update && apt-get install --no-install-recommends uidmap mmdebstrap" -- \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$tree/testbed/toolbox" build true
	rm -rf "$tree"
	[ ! -e "$VQP_CACHE" ]
}

# ---- what goes wrong ----

@test "a cache that becomes full while something is made is said to be, and nothing of it is kept" {
	touch "$stub/full"
	mkdir "$VQP_CACHE"
	mount -t tmpfs -o size=8m cache "$VQP_CACHE"
	fails 125 "$VQP_CACHE: its file system is full" "VQP_CACHE=DIRECTORY" -- toolbox true
	nothing_made
}

@test "a cache that is full is said to be" {
	mkdir "$VQP_CACHE"
	mount -t tmpfs -o size=1m,nr_inodes=2 cache "$VQP_CACHE"
	touch "$VQP_CACHE/file"
	fails 125 "$VQP_CACHE: its file system is full" -- toolbox true
}

@test "a cache that cannot be written is said to be" {
	mkdir "$VQP_CACHE"
	mount -t tmpfs -o ro cache "$VQP_CACHE"
	fails 125 "cannot be written" "VQP_CACHE=DIRECTORY" -- toolbox true
	VQP_CACHE=/proc/nowhere fails 125 "no cache at /proc/nowhere" -- toolbox true
}

# mirror ADDRESS: this machine's packages come from there, and by Debian's own program
mirror()
{
	rm "$stub/mmdebstrap"
	mkdir -p "$stub"/apt/{sources,lists/partial}
	echo "deb $1/debian bookworm main" >"$stub/apt/sources/debian.list"
	cat >"$stub/apt/conf" <<-END
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$stub/apt/sources";
		Dir::State::lists "$stub/apt/lists";
	END
	export APT_CONFIG=$stub/apt/conf VQP_MIRROR_TIMEOUT=1
}

@test "a mirror that refuses is named" {
	mirror http://127.0.0.1:1
	fails 125 "packages come from http://127.0.0.1:1/debian" "nothing of it is kept" -- toolbox true
	nothing_made
}

@test "a mirror that says nothing is given up in time, and named" {
	local pid start=$SECONDS
	socat TCP-LISTEN:4712,bind=127.0.0.1,fork,reuseaddr EXEC:'sleep 300' &
	pid=$!
	mirror http://127.0.0.1:4712
	fails 125 "packages come from http://127.0.0.1:4712/debian" "given up after 1 s without an answer, 3 times a release" -- toolbox true
	kill "$pid"
	pkill -f 'sleep 300' -P "$pid" || true
	echo "$((SECONDS - start)) s"
	((SECONDS - start < 60))
	nothing_made
}

# making: until $pid is ended, the toolbox is
making()
{
	touch "$stub/slow"
	rm -f "$stub/made"
	# what bash starts beside itself would ignore SIGINT
	env --default-signal=INT "$top/testbed/toolbox" build true 2>"$BATS_TEST_TMPDIR/said" &
	pid=$!
	within 10 test -s "$stub/made"
}

# interrupted SIGNAL STATUS: while it is made
interrupted()
{
	local pid
	making
	ends_by "$1" "$2" "$pid"
	within 10 no_process "$stub/mmdebstrap"
	rm "$stub/slow"
}

made_whole()
{
	[ "$(toolbox cat /etc/whole)" = whole ]
	[ "$(find "$VQP_CACHE" -mindepth 1 -maxdepth 1 -name 'toolbox-build*' -type d | wc -l)" -eq 1 ]
	rm -rf "$VQP_CACHE"
}

@test "after Ctrl-C nothing is left, and the next run makes it whole" {
	interrupted INT 130
	nothing_made
	made_whole
}

@test "after SIGTERM nothing is left, and the next run makes it whole" {
	interrupted TERM 143
	nothing_made
	made_whole
}

@test "what does not heed SIGTERM is ended, too" {
	sed -i '2i trap "" TERM' "$stub/mmdebstrap"
	interrupted TERM 143
	nothing_made
	made_whole
}

@test "after SIGKILL nothing goes on, and the next run makes it whole" {
	interrupted KILL 137
	made_whole
}

@test "two runs at once make one entry once" {
	local pid
	echo 2 >"$stub/takes"
	"$top/testbed/toolbox" build cat /etc/whole >"$BATS_TEST_TMPDIR/first" &
	pid=$!
	within 10 test -s "$stub/made"
	run --separate-stderr toolbox cat /etc/whole
	[ "$output" = whole ]
	[[ $stderr == *"waiting for another run"* ]]
	wait "$pid"
	[ "$(<"$BATS_TEST_TMPDIR/first")" = whole ]
	[ "$(wc -l <"$stub/made")" -eq 1 ]
}

# ---- what is kept ----

# entry NUMBER [COMMAND]: have that one of "thing", in a process of its own, which then runs COMMAND
entry()
{
	bash -uc "for part in common cache root; do source '$top/testbed/lib/'\$part.bash; done
		make_thing() { touch \"\$1/file\"; }
		cache_ensure thing \"$(printf '%016d' "$1")\" make_thing
		${2-}"
}

# hold NUMBER: until $holder is ended
hold()
{
	entry "$1" "cache_hold \"\$entry\"; echo \$\$ >'$BATS_TEST_TMPDIR/holder'; exec sleep 300" &
	within 10 test -s "$BATS_TEST_TMPDIR/holder"
	holder=$(<"$BATS_TEST_TMPDIR/holder")
}

kept()
{
	find "$VQP_CACHE" -mindepth 1 -maxdepth 1 -type d | sed 's/.*-0*//' | sort -n | xargs
}

@test "of each name the two used last are kept, and what is in use" {
	local holder
	hold 1
	sleep 0.1
	entry 2
	sleep 0.1
	entry 3
	[ "$(kept)" = '1 2 3' ]
	entry 4
	[ "$(kept)" = '1 3 4' ]
	sleep 0.1
	# used, though nothing is made
	entry 3
	kill "$holder"
	wait || true
	entry 5
	[ "$(kept)" = '3 5' ]
}

@test "what was being removed when its remover was killed is not taken for whole" {
	entry 1
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\n/bin/rm -f %s/thing-*/file %s/thing-*.gone/file\nkill -KILL $PPID\n' "$VQP_CACHE" "$VQP_CACHE" \
		>"$BATS_TEST_TMPDIR/bin/rm"
	chmod +x "$BATS_TEST_TMPDIR/bin/rm"
	run bash -uc "for part in common cache root; do source '$top/testbed/lib/'\$part.bash; done
		PATH=$BATS_TEST_TMPDIR/bin:\$PATH
		cache_clear"
	[ "$status" -eq 137 ]
	entry 1 '[ -e "$entry/file" ]'
	[ "$(kept)" = 1 ]
}

@test "a toolbox is in use for as long as a command runs in it" {
	local tool
	toolbox true
	tool=$(echo "$VQP_CACHE"/toolbox-build-*)
	toolbox sh -c "touch $VQP_CACHE/inside; sleep 300" &
	within 10 test -e "$VQP_CACHE/inside"
	run ! flock -n "$tool" true
	pkill -P $! || kill $!
	wait || true
	flock -n "$tool" true
}

@test "what is in use is not cleared" {
	local holder
	hold 1
	entry 2
	VQP_TOOLBOX=build run "$top/testbed/testbed" cache clear
	kill "$holder"
	[[ $output == *"0000000000000001 is in use"* ]]
	[ "$(kept)" = 1 ]
}

@test "what is being made is not cleared, but what was left of it is" {
	local pid
	making
	VQP_TOOLBOX=build run "$top/testbed/testbed" cache clear
	[[ $output == *"toolbox-build.new is in use"* ]]
	[ -d "$VQP_CACHE/toolbox-build.new" ]
	ends_by KILL 137 "$pid"
	# what it had started to wait with has the lock for a moment longer
	cleared() { VQP_TOOLBOX=build "$top/testbed/testbed" cache clear; [ ! -e "$VQP_CACHE/toolbox-build.new" ]; }
	within 10 cleared
}

# ---- where packages come from ----

mirrors()
{
	bash -uc "for part in common cache root debian; do source '$top/testbed/lib/'\$part.bash; done; debian_sources bookworm bookworm-security" |
		sed 's/ \[[^]]*\]//'
}

@test "other vendors' sources are not taken for Debian's" {
	local expected
	expected='deb http://mirror.example/debian/ bookworm main
deb http://mirror.example/security/debian-security/ bookworm-security main'
	mirror http://mirror.example
	printf 'deb http://mirror.example/%s main\n' 'debian bookworm-updates' 'security/debian-security bookworm-security' >>"$stub/apt/sources/debian.list"
	cat >"$stub/apt/sources/others.list" <<-END
		deb [signed-by=/usr/share/keyrings/a.gpg] http://a.example/linux/debian bookworm stable
		deb [signed-by=/usr/share/keyrings/b.gpg] http://b.example/builds/debian bookworm main
		deb cdrom:[Debian GNU/Linux 12]/ bookworm main
	END
	diff <(mirrors) <(echo "$expected")
	# with package lists it is said who made them
	cat >"$stub/apt-get" <<-'END'
		#!/bin/sh
		cat <<EOF
		http://a.example/debian/ bookworm Somebody
		http://b.example/debian/ bookworm-backports Debian Backports
		http://mirror.example/debian/ bookworm Debian
		http://mirror.example/security/debian-security/ bookworm-security Debian
		EOF
	END
	chmod +x "$stub/apt-get"
	diff <(mirrors) <(echo "$expected")
}
