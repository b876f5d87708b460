# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What bench/demo, bench/table, bench/report and bench/check-results say of the results.

# Round trips on the wire before the sender knows that all has arrived: a VQP's
# first packet carries all that the other side needs; RC verbs shake hands first.
def round_trips: {vqp_us: 1, verbs_us: 2, verbs_best_us: 2};

def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;

# By how many per cent the first is below the second
def below($other): 100 * (1 - . / $other);

# What is left of a row's times without the wire's round trips. The first finds
# the link and everybody on it asleep. $connect: the results' "connect".
def without_wire($connect): with_entries(.value -= $connect.wire_idle_round_trip_us
	+ (round_trips[.key] - 1) * $connect.wire_round_trip_us);

# 1234.5 as "1,235" (microseconds)
def thousands: round | tostring | [match("(^-?[0-9]{1,3}|[0-9]{3})(?=([0-9]{3})*$)"; "g").string] | join(",");

def percent: if . >= 99 then . * 10 | floor / 10 else floor end | "\(.) %";

def left($width): . + " " * ([$width - length, 0] | max);
def right($width): " " * ([$width - length, 0] | max) + .;

# The labels of what stands beside the transfers. One that is missing is an error.
def fact_labels: {
	connect: {
		wire_round_trip_us: ["a round trip on the emulated wire", "µs"],
		wire_idle_round_trip_us: ["the same when the wire has been idle, as it is when a transfer begins", "µs"],
		empty_ioctl_us: ["an ioctl that does nothing", "µs"],
		vqp_cached_us: ["connecting with vqp, to a known address", "µs"],
		vqp_uncached_us: ["connecting with vqp, to an unknown address", "µs"],
		verbs_best_us: ["connecting with verbs, best case", "µs"],
	},
	container_start: {
		plain_ms: ["starting a container with its network, without vqp", "ms"],
		vqp_ms: ["starting a container with its network, with vqp", "ms"],
	},
};

# What is in the results of the calls, of all rounds: for each place and transport the medians of the rounds.
def rounds_of_calls: group_by([.place, .by]) | map({
	place: .[0].place, by: .[0].by, rounds: length, crowd: .[0].crowd,
	per_second: (map(.per_second) | median),
	sizes: (map(.sizes[]) | group_by(.bytes) | map({
		bytes: .[0].bytes, median_us: (map(.median_us) | median), p95_us: (map(.p95_us) | median)})),
});

# The places and transports of the calls, as they are shown
def call_kinds: {place: "same", by: "tcp"}, {place: "same", by: "vqp"}, {place: "two", by: "tcp"}, {place: "two", by: "vqp"};

# The numbers of one kind; there is one
def calls_of($kind): map(select(.place == $kind.place and .by == $kind.by)) | first // error("no calls: \($kind)");

# [bytes, one number of each kind...] for each size
def call_sizes(number): . as $all
	| .[0].sizes[].bytes as $bytes
	| [$bytes, (call_kinds as $kind | $all | calls_of($kind).sizes[] | select(.bytes == $bytes) | number)];

# The same of the calls of a crowd: one number of each kind
def call_rates: . as $all | [call_kinds as $kind | $all | calls_of($kind).per_second];

# {label, value} of each fact, in the order of the table above
def facts: . as $details
	| (fact_labels | keys_unsorted[]) as $part
	| ([$details[$part] | keys[]] - (fact_labels[$part] | keys)) as $unknown
	| if $unknown != [] then error("no label for \($part): \($unknown | join(", "))") else . end
	| fact_labels[$part] | to_entries[]
	| $details[$part][.key] as $value
	| {label: .value[0], value: "\($value | if . < 100 then . * 10 | round / 10 else thousands end) \(.value[1])"};

# The largest power of ten that is no more than a number from 1
def unit: . as $n | 1 | until(. * 10 > $n; . * 10);

# A logarithmic axis that begins where times begin and ends where they end, to one digit, as gnuplot says it
def axis: (min | unit as $u | . / $u | floor * $u) as $from
	| (max | unit as $u | . / $u | ceil * $u) as $to
	| (if $to < 10 * $from then [range(1; 10)] else [1, 2, 3, 5] end) as $digits
	| [$from | unit | while(. <= $to; . * 10) * $digits[] | select(. >= $from and . <= $to)]
	| "set yrange [\($from):\($to)]", "set ytics (\(sort | map("\"\(thousands)\" \(.)") | join(", ")))";
