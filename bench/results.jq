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
