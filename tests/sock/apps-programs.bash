# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# The applications of tests/sock/apps.bats: how each is served and asked. Sourced by apps.bash, which says what the
# functions are called.

# shellcheck disable=SC2154 # who calls them sets these
: "${box-}${at-}${to-}"

# what is sent about
file=/srv/data/file

# ---- iperf3 ----

iperf3_serves() {
	server root iperf3 -s -B "$at"
	listening 5201
}

iperf3_asks() {
	local options
	for options in '' -R '-P 4' --bidir -Z '-w 64K -N' '-R -P 3 -l 1M' '-C reno -M 1000'; do
		# shellcheck disable=SC2086 # words
		app iperf3 -c "$to" -k 64 -l 64K -J $options >/run/vqp/iperf3.json || { cat /run/vqp/iperf3.json; return 1; }
		jq -c --arg options "$options" \
			'[$options, .error, (.end.streams | length), .end.sum_sent.bytes > 0]' /run/vqp/iperf3.json
	done
}

# ---- nginx, with curl, wrk and h2load ----

nginx_serves() {
	cat >"$roots/$box/etc/nginx/vqp.conf" <<-END
	user nobody nogroup;
	worker_processes 2;
	pid /tmp/nginx.pid;
	error_log stderr;
	events { worker_connections 512; }
	http {
		access_log off;
		upstream own { server $at:81; keepalive 4; }
		server {
			listen $at:80 reuseport;
			listen $at:82 http2;
			location / { root ${file%/*}; sendfile on; tcp_nopush on; }
			location /copied/ { alias ${file%/*}/; sendfile off; }
			location /limited/ { alias ${file%/*}/; sendfile on; limit_rate 2m; }
			location /kept/ { proxy_pass http://own/; proxy_http_version 1.1; proxy_set_header Connection ''; }
			location /once/ { proxy_pass http://$at:81/; proxy_buffering off; }
			location /given/ { proxy_pass http://$at:81/given/; client_body_buffer_size 16k; client_max_body_size 10m; }
		}
		server {
			listen $at:81;
			location / { root ${file%/*}; sendfile on; }
			location /given/ { client_max_body_size 10m; return 200 "\$request_method \$content_length\n"; }
		}
	}
	END
	server root nginx -c /etc/nginx/vqp.conf -g 'daemon off;'
	listening 80
	listening 81
}

# ARGUMENT...: the sum of what curl gets
got() { app curl -sS "$@" | md5sum; }

curl_asks() {
	local path words
	for path in file other; do
		for words in '' copied/ limited/ kept/ once/; do
			got "http://$to/$words$path"
		done
	done
	got -r 1000-2000000 "http://$to/file"
	got -r 1000-2000000 "http://$to/kept/file"
	got --http2-prior-knowledge "http://$to:82/file"
	got --limit-rate 3M "http://$to/file"
	app curl -sS --data-binary "@$file" "http://$to/given/"
	app curl -sS --head "http://$to/none" -o /dev/null -w '%{http_code}\n'
	# one connection serves all
	app curl -sS -o /dev/null -o /dev/null -o /dev/null -w '%{http_code} %{num_connects}\n' "http://$to/"{other,file,none}
	app curl -sS -Z --parallel-max 8 -o /dev/null -w '%{http_code} %{size_download}\n' "http://$to/file?[1-12]"
}

wrk_asks() {
	local path
	for path in other kept/other file; do
		app wrk -t 2 -c 16 -d 2s --timeout 60s "http://$to/$path" >/run/vqp/wrk.log
		cat /run/vqp/wrk.log >&2
		awk '/requests in/ { print $1 > 0 ? "requests" : "none" } /Socket errors|Non-2xx/' /run/vqp/wrk.log
	done
}

h2load_asks() {
	local path
	for path in other kept/other; do
		app h2load -n 300 -c 12 -m 8 -t 2 "http://$to:82/$path" | grep -E '^(requests|status codes)'
		app h2load --h1 -n 300 -c 12 "http://$to/$path" | grep -E '^(requests|status codes)'
	done
	app h2load -n 24 -c 6 -m 4 "http://$to:82/file" | grep -E '^(requests|status codes)'
}

# ---- redis ----

redis_serves() {
	server redis redis-server --bind "$at" --port 6379 --protected-mode no --save '' --dir /tmp --enable-debug-command yes
	listening 6379
	server redis redis-server --bind "$at" --port 6380 --protected-mode no --save '' --dir /tmp --replicaof "$at" 6379
	listening 6380
}

# ARGUMENT...
redis() { app redis-cli -h "$to" --raw "$@"; }

redis_benchmark_asks() {
	local depth
	redis flushall
	redis config resetstat
	for depth in 1 16; do
		app redis-benchmark -h "$to" -n 1000 -c 20 -P "$depth" -d 512 -r 1000 --csv \
			-t ping,set,get,incr,lpush,lrange_100,mset | cut -d , -f 1
	done
	redis info commandstats | grep -oE '^cmdstat_(set|get|incr|lpush|lrange|mset):calls=[0-9]+' | sort
}

redis_is_asked() { [[ $(redis client list type normal) == *cmd=blpop* ]]; }

redis_replicated() { [[ $(redis -p 6380 get last) == word ]]; }

redis_asks() {
	redis flushall
	redis -x set big <"$roots/$box$file"
	redis get big | md5sum
	# somebody waits for what comes
	redis blpop waited 90 >/run/vqp/redis-waited &
	within 60 redis_is_asked
	redis rpush waited first
	wait $!
	cat /run/vqp/redis-waited
	redis eval 'for i = 1, 1000 do redis.call("rpush", "many", string.rep("x", i)) end return 1' 0
	redis lrange many 0 -1 | md5sum
	redis set last word
	within 60 redis_replicated
	redis -p 6380 get big | md5sum
}

# its own tests, as far as they need no server of their own
redis_tests_asks() {
	local unit words=()
	for unit in protocol networking pubsub querybuf multi limits info-command type/list-2; do
		words+=(--single "unit/$unit")
	done
	redis flushall
	app env -C /usr/src/redis tclsh tests/test_helper.tcl --host "$to" --port 6379 --singledb --tags '-slow -large-memory' \
		--timeout 300 "${words[@]}" >/run/vqp/redis-tests.log || { tail -n 30 /run/vqp/redis-tests.log; return 1; }
	sed 's/\x1b\[[0-9;]*m//g' /run/vqp/redis-tests.log | grep -oE '^\[(ok|err|exception|skip|ignore)\]:? [^(]*' | sort
}

# ---- memcached ----

memcached_serves() {
	server memcache memcached -l "$at" -p 11211 -t 2 -m 128
	listening 11211
}

memcached_asks() {
	local test
	app memcflush --servers="$to:11211"
	app memccapable -h "$to" -p 11211 -t 60
	for test in set get; do
		app memcslap --servers="$to:11211" --concurrency=8 --execute-number=100 "--test=$test" |
			grep -oE '[sg]et +[0-9]+ keys by +8 threads'
	done
	app memccp --servers="$to:11211" "${file%/*}/other"
	app memccat --servers="$to:11211" other | md5sum
	app memcstat --servers="$to:11211" | grep -E 'curr_items:'
}

# ---- PostgreSQL ----

postgres_programs=/usr/lib/postgresql/15/bin

postgres_serves() {
	server postgres "$postgres_programs/postgres" -D /var/lib/postgresql/vqp -c "listen_addresses=$at" \
		-c unix_socket_directories=/tmp -c fsync=off -c full_page_writes=off
	listening 5432
	within 120 app pg_isready -q -h /tmp
}

# COMMAND...: what psql says to each
sql() {
	local command words=()
	for command; do
		words+=(-c "$command")
	done
	app psql -X -q -A -t "host=$to user=postgres dbname=postgres keepalives_idle=10 tcp_user_timeout=60000" "${words[@]}" 2>&1
}

pgbench() { app "$postgres_programs/pgbench" -h "$to" -U postgres "$@" postgres 2>&1; }

postgres_asks() {
	sql 'set client_min_messages = error' 'drop table if exists rows' 'create table rows (n int, t text)' \
		"insert into rows select n, repeat('x', n % 1000) from generate_series(1, 10000) n"
	sql 'copy rows to stdout' >"$roots/$box/tmp/rows"
	md5sum <"$roots/$box/tmp/rows"
	sql 'truncate rows' '\copy rows from /tmp/rows' 'select count(*), sum(n), sum(length(t)) from rows'
	sql "select repeat('y', 3000000)" | md5sum
	sql 'show tcp_keepalives_idle' 'set tcp_keepalives_idle = 33' 'show tcp_keepalives_idle' 'show tcp_user_timeout' \
		'show tcp_keepalives_count'
	sql 'listen heard' "notify heard, 'word'" | sed 's/PID [0-9]*/PID/'
	sql 'set statement_timeout = 200' 'select pg_sleep(100)' || true
	# who interrupts it asks for that by a connection of its own
	app timeout -s INT 5 psql -X -h "$to" -U postgres -c 'select pg_sleep(100)' 2>&1 || true
}

pgbench_asks() {
	local options
	pgbench -i -q -s 1 | grep -c 'done in'
	for options in '' '-M prepared' '-S -C' '-S -M extended'; do
		# shellcheck disable=SC2086 # words
		pgbench -n -c 4 -j 2 -t 20 $options | grep -E '^number of (transactions|failed)'
	done
	sql 'select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history)' \
		'select count(*) from pgbench_history'
}

# ---- etcd, which is in Go and linked statically ----

etcd_serves() {
	server root etcd --data-dir /tmp/etcd --unsafe-no-fsync --listen-client-urls "http://$at:2379" \
		--advertise-client-urls "http://$at:2379" --listen-peer-urls "http://$at:2380" \
		--initial-advertise-peer-urls "http://$at:2380" --initial-cluster "default=http://$at:2380"
	listening 2379
}

# ARGUMENT...
etcd() { app env ETCDCTL_API=3 etcdctl --dial-timeout 30s --command-timeout 60s --endpoints "http://$to:2379" "$@"; }

# who watches has seen what is put there
etcd_watched() { etcd put /begin x && grep -q begin /run/vqp/etcd-watched; }

etcd_asks() {
	local i
	within 120 etcd endpoint health
	etcd del --prefix '' >/dev/null
	etcd watch --prefix / >/run/vqp/etcd-watched &
	within 60 etcd_watched
	for i in 1 2 3 4 5; do
		etcd put "/key$i" "value $i"
	done
	head -c 300000 "$roots/$box$file" | base64 -w 0 | etcd put /large
	etcd get --print-value-only /large | md5sum
	etcd del /key3
	etcd get --prefix /key
	etcd lock name echo locked
	within 60 grep -q DELETE /run/vqp/etcd-watched
	sed -n '/key1/,$p' /run/vqp/etcd-watched | md5sum
	kill "$(pgrep -f 'etcdctl.*[w]atch')"
}

# ---- sockperf ----

sockperf_serves() {
	server root sockperf sr --tcp -i "$at" -p 11111
	listening 11111
}

# what it lost
sockperf_tells() {
	sed 's/\x1b\[[0-9;]*m//g' | tee /dev/stderr | grep -oE 'dropped messages = [0-9]+; .*|^.*[Ee]rr(or|no).*' || echo nothing
}

sockperf_asks() {
	app sockperf ping-pong --tcp -i "$to" -p 11111 -t 1 -m 64 | sockperf_tells
	app sockperf ping-pong --tcp -i "$to" -p 11111 -t 1 -m 8000 --tcp-avoid-nodelay | sockperf_tells
	app sockperf under-load --tcp -i "$to" -p 11111 -t 1 -m 200 --mps 200 --reply-every 5 | sockperf_tells
	app sockperf throughput --tcp -i "$to" -p 11111 -t 1 -m 1400 --mps 200 | grep -c 'BandWidth is'
}

# ---- gRPC: servers in C++, Go and Python, and clients in each ----

# LANGUAGE WORD...: tests/programs/interop in that
interop() {
	local programs=/usr/local/lib/interop
	case $1 in
	c++) set -- "$programs/interop-cc" "${@:2}" ;;
	go) set -- "$programs/interop-go" "${@:2}" ;;
	python) set -- python3 "$programs/interop.py" "${@:2}" ;;
	esac
	"${by[@]}" "$@"
}

grpc_serves() {
	local language port=7001 by=(server root)
	for language in c++ go python; do
		interop "$language" server "$at:$port"
		listening $((port++))
	done
}

grpc_asks() {
	local client server port by=(app timeout 200)
	for client in c++ go python; do
		port=7001
		for server in c++ go python; do
			echo "$client asks $server"
			interop "$client" client "$to:$((port++))"
		done
	done
}

# ---- The tests of languages, which have both ends in one box ----

python_asks() { to_itself python_modules; }

python_modules() {
	local module
	for module in test_socket test_socketserver test_epoll test_selectors test_httplib test_asyncio.test_streams \
		test_asyncio.test_server test_asyncio.test_sendfile test_asyncio.test_sock_lowlevel; do
		echo "$module"
		app env -C /tmp timeout 400 python3 -u -m unittest -v "test.$module" >/run/vqp/python.log 2>&1 || true
		cat /run/vqp/python.log >&2
		python3 /vqp/tests/programs/apps/outcomes.py </run/vqp/python.log
	done
}

# what is about TCP, and needs neither a network beyond the box nor certificates, which are of another address
go_tests='^Test(ConnAndListener|Dial|TCP|DualStackTCP|ClosingListener|Close|ConnClose|Listener?Close|Accept|ZeroByteRead|Read|Write)'
go_tests+='|^Test(Errors|File|RawConn|Sendfile|LinuxSendfile|MaxAck|Splice|Copy|Various|Concurrent|Endless|Buffers)'
go_tests+='|^Test(Server[BEKOU]|KeepAlive|Handlers?[BCW]|RPC|HTTP1|Shutdown|Count|SendDead)|_h1$'

go_asks() { to_itself go_packages; }

go_packages() {
	local package sources=/usr/share/go-1.19/src
	for package in net net/rpc net/http; do
		echo "$package"
		app env -C "$sources/$package" timeout 400 "/usr/local/lib/go-tests/${package##*/}.test" -test.short -test.v \
			"-test.run=$go_tests" >/run/vqp/go.log 2>&1 || true
		cat /run/vqp/go.log >&2
		grep -oE '^ *--- (PASS|FAIL|SKIP): [^ ]*|^(PASS|FAIL|panic.*)$' /run/vqp/go.log | sort
	done
}
