# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What bench/bench and bench/figures make of what was measured. A time is that of a list of
# requests; a ratio is taken within each round, whose sides followed one another.

include "results";

def ratio($a; $b): [.[$a], .[$b]] | transpose | map(.[0] / .[1]) | median;
def per_second($key; $what): .[$key] | map($what * 1e6 / .) | median;
def requests_per_second($key): per_second($key; .list);
def bytes_per_second($key): per_second($key; .list * .bytes);
# The slow ones among a namespace's requests, beside another namespace and alone
def p99($where): map(.[$where].p99_us) | median;
def p99_ratio($where): map(.[$where].p99_us / .alone.p99_us) | median;
def rounded: . * 10000 | round / 10000;

# A number for people
def figure: if . >= 1000 then thousands else rounded | tostring end;

# Calls that a longer run made more than a shorter one, for each request more
def calls_per_request($side): (.[1][$side] - .[0][$side]) / (.[1].requests - .[0].requests);

# Stream sockets: how many times quicker than TCP, of a measurement on one node or between two
def quicker($where; $what): .streams[$where][$what] | ratio("tcp"; "vqp");
def calls_per_rr: .streams.calls | (.[1].calls - .[0].calls) / (.[1].rounds - .[0].rounds) / 2000;

# Ways to wait: a row for each number of clients and each interval, with the medians of the rounds
def waits: .streams.waits | group_by([.interval_us, .clients]) | map({interval_us: .[0].interval_us, clients: .[0].clients}
	+ (group_by(.wait) | map({(.[0].wait): {latency_us: map(.latency_us), p99_us: map(.p99_us), cpu_us: map(.cpu_us)}
		| map_values(median | rounded)}) | add));

# All keys of results.json, of the duels' results and what the nodes said
def flat: .duel as $duel | .rc as $rc | {
	kernel,
	rounds,
	read8_sync_us_dc: ($duel.read_sync.vqp_us | median),
	read8_sync_us_verbs: ($duel.read_sync.verbs_us | median),
	read8_sync_ratio_dc: ($duel.read_sync | ratio("vqp_us"; "verbs_us")),
	read_async32_per_s_dc: ($duel.read_async | requests_per_second("vqp_us")),
	read_async32_per_s_verbs: ($duel.read_async | requests_per_second("verbs_us")),
	read_async32_ratio_dc: ($duel.read_async | ratio("verbs_us"; "vqp_us")),
	read8_sync_us_rc: ($rc.read_sync.vqp_us | median),
	read8_sync_ratio_rc: ($rc.read_sync | ratio("vqp_us"; "verbs_us")),
	read_async32_per_s_rc: ($rc.read_async | requests_per_second("vqp_us")),
	read_async32_ratio_rc: ($rc.read_async | ratio("verbs_us"; "vqp_us")),
	write_large_ratio_rc: ($rc.write_large | ratio("verbs_us"; "vqp_us")),
	transfer_pause_us: (.pauses | .pause_us / .switches),
	write_large_bytes_per_s_dc: ($duel.write_large | bytes_per_second("vqp_us")),
	write_large_bytes_per_s_verbs: ($duel.write_large | bytes_per_second("verbs_us")),
	write_large_ratio_dc: ($duel.write_large | ratio("verbs_us"; "vqp_us")),
	send_large_bytes_per_s_dc: ($duel.send_large | bytes_per_second("vqp_us")),
	send_large_bytes_per_s_verbs: ($duel.send_large | bytes_per_second("verbs_us")),
	send_large_ratio_dc: ($duel.send_large | ratio("verbs_us"; "vqp_us")),
	send_large_zero_copy_ratio: ($rc.send_pull | ratio("copied_us"; "fetched_us")),
	dc_goodput_loss0_bytes_per_s: ($duel.write_loss | if . then bytes_per_second("loss0_us") else null end),
	dc_goodput_loss1_bytes_per_s: ($duel.write_loss | if . then bytes_per_second("loss1_us") else null end),
	dc_goodput_loss1_ratio: ($duel.write_loss | if . then ratio("loss0_us"; "loss1_us") else null end),
	incast16_ratio: ($duel.incast | ratio("one_us"; "many_us")),
	syscalls_per_send_depth32: (.calls | calls_per_request("sender")),
	syscalls_per_receive_depth32: (.calls | calls_per_request("receiver")),
	syscalls_per_op_depth32: (.calls | [calls_per_request("sender", "receiver")] | max),
	conn5000_bytes: $duel.crowd.bytes,
	connect_cached_us: $duel.crowd.connect_us,
	connect_uncached_reads: .lookup_reads,
	pool_bytes,
	cni_add_us: (.adds | map(.vqp.one_us) | median),
	cni_echo_us: (.adds | map(."cni-echo".one_us) | median),
	cni_add_extra_us: (.adds | map(.vqp.one_us - ."cni-echo".one_us) | median),
	cni_add_at_once_ratio: (.adds | map(.vqp.many_us / .vqp.one_us) | median),
	runc_run_ms: (.runs.plain_ms | median),
	runc_run_ratio: (.runs | ratio("vqp_ms"; "plain_ms")),
	runc_run_empty_ratio: (.runs | ratio("vqp_ms"; "empty_ms")),
	qos_p99_us_alone: (.flood | p99("alone")),
	qos_p99_us_flood: (.flood | p99("beside")),
	qos_p99_ratio: (.flood | p99_ratio("beside")),
	isolation_p99_us_alone: (.malformed | p99("alone")),
	isolation_p99_us_malformed: (.malformed | p99("beside")),
	isolation_p99_ratio: (.malformed | p99_ratio("beside")),
	isolation_p99_us_computing: (.malformed | p99("computing")),
	isolation_p99_ratio_computing: (.malformed | p99_ratio("computing")),
	sock_same_rr1k_ratio: quicker("same"; "rr1k"),
	sock_same_rr1k_cpu_ratio: quicker("same"; "rr1k_cpu"),
	sock_same_stream4k_ratio: quicker("same"; "stream4k"),
	sock_far_rr1k_ratio: quicker("far"; "rr1k"),
	sock_far_stream64k_ratio: quicker("far"; "stream64k"),
	sock_far_first_byte_ratio: quicker("far"; "first_byte"),
	sock_flat_1000_ratio: (.streams.same | {few: .few.vqp, many: .many.vqp} | ratio("few"; "many")),
	sock_syscalls_per_rr: calls_per_rr,
	sock_conn_bytes: (.streams.far.conn_bytes.vqp | median),
	sock_waits: waits,
} | map_values(if type == "number" then rounded else . end);

# The rows of the table; `met` says whether an aim is reached, where there is one.
def figures:
	def row($key; $what): {$what, value: .[$key], aim: "", met: true};
	def at_most($aim): . + {aim: "<= \($aim | figure)", met: (.value <= $aim)};
	def at_least($aim): . + {aim: ">= \($aim | figure)", met: (.value >= $aim)};
	(row("read8_sync_ratio_dc"; "READs of 8 bytes, one at a time: time, vqp / verbs") | at_most(1.5)),
	row("read_async32_ratio_dc"; "the same, 32 at a time: rate, vqp / verbs"),
	(row("read8_sync_ratio_rc"; "READs of 8 bytes by rc: time, vqp / verbs") | at_most(1.25)),
	(row("read_async32_ratio_rc"; "the same, 32 at a time: rate, vqp / verbs") | at_least(1)),
	row("write_large_ratio_rc"; "WRITEs of 1 MiB by rc: bytes a second, vqp / verbs"),
	row("transfer_pause_us"; "requests wait when a VQP changes carriers, us"),
	row("write_large_ratio_dc"; "WRITEs of 1 MiB: bytes a second, vqp / verbs"),
	row("send_large_ratio_dc"; "SENDs of 1 MiB: bytes a second, vqp / verbs"),
	(row("send_large_zero_copy_ratio"; "SENDs of 1 MiB: bytes a second, fetched / copied") | at_least(1.3)),
	(row("dc_goodput_loss1_ratio"; "WRITEs of 1 MiB, vqp: bytes a second, 1 % loss / none")
		| select(.value) | at_least(0.9)),
	row("incast16_ratio"; "WRITEs, vqp: bytes a second, 16 senders to one / 1"),
	(row("syscalls_per_op_depth32"; "system calls for a message, 32 at a time") | at_most(0.05)),
	(row("conn5000_bytes"; "kernel memory of 5,000 connected VQPs, bytes") | at_most(6300000)),
	(row("pool_bytes"; "memory of the pool, bytes") | at_most(64000000)),
	(row("cni_add_extra_us"; "CNI ADD: microseconds above one that only echoes") | at_most(2000)),
	(row("cni_add_at_once_ratio"; "CNI ADD: time for each, 32 at once / one by one") | at_most(1.3)),
	(row("runc_run_ratio"; "runc run: time, with vqp / without") | at_most(1.1)),
	(row("runc_run_empty_ratio"; "the same, with vqp / with an empty wrapper and hook") | at_most(1.01)),
	(row("qos_p99_ratio"; "slow READs (p99) of high priority: beside a flood of low / alone") | at_most(2)),
	(row("isolation_p99_ratio"; "slow READs (p99): beside every malformed request / alone") | at_most(1.5)),
	row("isolation_p99_ratio_computing"; "the same, beside a process that only computes / alone"),
	(row("sock_same_rr1k_ratio"; "sockets, one node: 1 KiB and its answer, rate, vqp / TCP") | at_least(2)),
	row("sock_same_rr1k_cpu_ratio"; "the same, processor time, TCP / vqp"),
	(row("sock_same_stream4k_ratio"; "sockets, one node: writes of 4 KiB, rate, vqp / TCP") | at_least(3)),
	row("sock_far_rr1k_ratio"; "sockets, two nodes: 1 KiB and its answer, rate, vqp / TCP"),
	row("sock_far_stream64k_ratio"; "sockets, two nodes: writes of 64 KiB, rate, vqp / TCP"),
	(row("sock_far_first_byte_ratio"; "sockets, two nodes: connect and one answer, vqp / TCP") | at_least(1)),
	(row("sock_flat_1000_ratio"; "sockets, one node: rate, 1,000 connections / 100") | at_least(0.95)),
	row("sock_syscalls_per_rr"; "system calls for 1 KiB and its answer, both ends"),
	(row("sock_conn_bytes"; "kernel memory of a connected socket, bytes") | at_most(8192));
