# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What filter.c includes, for makefiles that compile it; needs O, or FILTER, the folder where it is made.

FILTER	?= $(O)/obj/filter
FILTER_NODE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))

$(FILTER)/filter_programs.h: $(FILTER)/filter_rules
	$< >$@.new
	mv $@.new $@

$(FILTER)/filter_rules: $(FILTER_NODE)/filter_rules.c $(FILTER_NODE)/filter.h $(FILTER_NODE)/../include/uapi/linux/vqp.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c11 -Wall -Wextra -Werror -I$(FILTER_NODE)/../include/uapi -o $@ $< $(LDFLAGS) -lseccomp
