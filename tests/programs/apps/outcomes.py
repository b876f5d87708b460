#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Of what `python3 -m unittest -v` says, a line for each test: its name and what came of it; sorted."""

import re
import sys

OUTCOME = r"(ok|FAIL|ERROR|skipped|expected failure|unexpected success)"
tests, begun = [], None
for line in sys.stdin:
    name = re.match(r"(\w+ \([\w.]+\))", line)
    if name:
        begun = name[1]
    # a test of which there is a description has it on a line of its own, and others may print in between
    outcome = re.search(OUTCOME + r"(?: ['\"].*)?$", line.rstrip())
    if begun and outcome:
        tests.append(f"{begun} {outcome[1]}")
        begun = None
print("\n".join(sorted(tests)))
