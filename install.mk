# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
IN_USE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))/in-use

# $(call install,MODE,FILES,DIRECTORY): puts the files there by renaming, so that containers that start meanwhile find
# each whole, the old one or the new.
define install
	@mkdir -p $(DESTDIR)$(3)
	@set -e; for file in $(2); do \
		new=$(DESTDIR)$(3)/.$${file##*/}.new; \
		echo "install -m $(1) $$file $(DESTDIR)$(3)/"; \
		install -m $(1) $$file $$new; \
		mv -f $$new $(DESTDIR)$(3)/$${file##*/}; \
	done
endef

# $(call uninstall_unused,FILES): removes files that containers need to end, and what finds out whether some live that
# do, unless some live, or that cannot be known. FORCE=1 removes them in any case.
define uninstall_unused
	@set -e; users=; \
	if [ -z "$$(ls $(1) 2>/dev/null)" ]; then \
		:; \
	elif ! $(if $(DESTDIR)$(FORCE),true,users=$$($(IN_USE) $(PREFIX))); then \
		echo "kept $(1): containers may need it to end"; \
		echo "  run make uninstall again without the module (rmmod vqp), or make uninstall FORCE=1"; \
	elif [ -z "$$users" ]; then \
		echo "rm -f $(1)"; \
		rm -f $(1); \
	else \
		echo "kept $(1): containers that need it to end: $$(echo "$$users" | wc -l)," \
			$$(echo "$$users" | head -n 8); \
		echo "  end them and run make uninstall again, or make uninstall FORCE=1"; \
	fi
endef
