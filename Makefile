# SPDX-License-Identifier: MIT
#
# The front door: `make help` says what there is. Meson does the building, in
# BUILD; scripts/setup installs what is missing first (SETUP=true: not).

BUILD ?= build
PREFIX ?= /usr/local
SETUP ?= scripts/setup
GUESTS = $(BUILD)/guests

# Reads a text with the program words, a small everyday sparc64 program.
DEMO = $(BUILD)/cli/tally count -m ultrasparc-t2 -- \
    $(GUESTS)/words.sparc64 LICENSES/GPL-2.0-or-later.txt

.PHONY: all build demo check bench install format clean help
.NOTPARALLEL:
all: build

build:
	@$(SETUP) demo
	@$(MAKE) -s $(BUILD)/build.ninja
	@ninja -C $(BUILD)

demo: build
	@scripts/build-guests own $(GUESTS)
	@echo '$$ $(DEMO)'
	@$(DEMO)

check:
	@$(SETUP) check
	@$(MAKE) -s $(BUILD)/tests-configured
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@rm -f $(BUILD)/meson-logs/testlog.*
	@meson test -C $(BUILD) --no-rebuild --print-errorlogs; status=$$?; \
	    scripts/summary $(BUILD) && exit $$status

bench:
	@$(SETUP) bench
	@$(MAKE) -s $(BUILD)/build.ninja
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@meson test -C $(BUILD) --no-rebuild --benchmark --verbose

install: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild

format:
	@$(SETUP) check
	@find . -path './build*' -prune -o -name '*.[ch]' -print0 | \
	    xargs -0 clang-format -i

clean:
	rm -rf $(BUILD)

help:
	@echo 'make           build the library, the plugin and the command'
	@echo 'make demo      and count a sparc64 program on an UltraSPARC T2'
	@echo 'make check     run every test'
	@echo 'make bench     time the workloads, print the ratios'
	@echo 'make install   install under PREFIX (default /usr/local), DESTDIR'
	@echo 'make format    format the code'
	@echo 'make clean     remove the build'

# The demonstration needs no test library, so the first configuration leaves
# the tests out; `make check` adds them.
$(BUILD)/build.ninja:
	meson setup $(BUILD) -Dtests=false

$(BUILD)/tests-configured:
	meson setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) \
	    $(BUILD) -Dtests=true
	@touch $@
