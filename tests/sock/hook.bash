# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/sock/hook.bats does on a node. Sourced there.

# shellcheck source=tests/sock/kinds.bash
source /vqp/tests/sock/kinds.bash

# PROTOCOL NAME WORD...: what kinds.py does there with sockets that it asks for by that
asking() { PROTOCOL=$1 sock "${@:2}"; }

# PROTOCOL: what is asked for so between the boxes is near, and TCP where that cannot be
talks_near() {
	asking "$1" sock-b serve 0.0.0.0 7000 "$1"
	kinds 2 0 asking "$1" sock-a talk 10.91.0.2 7000
	kinds 0 2 asking "$1" sock-b talk 127.0.0.1 7000
	asking "$1" sock-b serve :: 7001 "$1"
	kinds 2 0 asking "$1" sock-a talk fd91::2 7001
	stop_socks
}

# STATE: of the hook
hook_is() { [[ $(vqpctl status --json | jq -r .hook) == "$1" ]]; }

# The kernel's list of probes has those of the hook, or none of them.
probed() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	awk '/ (inet6?_create|__sys_socket|__sys_socket_file)\+/ { n++ } END { exit n != 4 }' /sys/kernel/debug/kprobes/list
}

not_probed() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
	awk '/ (inet6?_create|__sys_socket|__sys_socket_file)\+/ { n++ } END { exit n != 0 }' /sys/kernel/debug/kprobes/list
}

# A static server, and a client of each kind, of which none knows of vqp
serve_file() {
	mkdir -p /run/vqp/www
	head -c 3000000 /dev/urandom >/run/vqp/www/file
	inside sock-b setsid -f busybox httpd -f -p 10.91.0.2:8080 -h /run/vqp/www </dev/null >/dev/null 2>&1
	eventually listens 8080
}

# PORT: somebody listens there in this network namespace
listens() { vqpctl ss --json | jq -e --argjson port "$1" 'any(.[]; .kind == "listener" and .port == $port)'; }

# CLIENT...: fetches the file with that, near
fetches() {
	rm -f /run/vqp/got
	kinds 2 0 inside sock-a "$@"
	cmp /run/vqp/www/file /run/vqp/got
}

stop_serving() {
	pkill -9 -f '[b]usybox httpd' || return 0
	eventually eval '! pgrep -f "[b]usybox httpd"'
}

# KIND JQ: all sockets of that kind are so, and there is one
socks_are() {
	vqpctl ss --json | jq -e --arg kind "$1" "map(select(.kind == \$kind)) | length > 0 and all(.[]; $2)"
}

# TIMES: sockets on and off in sock-a
toggle() {
	local i
	for ((i = 0; i < $1; i++)); do
		give sock-a 1 off
		give sock-a 1 on
	done
}

# A driver that makes a socket by sock_create(), in the network namespace of who turns it on: NVMe's target over TCP
nvmet=/sys/kernel/config/nvmet

target() {
	modprobe nvmet-tcp
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir "$nvmet/subsystems/vqp" "$nvmet/ports/1"
	echo tcp >"$nvmet/ports/1/addr_trtype"
	echo ipv4 >"$nvmet/ports/1/addr_adrfam"
	echo 10.91.0.1 >"$nvmet/ports/1/addr_traddr"
	echo 4420 >"$nvmet/ports/1/addr_trsvcid"
	# not `ip netns exec`, which has a /sys of its own
	nsenter --net=/run/netns/sock-a ln -s "$nvmet/subsystems/vqp" "$nvmet/ports/1/subsystems/vqp"
}

no_target() {
	[[ -d $nvmet/ports/1 ]] || return 0
	rm -f "$nvmet/ports/1/subsystems/vqp"
	rmdir "$nvmet/ports/1" "$nvmet/subsystems/vqp"
}

# PORT: TCP itself has a listener there in sock-a, and vqp has none
is_tcps_own() { inside sock-a ss -Hltn "sport = :$1" | grep -q . && ! listens "$1"; }

# PORT: only what is root's may leave sock-a by TCP towards that, and is answered a reset otherwise
for_root_alone() {
	inside sock-a iptables -w -A OUTPUT -p tcp --dport "$1" -m owner --uid-owner 0 -j ACCEPT
	inside sock-a iptables -w -A OUTPUT -p tcp --dport "$1" -j REJECT --reject-with tcp-reset
}

# PORT: what comes to sock-a by TCP from that is lost.
unheard() { inside sock-a iptables -w -A INPUT -p tcp --sport "$1" -j DROP; }

no_rules() { inside sock-a iptables -w -F; }

# PORT: a connection of TCP from sock-a to there has sent packets again.
sends_again() {
	vqpctl ss --json | jq -e --argjson port "$1" 'any(.[]; .kind == "tcp" and .remote_port == $port and .resent > 0)'
}

# PORT: a connection from sock-a to there breaks, for the namespace of its peer goes.
breaks() {
	rm -f /run/vqp/broken
	sock sock-a broken 10.91.0.2 "$1"
	vqpctl ns del --tenant 9 --address 10.91.0.2
	eventually grep -q ECONNRESET /run/vqp/broken
}

# STATE PORT: a connection of TCP from sock-a to there
is_in_state() { inside sock-a ss -Htn state "$1" "dport = :$2" | grep -q .; }
