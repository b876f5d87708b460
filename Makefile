# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Every way in; `make help` lists them.

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

ifneq ($(words $(TOP)),1)
$(error make cannot work in a directory whose path has a blank in it: $(TOP))
endif

# What is tried on virtual nodes is built in the toolbox (testbed/toolbox), which has the same compilers on
# every host; what is installed on this machine is built by its own, beside it.
O ?= $(TOP)/build$(if $(VQP_TOOLBOX),,/here)
export O

MAKEFLAGS += --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
# this makefile's own steps follow one another; only what they call is parallel
.NOTPARALLEL:

# in this order: the library is linked by what follows; `bench` alone is what is run
INSTALLED := kmod runtime-lib node cni-plugin libcni oci-hook preload docs/man
# what asks vqpctl who needs it comes before vqpctl
UNINSTALLED := cni-plugin libcni oci-hook preload node runtime-lib docs/man kmod
PROGRAMS := runtime-lib common node cni-plugin libcni oci-hook preload
TOOLS := tests/programs/vqpt tests/programs/sockt tests/programs/allocfail tests/programs/soak tests/programs/fuzz-kernel examples/fn bench/

# what only the demo needs, and what only long suites of containers do; their packages are the toolbox's
DEMO := bench/rpc
SERVICES := examples/grpc examples/redis

# what is tried, and made in the toolbox
TRIED := demo bench image test test-all test-rest test-kernels test-containers test-workshop test-sockets test-hostile test-apps test-lies faults leftovers soak cycles test-debug unit fuzz planted coverage \
	fuzz-kernel check kmod-debug test-hosts sim

.PHONY: $(TRIED) help build kmod $(PROGRAMS) $(TOOLS) $(DEMO) $(SERVICES) install uninstall clean

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(TOP)/Makefile | expand -t 20

build: kmod $(PROGRAMS) ## the module for the running kernel, the library, the programs, with this machine's compilers

$(PROGRAMS) $(TOOLS) $(DEMO) $(SERVICES):
	$(MAKE) -C $@

install: ## on a node: the module for the running kernel, the library, the programs [DESTDIR= PREFIX=]
	set -e; for part in $(INSTALLED); do $(MAKE) -C $$part install; done

uninstall: ## remove them, but for what containers that live need to end [FORCE=1]
	set -e; for part in $(UNINSTALLED); do $(MAKE) -C $$part uninstall; done

clean: ## remove everything that was built; the cache stays (testbed/testbed cache)
	find $(TOP)/build -mindepth 1 -maxdepth 1 ! -name testbed -exec rm -rf {} +

ifeq ($(VQP_TOOLBOX),)

kmod:
	$(MAKE) -C $@

# MAKEOVERRIDES: variables of the command line. What make hands to other makes is not for one that starts anew.
$(TRIED):
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(TOP)/testbed/toolbox \
		$(if $(filter demo bench image test-hosts,$@),build,test) make --no-print-directory -C $(TOP) $@ $(MAKEOVERRIDES)

else

KERNELS ?= 6.1 6.12 newest
# those that the long suites run on
two_kernels := --kernel 6.12 --kernel 6.1
# each Debian's platforms on its own kernel
kernels_of_trixie := --kernel 6.12
kernels_of_current := --kernel newest
# HOSTS="a b": on these machines, with the kernels that they have
ifneq ($(HOSTS),)
export HOSTS
KERNELS :=
two_kernels :=
endif

# those of tests need what the first exports
MODULES := kmod tests/programs/consumer tests/programs/liar

kmod:
	set -e; for kernel in $(KERNELS); do for module in $(MODULES); do testbed/testbed build $$kernel $(MAKE) -C $$module; done; done

demo: KERNELS := $(if $(HOSTS),,6.1)
demo: build $(TOOLS) $(DEMO) ## two nodes, a function on each, vqp against verbs, gRPC by vqp and by TCP: the first thing to run
	bench/demo

bench: build $(TOOLS) ## what vqp costs and gives against verbs, and under loss: some four minutes [KERNEL=] [HOSTS="a b"]
	bench/bench $(if $(KERNEL),--kernel $(KERNEL))

test: KERNELS := $(if $(HOSTS),,6.12)
test: build $(TOOLS) ## the heart of the tests: unit tests, quick checks, the main suites on 6.12: a quarter of an hour [HOSTS="a b"]
	tests/run --heart

test-all: build $(TOOLS) $(DEMO) ## all tests but the long ones, on each kernel
	tests/run --all

test-rest: build $(TOOLS) $(DEMO) ## what `make test-all` has and `make test` has not, whose results count, too
	tests/run --rest --continue

test-containers: build $(TOOLS) $(SERVICES) ## every way of starting containers, and what goes wrong with it: up to an hour a kernel [IMAGE=]
	SUITE_TIMEOUT=4000 tests/run $(or $(kernels_of_$(IMAGE)),$(two_kernels)) $(if $(IMAGE),--image $(IMAGE)) containers networks systemd functions services platforms platforms-faults kubernetes engines

test-kernels: build $(TOOLS) ## what the module is for on each of its kernels: a quarter of an hour each [KERNELS="6.1 6.12 newest"]
	SUITE_TIMEOUT=4000 tests/run $(KERNELS:%=--kernel %) uapi vqp rc crowd address lookups pull copies node containers soak

test-workshop: build $(TOOLS) ## what tests and measures is tested itself: toolbox, testbed, runner, checks, bench: a quarter of an hour
	tests/run check toolbox bench run second-try machines testbed sim

test-sockets: build $(TOOLS) ## the cases of stream sockets, by vqp and by TCP, and what decides the kind, and what time does: half an hour
	tests/run sockets sockets-tcp far far-time kinds rules hook

test-hostile: build $(TOOLS) ## functions that mean harm by stream sockets, and another tenant beside them: some ten minutes
	tests/run hostile

test-apps: build $(TOOLS) ## applications of Debian by stream sockets and by TCP: half an hour, and five minutes for their disk once
	SUITE_TIMEOUT=4000 tests/run apps

test-lies: build $(TOOLS) ## one-sided requests on a device that behaves as those of other drivers: some twenty minutes
	tests/run lies
	VQP_LIES=all SUITE_TIMEOUT=4000 tests/run rc pull soak

faults: build $(TOOLS) ## what holds under each fault of the testbed, and the largest requests: some twenty minutes a kernel
	tests/run $(two_kernels) faults pull large

leftovers: build $(TOOLS) ## pods at random, with kills and lost DELs; then GC: nothing is left [STARTS=1000] [SEED=]
	STARTS=$(or $(STARTS),1000) SUITE_TIMEOUT=8000 tests/run $(two_kernels) leftovers

soak: build $(TOOLS) $(if $(filter debug,$(KERNEL)),kmod-debug) ## everything at random, with kills [MINUTES=60] [KERNEL=] [SEED=]
	tests/programs/soak/soak --kernel $(or $(KERNEL),6.1) --seconds $$((60 * $(or $(MINUTES),60))) $(if $(SEED),--seed $(SEED))

cycles: build $(TOOLS) $(if $(filter debug,$(KERNEL)),kmod-debug) ## create, connect, transfer, kill, unload [CYCLES=10000] [KERNEL=]
	tests/programs/soak/soak --kernel $(or $(KERNEL),6.1) --cycles $(or $(CYCLES),10000)

test-debug: build $(TOOLS) $(SERVICES) kmod-debug ## all suites on the debug kernel: KASAN, lockdep, UBSAN, kmemleak
	tests/run --kernel debug --tag nodes

unit: ## the tests in user space alone
	tests/run unit

sim: ## the engine on simulated hosts and switches, beside TCP; then 10,000 random networks of the unit tests: a minute [SEEDS=]
	$(MAKE) -C tests/unit/sim run
	$(MAKE) -C tests/unit/sim seeds

fuzz: ## look for inputs that break something, for an hour [FUZZ_SECONDS=]
	$(MAKE) -C tests/fuzz search

kmod-debug: ## the module for the debug kernel, which is built first, once
	set -e; for module in $(MODULES); do testbed/testbed build debug $(MAKE) -C $$module; done

image: ## a root image of the nodes, kept in the cache [IMAGE=bookworm|trixie|current]
	testbed/testbed image $(IMAGE)

planted: build $(TOOLS) ## plant defects and see that each is caught: some ten minutes
	tests/planted/run

coverage: ## what the tests reach of engine, module and user space: some forty minutes
	tests/coverage

test-hosts: ## `make demo` on fresh Debian 12 and 13, as root and as a user, and what it changes there; to be run as root: some forty minutes
	tests/hosts

fuzz-kernel: build $(TOOLS) kmod-debug ## fuzz the module on the debug kernel: an hour or two [FUZZ_CALLS= FUZZ_PACKET_SECONDS=]
	FUZZ_CALLS=$(or $(FUZZ_CALLS),1000000) FUZZ_PACKET_SECONDS=$(or $(FUZZ_PACKET_SECONDS),300) \
		SUITE_TIMEOUT=20000 tests/run --kernel debug fuzz-kernel

check: ## static checks of all that git knows
	tests/check

endif
