# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Every way in; `make help` lists them.

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
O ?= $(TOP)/build
export O

MAKEFLAGS += --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
# this makefile's own steps follow one another; only what they call is parallel
.NOTPARALLEL:

# in this order: the library is linked by what follows; `bench` alone is what is run
PROGRAMS := runtime-lib node cni-plugin libcni oci-hook tests/vqpt tests/allocfail tests/soak tests/fuzz-kernel examples/fn bench/
INSTALLED := kmod runtime-lib node cni-plugin libcni oci-hook docs/man

# those that the long suites run on
two_kernels := --kernel 6.12 --kernel 6.1

.PHONY: help demo bench test test-all test-rest test-debug unit fuzz build kmod kmod-debug $(PROGRAMS) image check deps
.PHONY: test-containers faults leftovers soak cycles planted coverage fuzz-kernel install uninstall clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(TOP)/Makefile | expand -t 20

demo: deps build ## two nodes, a function on each, vqp against verbs: the first thing to run
	bench/demo

bench: deps build ## what vqp costs and gives against verbs, and under loss: some four minutes [KERNEL=]
	bench/bench $(if $(KERNEL),--kernel $(KERNEL))

test: deps build ## the heart of the tests: unit tests, quick checks, the main suites on 6.12: a quarter of an hour
	tests/run --heart

test-all: deps build ## all tests but the long ones, on each kernel
	tests/run --all

test-rest: deps build ## what `make test-all` has and `make test` has not, whose results count, too
	tests/run --rest --continue

test-containers: deps build ## every way of starting containers, and what goes wrong with it: up to an hour a kernel
	SUITE_TIMEOUT=4000 tests/run $(two_kernels) containers networks functions platforms platforms-faults kubernetes

faults: deps build ## what holds under each fault of the testbed, and the largest requests: some twenty minutes a kernel
	tests/run $(two_kernels) faults pull large

leftovers: deps build ## pods at random, with kills and lost DELs; then GC: nothing is left [STARTS=1000] [SEED=]
	STARTS=$(or $(STARTS),1000) SUITE_TIMEOUT=8000 tests/run $(two_kernels) leftovers

soak: deps build $(if $(filter debug,$(KERNEL)),kmod-debug) ## everything at random, with kills [MINUTES=60] [KERNEL=] [SEED=]
	tests/soak/soak --kernel $(or $(KERNEL),6.1) --seconds $$((60 * $(or $(MINUTES),60))) $(if $(SEED),--seed $(SEED))

cycles: deps build $(if $(filter debug,$(KERNEL)),kmod-debug) ## create, connect, transfer, kill, unload [CYCLES=10000] [KERNEL=]
	tests/soak/soak --kernel $(or $(KERNEL),6.1) --cycles $(or $(CYCLES),10000)

test-debug: deps build kmod-debug ## all suites on the debug kernel: KASAN, lockdep, UBSAN, kmemleak
	tests/run --kernel debug --tag nodes

unit: ## the tests in user space alone
	tests/run unit

fuzz: deps ## look for inputs that break something, for an hour [FUZZ_SECONDS=]
	$(MAKE) -C tests/fuzz search

build: kmod $(PROGRAMS) ## the module for both kernels, the library, the programs

# the kernels that the testbed runs
kmod:
	set -e; releases=$$(testbed/testbed kernels); for release in $$releases; do $(MAKE) -C kmod KVER=$$release; done

kmod-debug: ## the module for the debug kernel, which is built first, once
	release=$$(testbed/testbed kernels debug) && $(MAKE) -C kmod KVER=$$release

$(PROGRAMS):
	$(MAKE) -C $@

image: deps ## the nodes' root image, cached in build/cache
	testbed/testbed image

planted: deps build ## plant defects and see that each is caught: some ten minutes
	tests/planted/run

coverage: deps ## what the tests reach of engine, module and user space: half an hour
	tests/coverage

fuzz-kernel: deps build kmod-debug ## fuzz the module on the debug kernel: an hour or two [FUZZ_CALLS= FUZZ_PACKET_SECONDS=]
	FUZZ_CALLS=$(or $(FUZZ_CALLS),1000000) FUZZ_PACKET_SECONDS=$(or $(FUZZ_PACKET_SECONDS),300) \
		SUITE_TIMEOUT=20000 tests/run --kernel debug fuzz-kernel

check: deps ## static checks of all that git knows
	tests/check

deps: ## install the Debian packages that all this needs
	testbed/deps

install: ## on a node: the module for the running kernel, the library, the programs [DESTDIR= PREFIX=]
	set -e; for part in $(INSTALLED); do $(MAKE) -C $$part install; done

uninstall: ## remove them
	set -e; for part in $(INSTALLED); do $(MAKE) -C $$part uninstall; done

clean: ## remove everything that was built but the cache
	find $(O) -mindepth 1 -maxdepth 1 ! -name cache ! -name testbed -exec rm -rf {} +
