# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/apps.bats does on a node: programs of Debian in boxes, each of which has a root of its own for them.
# Sourced there.
#
# NAME_serves     has servers in the box $box at the address $at, and waits until they take connections
# NAME_asks       uses those at the address $to, from the box $box, and prints what is the same by whatever connections

# shellcheck source=tests/sock/sockets.bash
source /vqp/tests/sock/sockets.bash

roots=/run/apps

# ---- Boxes and their roots ----

# NAME: the network namespace gets a root: what the applications' disk has, and what they write
rooted() {
	local root=$roots/$1 own=/var/lib/apps/$1

	mkdir -p "$roots/disk" "$root" "$own"/{upper,work}
	mountpoint -q "$roots/disk" || mount -o ro LABEL=vqp-apps "$roots/disk"
	mount -t overlay apps "$root" -o "lowerdir=$roots/disk,upperdir=$own/upper,workdir=$own/work"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	chmod 1777 "$root/tmp"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
}

# NAME...: programs there get no sockets of vqp
off() {
	local name
	for name; do
		vqpctl ns set --netns "/run/netns/$name" --sockets off
	done
}

# COMMAND...: in the box $box, with its root
app() {
	inside "$box" chroot "$roots/$box" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# USER COMMAND...: in the box $box, in the background, with its output in a log
server() {
	app setsid -f setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}" </dev/null >>"/run/vqp/app-$box.log" 2>&1
}

# PORT: somebody listens there in the box $box
listening() { within 120 eval "inside $box ss -Hltn 'sport = :$1' | grep -q ."; }

# the processes that have such a root
app_processes() {
	local process
	for process in /proc/[0-9]*; do
		[[ $(readlink "$process/root") != "$roots"/* ]] || echo "${process##*/}"
	done
}

app_none() { [[ ! $(app_processes) ]]; }

# Nothing of them is left, neither processes nor sockets.
apps_end() {
	local pids root

	pids=$(app_processes)
	# shellcheck disable=SC2086 # words
	[[ ! $pids ]] || kill -9 $pids 2>/dev/null || true
	within 60 app_none
	within 60 streams_gone
	for root in "$roots"/*/; do
		umount -R "$root"
	done
	rm -rf /var/lib/apps
}

streams_gone() { [[ "$(alive sock) $(alive stream) $(alive chunk)" == "0 0 0" ]]; }

# COMMAND...: that, while the box is called localhost, whose address is $to, so that what has both ends there does not
# go by the loopback device
to_itself() {
	echo "$to localhost" >"$roots/$box/etc/hosts"
	"$@"
	echo '127.0.0.1 localhost' >"$roots/$box/etc/hosts"
}

# NAME ADDRESS APPLICATION...: they are there
serve_apps() {
	local box=$1 at=$2 application
	for application in "${@:3}"; do
		"${application}_serves"
	done
}

# ---- What is compared ----

# how many sockets of this node have become "near far TCP"
kinds_now() {
	vqpctl status --json | jq -r '[.counters[] | {key: .name, value}] | from_entries | "\(.sock_near) \(.sock_far) \(.sock_tcp)"'
}

# those that have connections by the loopback device besides, which are of TCP
declare -A loops=([redis_tests]=1 [python]=1 [go]=1)

# KIND NEAR FAR TCP: there are sockets of that kind, and of no other
all_of_kind() {
	case $1 in
	none) (($2 + $3 + $4 == 0)) ;;
	near) (($2 > 0 && $3 + $4 == 0)) ;;
	# A node that is slow to answer is connected to by TCP.
	far) (($3 > $4 && $2 == 0)) ;;
	TCP) (($4 > 0 && $2 + $3 == 0)) ;;
	esac
}

# APPLICATION BOX ADDRESS KIND: use it from there; the sockets that vqp has given for that are of that kind
asks() {
	local box=$2 to=$3 kind=$4 begin=$SECONDS before now said=/run/vqp/$1-$2-$3

	read -ra before <<<"$(kinds_now)"
	# in a shell of its own, which the first command that fails ends
	bash -c 'source /vqp/tests/sock/apps.bash; box=$2 to=$3; "$1_asks"' bash "$1" "$box" "$to" >"$said" 2>"$said.log" ||
		{ tail -n 40 "$said" "$said.log"; return 1; }
	read -ra now <<<"$(kinds_now)"
	set -- "$1" $((now[0] - before[0])) $((now[1] - before[1])) $((now[2] - before[2]))
	echo "$1, from $box to $to in $((SECONDS - begin)) s: near $2, far $3, TCP $4"
	[[ -s $said ]] || { echo "and it said nothing"; return 1; }
	[[ ! ${loops[$1]-} || $kind != @(near|far) ]] || set -- "${@:1:3}" 0
	all_of_kind "$kind" "${@:2}" || { echo "these are not $kind"; return 1; }
}

# APPLICATION BOX ADDRESS BOX ADDRESS: it said the same both times
same() { diff "/run/vqp/$1-$2-$3" "/run/vqp/$1-$4-$5"; }

# APPLICATION: by TCP and by vqp, with the server on this node, on the other, and where there is no vqp; all of it is
# tried
compared() {
	local status=0

	asks "$1" near-plain 10.95.1.5 none || status=1
	asks "$1" near 10.95.1.3 near && same "$1" near-plain 10.95.1.5 near 10.95.1.3 || status=1
	asks "$1" near-plain 10.95.2.3 none || status=1
	asks "$1" near 10.95.2.2 far && same "$1" near-plain 10.95.2.3 near 10.95.2.2 || status=1
	asks "$1" near 10.95.2.3 TCP && same "$1" near-plain 10.95.2.3 near 10.95.2.3 || status=1
	return "$status"
}

# APPLICATION: by TCP and by vqp, where both ends are in one box
compared_within() {
	local status=0

	asks "$1" near-plain 10.95.1.4 none || status=1
	asks "$1" near 10.95.1.2 near && same "$1" near-plain 10.95.1.4 near 10.95.1.2 || status=1
	return "$status"
}

# shellcheck source=tests/sock/apps-programs.bash
source /vqp/tests/sock/apps-programs.bash
