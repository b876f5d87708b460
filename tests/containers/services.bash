# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/services.bats does on a node: the services of examples/ in containers of Docker, which know
# nothing of vqp but the runtime. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"

languages=(go cc python)
# the ports of this node by which others reach the services by TCP: of those in each language; redis's is redis's own
ports=(7001 7002 7003)
# what clients are fed, and where their answers are
lines=$WORK/lines answers=$WORK/answers
CONNECT_MS=/sys/module/vqp/parameters/connect_ms

# NAME ROOT PROGRAM: an image
image() { tar -C "${BUILD-/vqp/build}/$2" -c . | docker import --change "ENTRYPOINT [\"$3\"]" - "$1" >/dev/null; }

# Once a node, as an operator would. No connection is of TCP because nodes are slow.
services() {
	local language

	prepare
	docker_set_up
	daemons
	vqpctl configure docker
	pkill -HUP -x dockerd
	eventually docker_knows_vqp
	for language in "${languages[@]}"; do
		image "digest-$language" "grpc/images/$language" /server
	done
	image redis redis/images/redis /redis-server
	image guestbook redis/images/guestbook /guestbook
	echo 60000 >$CONNECT_MS
	mkdir -p "$answers"
	awk 'BEGIN { for (n = 1; n <= 100000; n *= 10) { for (i = 0; i < n; i++) printf "%d,", i * (n + 3); print "" } }' >"$lines"
}

services_end() {
	none
	docker rmi "${languages[@]/#/digest-}" redis guestbook >/dev/null
	echo 300 >$CONNECT_MS
	vqpctl configure docker --remove
	daemons_end
	rm -f /etc/docker/daemon.json
	policy_default
}

# NAME OPTION... IMAGE ARGUMENT...: a container in the background, by Docker's means alone
launched() { docker run --detach --runtime=vqp --name "$1" "${@:2}" >/dev/null; }

# NAME PORT: somebody listens there
serves() { nsenter --target "$(docker_pid "$1")" --net ss -Hltn "sport = :$2" | grep -q .; }

# SOCKETS: the node's policy is that, and in it are containers of all services
have() {
	local language i

	policy '{"subnet": "10.71.0.0/16", "tenant": 1, "sockets": '"$1"'}'
	for i in "${!languages[@]}"; do
		launched "digest-${languages[i]}" --publish "${ports[i]}:50051" "digest-${languages[i]}"
	done
	launched redis --publish 6379:6379 redis --save '' --protected-mode no
	launched guestbook guestbook openwhisk
	for language in "${languages[@]}"; do
		within 120 serves "digest-$language" 50051
	done
	within 120 serves redis 6379
	within 120 serves guestbook 8080
}

# The containers are gone, and so is what their sockets had.
none() {
	docker rm --force "${languages[@]/#/digest-}" redis guestbook >/dev/null 2>&1 || true
	eventually has_namespaces 0
	within 60 no_streams
}

no_streams() {
	vqpctl status --json |
		jq -e 'all(.counters[] | select(.name | IN("sock", "stream", "chunk")); .made == .freed)'
}

# Where this node's servers are for containers: those in each language, and redis
addresses() {
	local language
	for language in "${languages[@]}"; do
		echo "$(docker_address "digest-$language"):50051"
	done
	docker_address redis
}

# The same by TCP from the other node, where Docker lets nobody reach a container but by a port of the node
published() {
	printf '%s\n' "${ports[@]/#/10.77.0.$number:}" "10.77.0.$number"
}

# ADDRESS: containers of this node reach it, which the other node's vqpd finds at its next look
is_known() { eventually vqpctl ping --netns "pid:$(docker_pid digest-go)" --count 1 "$1"; }

# How many sockets of this node have become "near far".
kinds_now() {
	vqpctl status --json | jq -r '[.counters[] | {key: .name, value}] | from_entries | "\(.sock_near) \(.sock_far)"'
}

# KIND COMMAND...: sockets of this node get connections of that kind meanwhile, and none of the other; TCP: of neither
by() {
	local before now near far

	read -ra before <<<"$(kinds_now)"
	"${@:2}"
	read -ra now <<<"$(kinds_now)"
	near=$((now[0] - before[0])) far=$((now[1] - before[1]))
	case $1 in
	near) ((near > 0 && far == 0)) ;;
	far) ((near == 0 && far > 0)) ;;
	TCP) ((near == 0 && far == 0)) ;;
	esac || { echo "near $near, far $far: not $1" >&2; return 1; }
}

# LANGUAGE ADDRESS:PORT: what the client in that language says of the lines by the server there
digests() { docker exec --interactive "digest-$1" /client "$2" <"$lines"; }

# KIND NAME ADDRESS:PORT...: each client asks the servers there, in the order of `languages`, by connections of that kind;
# all say the same, which goes to the answers by that name
all_digest() {
	local kind=$1 said=$answers/$2 client to

	rm -f "$said"
	for client in "${languages[@]}"; do
		for to in "${@:3:${#languages[@]}}"; do
			by "$kind" digests "$client" "$to" >"$said.now"
			[[ -e $said ]] || cp "$said.now" "$said"
			diff "$said" "$said.now" || { echo "this is of the client in $client, by $to" >&2; return 1; }
		done
	done
	# of all lines, in the last one
	[[ $(tail -n 1 "$said" | cut -d ' ' -f 3) == "$(wc -c <"$lines")" ]]
}

# KIND LANGUAGE ADDRESS:PORT: while a client waits for a line, vqpctl ss shows its connection
shows_who_waits() {
	local pipe=$WORK/pipe hold client

	rm -f "$pipe" "$pipe.said"
	mkfifo "$pipe"
	docker exec --interactive "digest-$2" /client "$3" <"$pipe" >"$pipe.said" &
	client=$!
	exec {hold}>"$pipe"
	echo line >&"$hold"
	within 60 test -s "$pipe.said"
	vqpctl ss --json | jq -e --arg kind "$1" --arg gid "::ffff:${3%:*}" \
		'any(.[]; .kind == $kind and .remote_gid == $gid and .remote_port == 50051)' ||
		{ vqpctl ss >&2; return 1; }
	exec {hold}>&-
	wait "$client"
}

# PATH: what the action answers to the value that comes in
guestbook() {
	jq -c '{value: .}' | curl -sS --max-time 60 --data-binary @- "http://$(docker_address guestbook):8080/$1"
}

# ADDRESS LIST: short notes and a long one go to that list there, and all come back; they are in the answers by its name
notes() {
	local note

	for note in first 'next: é'; do
		jq -n --arg redis "$1" --arg list "$2" --arg note "$note" '{$redis, $list, $note}' | guestbook run | jq -e .notes
	done
	jq -n --arg redis "$1" --arg list "$2" --rawfile note "$lines" '{$redis, $list, $note}' | guestbook run >"$answers/$2"
	jq -e --rawfile note "$lines" '.notes == ["first", "next: é", $note]' "$answers/$2" >/dev/null
}
