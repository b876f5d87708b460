# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/functions.bats does on a node: containers as Fn and OpenWhisk make them. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"

FUNCTIONS=${BUILD-/vqp/build}/fn

# Once a node, as an operator would: Docker gives all containers the device, without being asked for it.
functions() {
	local name

	prepare
	mkdir -p /etc/docker
	jq -n --arg bip "10.71.$number.1/24" --arg path "$BIN/vqp-runtime" \
		'{bip: $bip, "default-runtime": "vqp", runtimes: {vqp: {path: $path}}}' >/etc/docker/daemon.json
	daemons
	for name in sender receiver; do
		tar -C "$FUNCTIONS/images/vqp.rootfs" -c . |
			docker import --change "ENTRYPOINT [\"/vqp-$name\"]" - "vqp-test-$name" >/dev/null
	done
}

# Every container by the default runtime, but those whose runtime is named.
functions_end() {
	docker rm --force sender receiver >/dev/null 2>&1 || true
	docker rmi vqp-test-sender vqp-test-receiver >/dev/null
	rm /etc/docker/daemon.json
	daemons_end
}

# NAME: a function's container with Fn's settings, whose name is its image's.
fn_start() {
	local iofs=$WORK/iofs-$1

	mkdir -p "$iofs"
	chown 1000:1000 "$iofs"
	docker run --detach --name "$1" --read-only --tmpfs /tmp:size=64m --user 1000:1000 --cap-drop ALL \
		--security-opt no-new-privileges:true --pids-limit 50 --ulimit nofile=350:350 \
		--ulimit memlock=65536:65536 --memory 128m --memory-swap 128m --log-driver none \
		--volume "$iofs:/tmp/iofs" --env FN_FORMAT=http-stream --env FN_LISTENER=unix:/tmp/iofs/lsnr.sock \
		"vqp-test-$1" >/dev/null
	eventually test -e "$iofs/lsnr.sock"
}

# NAME JSON: as Fn's agent calls it: wakes the container, and lets it sleep again.
fn_call() {
	local answer

	[ "$(docker inspect --format '{{.State.Paused}}' "$1")" = false ] || docker unpause "$1" >/dev/null
	answer=$(curl -sS --max-time 30 --unix-socket "$WORK/iofs-$1/lsnr.sock" -H 'Fn-Call-Id: 1' \
		-H 'Transfer-Encoding: chunked' --data-binary "$2" http://localhost/call)
	docker pause "$1" >/dev/null
	echo "$answer"
}

is_paused() { [ "$(docker inspect --format '{{.State.Paused}}' "$1")" = true ]; }

# NAME: the function's process is held as Fn holds it
is_confined() {
	local pid

	pid=$(docker_pid "$1")
	grep -qE '^Uid:.1000.1000' "/proc/$pid/status"
	grep -qE '^CapEff:.0{16}$' "/proc/$pid/status"
	grep -qE '^CapBnd:.0{16}$' "/proc/$pid/status"
	grep -qE '^NoNewPrivs:.1$' "/proc/$pid/status"
	grep -qE '^Max locked memory +65536 +65536 ' "/proc/$pid/limits"
	grep -qE '^Max open files +350 +350 ' "/proc/$pid/limits"
	grep -qE ' / / ro,' "/proc/$pid/mountinfo"
	[ "$(cat "/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$pid/cgroup")/pids.max")" = 50 ]
}

# NAME: an action's container with OpenWhisk's settings; port 8080 of the node is its own
whisk_start() {
	docker run --detach --name "$1" --cpu-shares 256 --memory 256m --memory-swap 256m --cap-drop NET_RAW \
		--cap-drop NET_ADMIN --ulimit nofile=1024:1024 --pids-limit 1024 --publish 8080:8080 \
		--env __OW_API_HOST=http://10.77.0.1:3233 "vqp-test-$1" openwhisk >/dev/null
	eventually curl -s -o /dev/null "http://$(docker_address "$1"):8080/"
}

fn_container_has_vqp() {
	fn_start receiver
	is_confined receiver
	has_namespace "$(docker_address receiver)"
	answer=$(fn_call receiver "{\"do\": \"prepare\", \"bytes\": 1, \"seed\": 1}")
	jq -er .target <<<"$answer"
}

whisk_action_keeps_the_contract() {
	whisk_start receiver
	url=http://$(docker_address receiver):8080
	has_namespace "$(docker_address receiver)"
	curl -sS -d "{\"value\": {}}" "$url"/init | jq -e .ok
	curl -sS -d "{\"value\": {\"do\": \"prepare\", \"bytes\": 8, \"seed\": 1}}" "$url"/run | jq -er .target
	[ "$(docker logs receiver 2>/dev/null)" = XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX ]
	[ "$(docker logs receiver 2>&1 >/dev/null)" = XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX ]
}
