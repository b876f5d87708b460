# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What tests/unit/sim/report says of the simulator's results.

def scenario($name): .scenarios[] | select(.name == $name);

# The value that an aim is about, of a scenario: of all packets, or of a group, which is the first one if none is named
def measured($scenario; $aim):
	($aim.value / ".") as $path
	| (if $path | length > 1 then $scenario | getpath($path)
	   elif $scenario | has($aim.value) then $scenario[$aim.value]
	   else [$scenario.groups[] | select(.name == ($aim.group // $scenario.groups[0].name))][0][$aim.value] end)
	| if type == "number" then . else error("\($scenario.name) has no \($aim.value)") end;

# {scenario, text, value, limit, held} of each aim. One with "of" is about how many times the value of another scenario it is.
def aims: . as $all | .scenarios[] | . as $scenario | .aims[] | . as $aim
	| measured($scenario; $aim) as $raw
	| (if .of then $raw / measured($all | scenario($aim.of); $aim) else $raw end) as $value
	| (.at_most // .at_least) as $limit
	| {scenario: $scenario.name, value: $value, limit: $limit,
	   text: (.value + (if .of then " / " + .of else "" end) + (if .at_most then " at most " else " at least " end) + ($limit | tostring)),
	   held: (if .at_most then $value <= $limit else $value >= $limit end)};

def left($width): . + " " * ([$width - length, 0] | max);
def right($width): " " * ([$width - length, 0] | max) + .;

# 1234.5678 as "1235", 12.34 as "12.3", 0.01234 as "0.0123"
def short: if . == null then "-"
	elif . >= 100 or . == 0 then round | tostring
	else . as $n | (if $n >= 10 then 10 elif $n >= 1 then 100 elif $n >= 0.1 then 1000 else 10000 end) as $d
		| ($n * $d | round) / $d | tostring end;
def percent: if . == null then "-" else . * 100 | short end;

def heading: ["scenario", "group", "drops %", "marks %", "p50 us", "p99 us", "max us", "ideal us", "slow/fast", "starved ms", "line %", "TCP %"];
def rows: .scenarios[] | . as $s | .groups[]
	| (if .p50_us then $s.vqp else $s.tcp end) as $packets
	| [$s.name, .name, ($packets.drop_share | percent), ($packets.marked_share | percent), (.p50_us | short), (.p99_us | short),
	   (.max_us | short), (if (.ideal_us // 0) >= 1 then .ideal_us | short else "-" end), (.fairness | short), (.starved_ms | short), (.line_share | percent),
	   ($s.tcp_share | percent)];
def line: [.[0] | left(25)] + [.[1] | left(9)] + (.[2:] | map(right(11))) | join("");
