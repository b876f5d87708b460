# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
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
