# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Makes filter_programs.h, which filter.c includes; needs O, or FILTER, the folder where the header is made.

FILTER	?= $(O)/obj/filter
FILTER_SOURCES := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
FILTER_UAPI := $(FILTER_SOURCES)/../include/uapi

$(FILTER)/filter_programs.h: $(FILTER)/filter_rules
	$< >$@.new
	mv $@.new $@

$(FILTER)/filter_rules: $(FILTER_SOURCES)/filter_rules.c $(FILTER_SOURCES)/filter.h $(FILTER_UAPI)/linux/vqp.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c11 -Wall -Wextra -Werror -I$(FILTER_UAPI) -o $@ $< $(LDFLAGS) -lseccomp
