# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# make [KVER=release] [O=BUILD-DIR]: build the kernel module of the folder that includes this, for one kernel, beside
# its vqp.ko, which is there already and says what it exports.
FOLDER := $(notdir $(CURDIR))
KVER ?= $(shell uname -r)
TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
KDIR ?= /lib/modules/$(KVER)/build
O ?= $(TOP)/build
VQP := $(O)/kmod-$(KVER)
OUT := $(VQP)/$(FOLDER)

# as in kmod/Makefile
MAKEOVERRIDES := $(filter-out O=%,$(MAKEOVERRIDES))
INSTRUMENT := $(if $(filter %-debug,$(KVER)),UBSAN_SANITIZE=y KCFLAGS=-g)

.PHONY: all clean
all:
	@mkdir -p $(OUT)
	@ln -sf $(CURDIR)/$(FOLDER).c $(CURDIR)/Kbuild $(OUT)/
	+$(MAKE) -C $(KDIR) M=$(OUT) CONFIG_DEBUG_INFO_BTF_MODULES= $(INSTRUMENT) \
		KBUILD_EXTRA_SYMBOLS=$(VQP)/kmod/Module.symvers modules

clean:
	rm -rf $(OUT)
