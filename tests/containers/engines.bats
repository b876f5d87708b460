#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=long,budget:600
# vqpctl configure with files of many kinds, and what the engines themselves say of them: tests/engines has the
# files and a table. No engine is started. Runs on the machine that builds.

bats_require_minimum_version 1.5.0

engines="$BATS_TEST_DIRNAME/../engines"

@test "configure: containerd 1.6, Docker 20.10 and podman 4 have the runtime, or the file is as it was" {
	"$engines/run" bookworm
}

@test "configure: containerd 1.7, Docker 26 and podman 5 have the runtime, or the file is as it was" {
	"$engines/run" trixie
}

@test "configure: containerd 2, Docker 28 and podman 5 have the runtime, or the file is as it was" {
	"$engines/run" current
}

@test "configure: without an engine a file is understood, or as it was" {
	"$engines/run" without
}
