#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=heart,budget:25
# The functions' side of Fn's container contract, and of OpenWhisk's. Runs on the machine that builds:
# without a VQP namespace the functions answer with an error, and that is an answer.

bats_require_minimum_version 1.5.0

setup() {
	BIN=${O:-$BATS_TEST_DIRNAME/../../build}/fn
	IOFS=$BATS_TEST_TMPDIR
	SOCKET=$IOFS/lsnr.sock
}

teardown() {
	if [ -n "${PID-}" ]; then
		kill "$PID" || true
		wait "$PID" || true
	fi
}

# NAME: start a function and wait for its socket.
start() {
	FN_FORMAT=http-stream FN_LISTENER=unix:$SOCKET "$BIN/$1" 3>&- &
	PID=$!
	timeout 5 sh -c "until [ -e $SOCKET ]; do sleep 0.02; done"
}

# CURL-ARGUMENT...: call it; its answer in $body, the status in $code
call() {
	local answer
	answer=$(curl -sS --max-time 20 --unix-socket "$SOCKET" -w '\n%{http_code}' "$@" http://localhost/call)
	code=${answer##*$'\n'}
	body=${answer%$'\n'*}
	echo "status $code, body $body"
}

is_error() {
	[ "$code" = 502 ]
	jq -e --arg text "$1" '.error | contains($text)' <<<"$body"
}

# BYTES BEFORE AFTER: a file with the JSON text BEFORE 000... AFTER, with so many zeros; its name in $file
padded() {
	file=$BATS_TEST_TMPDIR/padded
	{ printf %s "$2" && head -c "$1" /dev/zero | tr '\0' 0 && printf %s "$3"; } >"$file"
}

# TEXT NAME=VALUE...: a function refuses to start in this environment, and says so.
refuses() {
	run --separate-stderr timeout 5 env -i "${@:2}" "$BIN/vqp-sender"
	echo "status $status, $stderr"
	[ "$status" -eq 1 ]
	[[ $stderr == *"$1"* ]]
}

@test "the awaited socket is a relative link, made once all is ready" {
	start vqp-sender
	[ "$(readlink "$SOCKET")" = phonylsnr.sock ]
	[ -S "$IOFS/phonylsnr.sock" ]
}

@test "everybody may connect to the socket" {
	start vqp-sender
	[ "$(stat -c %a "$IOFS/phonylsnr.sock")" = 666 ]
}

@test "a socket that an earlier run left is replaced" {
	ln -s phonylsnr.sock "$SOCKET"
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$IOFS/phonylsnr.sock"
	start vqp-sender
	timeout 5 sh -c "until curl -s --unix-socket $SOCKET http://localhost/call; do sleep 0.02; done"
}

@test "FN_LISTENER unset is refused" {
	refuses "FN_LISTENER" FN_FORMAT=http-stream
}

@test "FN_LISTENER that is no Unix socket is refused" {
	refuses "FN_LISTENER" FN_LISTENER=tcp:127.0.0.1:80
}

@test "FN_LISTENER that is too long is refused" {
	refuses "too long" FN_LISTENER=unix:/tmp/"$(printf 'x%.0s' {1..120})"
}

@test "FN_LISTENER in a directory that is not there is refused" {
	refuses "/nowhere/phonylsnr.sock" FN_LISTENER=unix:/nowhere/lsnr.sock
}

@test "another FN_FORMAT is refused" {
	refuses "FN_FORMAT" FN_FORMAT=json FN_LISTENER=unix:"$SOCKET"
}

@test "a failing function answers with status 502 and the error" {
	start vqp-receiver
	call -d '{"do": "prepare", "bytes": 8, "seed": 1}'
	is_error "vqp_open: "
}

@test "a body that is no JSON is an error of the call alone" {
	start vqp-receiver
	call -d '{'
	[ "$code" = 502 ]
	call -d '{"do": "check"}'
	is_error "prepare"
}

@test "a call without a body is answered" {
	start vqp-sender
	call -X POST
	is_error "missing"
}

@test "a chunked body is understood" {
	start vqp-sender
	call -H 'Transfer-Encoding: chunked' --data-binary '{"target": "x", "bytes": -1}'
	is_error "out of range"
}

@test "more bytes than a function takes are refused" {
	start vqp-sender
	call -d '{"target": "x", "bytes": 1048577}'
	is_error "out of range"
}

@test "a body of nearly 6 MiB is taken, chunked or not" {
	start vqp-sender
	padded $(((6 << 20) - 1000)) '{"payload": "' '"}'
	call --data-binary @"$file"
	is_error "missing"
	call -H 'Transfer-Encoding: chunked' --data-binary @"$file"
	is_error "missing"
}

# An agent of Fn ends a container that answers with 413.
@test "a body beyond 6 MiB is refused, chunked or not, and the function goes on" {
	start vqp-sender
	padded $((6 << 20)) '{"payload": "' '"}'
	call -H Expect: --data-binary @"$file"
	is_error "too large"
	call -H Expect: -H 'Transfer-Encoding: chunked' --data-binary @"$file"
	is_error "too large"
	call -d '{}'
	is_error "missing"
}

@test "a connection goes on after a body beyond 6 MiB" {
	start vqp-sender
	padded $((6 << 20)) '{"payload": "' '"}'
	run curl -sS -o /dev/null -o /dev/null -w '%{http_code} %{num_connects}\n' --unix-socket "$SOCKET" \
		-H Expect: --data-binary @"$file" http://localhost/call http://localhost/call
	[ "$output" = $'502 1\n502 0' ]
}

@test "a body beyond 6 MiB is not sent if the client waits for leave to send it" {
	start vqp-sender
	padded $((6 << 20)) '{"payload": "' '"}'
	run curl -sS -o /dev/null -w '%{http_code} %{size_upload}' --unix-socket "$SOCKET" --expect100-timeout 60 \
		-H 'Expect: 100-continue' --data-binary @"$file" http://localhost/call
	[ "$output" = "502 0" ]
	call --expect100-timeout 60 -H 'Expect: 100-continue' -d '{}'
	is_error "missing"
}

@test "1 MiB of headers is taken" {
	start vqp-sender
	for ((i = 0; i < 128; i++)); do
		printf 'Fn-Http-H-%d: %08000d\n' "$i" 0
	done >"$BATS_TEST_TMPDIR/headers"
	call -H @"$BATS_TEST_TMPDIR/headers" -d '{}'
	is_error "missing"
}

@test "only POST is served" {
	start vqp-sender
	call
	[ "$code" = 405 ]
}

@test "only /call is served" {
	start vqp-sender
	run curl -s -o /dev/null -w '%{http_code}' --unix-socket "$SOCKET" -d '{}' http://localhost/other
	[ "$output" = 404 ]
}

@test "one connection serves several calls" {
	start vqp-sender
	run curl -s -o /dev/null -o /dev/null -w '%{num_connects}\n' --unix-socket "$SOCKET" -d '{}' \
		http://localhost/call http://localhost/call
	[ "$output" = $'1\n0' ]
}

@test "a deadline that is over leaves no time for an answer" {
	start vqp-receiver
	call -H 'Fn-Deadline: 2001-01-01T00:00:00Z' -d '{"do": "prepare", "bytes": 8, "seed": 1}'
	is_error "within 0 ms"
}

@test "SIGTERM ends a function well and removes its socket" {
	start vqp-sender
	kill "$PID"
	wait "$PID"
	PID=
	[ ! -e "$SOCKET" ]
	[ ! -e "$IOFS/phonylsnr.sock" ]
}

@test "a function leaves no process behind when it ends" {
	start vqp-receiver
	call -d '{"do": "prepare", "bytes": 8, "seed": 1}'
	kill "$PID"
	wait "$PID"
	PID=
	run pgrep -f "$BIN/vqp-receiver"
	[ "$status" -eq 1 ]
}

@test "the verbs builds say what they miss" {
	for build in verbs best; do
		start $build-receiver
		call -d '{"do": "prepare", "bytes": 8, "seed": 1}'
		kill "$PID"
		wait "$PID"
		[ "$code" = 502 ]
		jq -e '.error | test("get_device_list|open_device|RDMA_ADDRESS")' <<<"$body"
	done
	PID=
}

# ---- OpenWhisk ----

# NAME: start an action, on port 8080 of a network namespace of its own.
start_action() {
	unshare --map-root-user --net sh -c 'busybox ip link set lo up && exec "$@"' sh "$BIN/$1" openwhisk \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	PID=$!
	for _ in {1..250}; do
		post /none '{}' 2>/dev/null && return
		sleep 0.02
	done
	false
}

# PATH BODY: its answer in $body, the status in $code
post() {
	local answer
	answer=$(nsenter --user --net --preserve-credentials --target "$PID" curl -sS --max-time 20 \
		-w '\n%{http_code}' -d "$2" "http://127.0.0.1:8080$1") || return
	code=${answer##*$'\n'}
	body=${answer%$'\n'*}
	echo "status $code, body $body"
}

# CODE JQ: what the last answer was
answered() {
	[ "$code" = "$1" ]
	jq -e "$2" <<<"$body"
}

@test "OpenWhisk: /init once, then /run with what the function answers" {
	start_action vqp-sender
	post /init '{"value": {"name": "sender", "main": "main", "code": "", "binary": false, "env": {"A": "b"}}}'
	answered 200 '.ok == true'
	post /init '{"value": {"name": "sender"}}'
	answered 403 '.error | contains("twice")'
	post /run '{"value": {}, "activation_id": "1", "deadline": "99999999999999"}'
	answered 200 '.error | contains("missing")'
	post /run '{"value": {"target": "x", "payload": "000"}}'
	answered 200 '.error | length > 0'
}

@test "OpenWhisk: each activation ends its log on both streams" {
	start_action vqp-sender
	post /init '{"value": {}}'
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	post /run '{"value": {}}'
	post /run '{"value": {}}'
	for stream in out err; do
		[ "$(grep -cx XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX "$BATS_TEST_TMPDIR/$stream")" = 2 ]
	done
}

@test "OpenWhisk: what is no activation is refused" {
	start_action vqp-sender
	post /run '{"value": {}}'
	answered 403 '.error | contains("not been initialized")'
	post /init '{"value": 1}'
	answered 400 '.error | contains("value")'
	post /init '{}'
	answered 400 '.error | contains("value")'
	post /init '{'
	answered 502 '.error'
	post /init '{"value": {}}'
	answered 200 '.ok'
	post /run '{"value": []}'
	answered 400 '.error'
	post /call '{}'
	answered 404 '.error'
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
}

@test "OpenWhisk: a deadline that is over leaves no time for an answer" {
	start_action vqp-receiver
	post /init '{"value": {}}'
	post /run '{"value": {"do": "prepare", "bytes": 8, "seed": 1}, "deadline": "1000"}'
	answered 200 '.error | contains("within 0 ms")'
}

# 48 MiB are 64 MiB in base64.
@test "OpenWhisk: /init takes 48 MiB of binary code, and /run 1 MiB of parameters" {
	start_action vqp-sender
	padded $((64 << 20)) '{"value": {"binary": true, "code": "' '"}}'
	post /init "@$file"
	answered 200 '.ok == true'
	padded $((1 << 20)) '{"activation_id": "1", "value": {"text": "' '"}}'
	post /run "@$file"
	answered 200 '.error | contains("missing")'
}

@test "OpenWhisk: more than the platform allows is 413, and the action goes on" {
	start_action vqp-sender
	padded $((67 << 20)) '{"value": {"code": "' '"}}'
	post /init "@$file"
	answered 413 '.error | contains("too large")'
	post /init '{"value": {}}'
	answered 200 '.ok == true'
}

# ---- fn-agent ----

# Functions without a container: fn-container's part in a few lines. That of the name "large" answers with 7 MB.
agent_container() {
	cat <<-END
		#!/bin/sh
		name=\${2##*/}
		if [ "\$1\$name" = createlarge ]; then
			printf 'HTTP/1.1 200 OK\r\nContent-Length: 7000000\r\n\r\n' >/run/answer
			head -c 7000000 /dev/zero >>/run/answer
			socat UNIX-LISTEN:/run/fn/large/iofs/lsnr.sock,fork SYSTEM:'cat /run/answer' >/dev/null 2>&1 &
			echo \$! >/run/fn/\$name/pid
		elif [ "\$1" = create ]; then
			FN_LISTENER=unix:/run/fn/\$name/iofs/lsnr.sock "$BIN/vqp-sender" >/dev/null 2>&1 &
			echo \$! >/run/fn/\$name/pid
		else
			kill "\$(cat /run/fn/\$name/pid)"
		fi
	END
}

# FUNCTION...: fn-agent with these
start_agent() {
	agent_container >"$BATS_TEST_TMPDIR/container"
	chmod +x "$BATS_TEST_TMPDIR/container"
	unshare --map-root-user --net --mount sh -c 'busybox ip link set lo up && mount -t tmpfs tmpfs /run &&
		exec "$@"' sh "$BIN/fn-agent" --listen 127.0.0.1:8080 --container "$BATS_TEST_TMPDIR/container" "$@" 3>&- &
	PID=$!
	for _ in {1..250}; do
		post /none '{}' 2>/dev/null && break
		sleep 0.02
	done
}

@test "fn-agent: a function's answer beyond 6 MiB is 502, and says why" {
	start_agent large
	post /invoke/large '{}'
	[ "$code" = 502 ]
	[[ $body == *"too large"* ]]
}

@test "fn-agent: a body beyond 6 MiB is 413, as with Fn's agent, and the agent goes on" {
	start_agent sender
	padded $((6 << 20)) '{"payload": "' '"}'
	post /invoke/sender "@$file"
	answered 413 '.message | contains("too large")'
	padded $(((6 << 20) - 1000)) '{"payload": "' '"}'
	post /invoke/sender "@$file"
	answered 502 '.error | contains("missing")'
}

@test "another contract is refused" {
	run "$BIN/vqp-sender" azure
	[ "$status" -eq 2 ]
}
