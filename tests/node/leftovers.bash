# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/node/leftovers.bats does on a node: pods of two CNI networks come and go at random, in order
# and not; then all must be as it was. Sourced there.
#
# A pod is a network namespace pNUMBER with the address 10.70.x.y, and maybe a process or a container
# in it. What its runtime knows is in `live`; what it has lost sight of, GC alone can find.

# shellcheck source=tests/lib/containers.bash
source "${BASH_SOURCE[0]%/*}/../lib/containers.bash"

run=/run/vqp
count=0
declare -A live		# NUMBER: its network
lost=()			# pods whose network namespace stays, though their DEL was lost

address_of() { echo "10.70.$(($1 / 250)).$(($1 % 250 + 1))"; }

# COMMAND NETWORK NUMBER: call the plugin
call() {
	CNI_COMMAND=$1 CNI_CONTAINERID=pod-$3 CNI_NETNS=/run/netns/p$3 CNI_IFNAME=eth0 "$BIN/cni/vqp" <<-END
		{"cniVersion": "1.1.0", "name": "$2", "type": "vqp", "limits": {"max_vqps": 20},
		"prevResult": {"cniVersion": "1.1.0", "ips": [{"address": "$(address_of "$3")/16"}]}}
	END
}

# NETWORK: its GC, which knows the live pods
collect() {
	local valid=() i

	for i in "${!live[@]}"; do
		[ "${live[$i]}" != "$1" ] || valid+=("{\"containerID\": \"pod-$i\", \"ifname\": \"eth0\"}")
	done
	(IFS=,; echo "{\"cniVersion\": \"1.1.0\", \"name\": \"$1\", \"type\": \"vqp\", \"cni.dev/valid-attachments\": [${valid[*]}]}") |
		CNI_COMMAND=GC "$BIN/cni/vqp"
}

# One in NUMBER times.
sometimes() { ((RANDOM % $1 == 0)); }

# ---- what happens ----

# NUMBER: a process in the pod, or a container
populate() {
	if sometimes 5; then
		start "c$1" "$(netns "p$1") | .process.args = [\"vqpt\", \"echo-server\", \"7000\"]"
	elif sometimes 2; then
		ip netns exec "p$1" vqpt --background echo-server 7000 >/dev/null
	fi
}

start_pod() {
	local i=$((++count)) network=red

	sometimes 2 || network=blue
	ip netns add "p$i"
	if sometimes 8; then
		call ADD "$network" "$i" >/dev/null 2>&1 &
		sleep "0.0$((RANDOM % 10))"
		kill -9 $! 2>/dev/null || true
		wait $! || true
		lost+=("$i")
	elif call ADD "$network" "$i" >"$WORK/answer"; then
		live[$i]=$network
		populate "$i"
	else
		# without vqpd only
		[ "$(jq .code "$WORK/answer")" = 11 ]
		lost+=("$i")
	fi
}

# NUMBER: whatever runs in the pod dies
kill_pod() {
	ip netns pids "p$1" | xargs -r kill -9 || true	# who has just ended by itself
	[ ! -e "$WORK/c$1" ] || runc delete --force "c$1" || true
	rm -rf "$WORK/c$1" "$WORK/c$1".*
}

end_pod() {
	local pods=("${!live[@]}") i network

	((${#pods[@]})) || return 0
	i=${pods[RANDOM % ${#pods[@]}]} network=${live[$i]}
	unset "live[$i]"
	case $((RANDOM % 6)) in
	0) # DEL is lost, and the network namespace stays
		sometimes 2 || kill_pod "$i"
		lost+=("$i")
		return
		;;
	1) # DEL is lost
		kill_pod "$i"
		;;
	2) # DEL comes while all runs
		call DEL "$network" "$i"
		kill_pod "$i"
		;;
	3) # DEL comes when all has gone
		kill_pod "$i"
		ip netns del "p$i"
		call DEL "$network" "$i"
		return
		;;
	*) # in order, and once more
		kill_pod "$i"
		call DEL "$network" "$i"
		call DEL "$network" "$i"
		;;
	esac
	ip netns del "p$i"
}

kill_daemon() {
	local name=vqpd

	sometimes 2 || name=vqp-metad
	pkill -9 -x "$name" || true
	# services would take it for one that runs
	eventually eval "! pidof $name"
}

restart_daemons() { bash /vqp/tests/programs/services start >/dev/null; }

# The namespaces are those of the live pods.
only_live() {
	[ "$(vqpctl ns list --json | jq -r '.[] | select(.tenant != 0).name' | sort)" = \
		"$(for i in "${!live[@]}"; do echo "pod-$i/eth0/${live[$i]}"; done | sort)" ]
}

collect_both() {
	restart_daemons
	collect red
	collect blue
	eventually only_live
}

# ---- how it was ----

ask() { socat -t10 - "$1" <<<'{"op":"list"}'; }

# All that a pod may leave.
state() {
	echo "module: $(live_objects | tr '\n' ' ')"
	echo "namespaces: $(namespaces)"
	echo "vqpd: $(ask UNIX-CONNECT:$run/vqpd.sock | jq -c '[.namespaces[] | [.tenant, .gid, .name]] | sort')"
	echo "meta: $(ask TCP:10.77.0.1:7471 | jq -c '[.entries[] | [.tenant, .gid]] | sort')"
	echo "processes: $(pgrep -x 'vqpt|vqp' | wc -l)"
	echo "containers: $(runc list -q)"
	echo "network namespaces: $(ip netns list)"
	echo "files: $(find $run "$WORK" -name rootfs -prune -o -print | sort | tr '\n' ' ')"
	echo "devices: $(find /dev -path /dev/pts -prune -o -print | sort | cksum)"
	echo "cgroups: $(find /sys/fs/cgroup -type d | grep -vF /system.slice/ | sort | tr '\n' ' ')"
}

# COMMAND...: until it succeeds, for at most a minute: a meta server forgets within half a one what vqpd
# did not live to withdraw.
in_time() {
	local deadline=$((SECONDS + 60))

	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 1
	done
}

nobody_is_announced() { ask TCP:10.77.0.1:7471 | jq -e 'all(.entries[]; .tenant == 0)' >/dev/null; }

is_as_it_was() { state >"$WORK.after" && cmp -s "$WORK.before" "$WORK.after"; }

# STARTS SEED
leftovers() {
	local i step

	echo "seed $2"
	RANDOM=$2
	# what the first container makes stays
	ip netns add p0
	live[0]=red
	call ADD red 0 >/dev/null
	start c0 "$(netns p0)"
	kill_pod 0
	call DEL red 0
	unset "live[0]"
	ip netns del p0
	rm -f "$WORK/answer"
	in_time nobody_is_announced
	in_time at_rest
	state >"$WORK.before"

	for ((step = 0; count < $1; step++)); do
		if sometimes 20; then
			kill_daemon
			sometimes 3 || restart_daemons
		elif sometimes 25; then
			collect_both
		elif ((${#live[@]} > 20)) || sometimes 2; then
			end_pod
		else
			start_pod
		fi
	done

	echo "$count starts, $step steps, ${#live[@]} pods live, ${#lost[@]} lost"
	for i in "${!live[@]}" "${lost[@]}"; do
		kill_pod "$i"
	done
	live=()
	collect_both
	for i in $(ip netns list | cut -d' ' -f1); do
		ip netns del "$i"
	done
	rm -f "$WORK/answer"
	in_time is_as_it_was || { diff "$WORK.before" "$WORK.after" >&2; return 1; }
}
