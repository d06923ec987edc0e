# SPDX-License-Identifier: MIT
#
# The front door: `make help` says what there is. Meson does the building, in
# BUILD; scripts/setup installs what is missing first (SETUP=true: not).

BUILD ?= build
PREFIX ?= /usr/local
SETUP ?= scripts/setup
GUESTS = $(BUILD)/guests

# Reads a text with the program words, a small everyday sparc64 program.
DEMO = $(BUILD)/cli/tally count --clean-env -m ultrasparc-t2 -- \
    $(GUESTS)/words.sparc64 LICENSES/GPL-2.0-or-later.txt

.PHONY: all build demo built-tests check check-conditions soak torture qemu10 debian13 packages fuzz bench validate mutate conformance site install format clean help
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

# The sanitizers' builds run the unit tests only, as QEMU runs under neither; that
# of TSan those that start threads.
SANITIZED = $(BUILD)/asan $(BUILD)/tsan

# All that `make check` runs.
built-tests:
	@$(MAKE) -s $(BUILD)/tests-configured
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@scripts/fetch-speedscope $(BUILD)/speedscope || true
	@$(MAKE) -s $(SANITIZED:=/build.ninja)
	@ninja -C $(BUILD)/asan unit-tests
	@ninja -C $(BUILD)/tsan thread-tests

check:
	@$(SETUP) check
	@$(MAKE) -s built-tests
	@rm -f $(foreach b,$(BUILD) $(SANITIZED),$(b)/meson-logs/testlog.*)
	@status=0; \
	    meson test -C $(BUILD) --no-rebuild -t 100 --print-errorlogs || status=1; \
	    meson test -C $(BUILD)/asan --no-rebuild -t 100 --print-errorlogs \
	        --suite unit || status=1; \
	    meson test -C $(BUILD)/tsan --no-rebuild -t 100 --print-errorlogs \
	        --suite threads || status=1; \
	    scripts/summary $(BUILD) $(SANITIZED) && exit $$status

# RUNS of the suite, as root, as a user, with and without tracefs and network,
# all beside a load; as root. TESTS: these alone.
RUNS ?= 10

check-conditions:
	@$(SETUP) conditions
	@$(MAKE) -s built-tests
	@scripts/check-conditions -b $(BUILD) -n $(RUNS) $(TESTS)

# Ten million random steps a family at the register models and their twins, and
# at virtual counters and theirs.
soak:
	@$(SETUP) check
	@$(MAKE) -s $(BUILD)/tests-configured
	@ninja -C $(BUILD) test/test_pmu_ref test/test_virtual_ref
	@export TALLY_SEED=$(or $(SEED),$$(date +%s)); \
	    $(BUILD)/test/test_pmu_ref 10000000 && \
	    $(BUILD)/test/test_virtual_ref 10000000

# Kills, crowds, changing code, what the system lacks: at most MINUTES. TORTURE:
# -s SEED, words of the rows that are wanted.
MINUTES ?= 15

torture:
	@$(SETUP) check
	@$(MAKE) -s $(BUILD)/tests-configured
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@test/torture/torture.py $(BUILD) -m $(MINUTES) $(TORTURE)

# Tests of whole programs under the QEMU 10.0 that scripts/setup qemu builds, and what
# that counts beside the qemu-user in PATH. TESTS: these alone.
QEMU_TESTS = qemu10 schedule live_threads virtual_time live record record_objects at \
    memory locks early processes places threads_end gateway settings repeat

qemu10:
	@$(SETUP) check
	@$(SETUP) qemu
	@$(MAKE) -s $(BUILD)/tests-configured
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@TALLY_QEMU=$${TALLY_QEMU:-$${XDG_CACHE_HOME:-$$HOME/.cache}/tally/qemu} \
	    meson test -C $(BUILD) --no-rebuild -t 100 --print-errorlogs \
	    $(or $(TESTS),$(QEMU_TESTS))

# From a clone to `make demo` in a fresh Debian 13, as root; skipped where that
# cannot be tried.
debian13:
	@scripts/try-debian trixie || [ $$? -eq 77 ]

# The packages of the last commit, built and tried in fresh Debians, as root; skipped
# where that cannot be tried. PACKAGES: the parts that scripts/try-packages names.
packages:
	@$(SETUP) packages
	@scripts/try-packages -o $(BUILD)/packages $(PACKAGES) || [ $$? -eq 77 ]

# SECONDS on each target, from its seeds, and a row of figures for each; what it
# finds stays in BUILD/fuzz. FUZZED: these alone; each file of fuzz/ is one.
FUZZED ?= $(filter-out replay,$(basename $(notdir $(sort $(wildcard fuzz/*.c interfaces/*/fuzz/*.c)))))
SECONDS ?= 60

fuzz:
	@$(SETUP) check
	@$(MAKE) -s $(BUILD)/fuzz/build.ninja
	@ninja -C $(BUILD)/fuzz $(FUZZED:%=fuzz/fuzz_%)
	@for target in $(FUZZED); do \
	    scripts/fuzz $(BUILD)/fuzz $$target $(SECONDS) || exit; done

bench:
	@$(SETUP) bench
	@$(MAKE) -s $(BUILD)/build.ninja
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@meson test -C $(BUILD) --no-rebuild --benchmark --verbose

# What the models say beside arithmetic, published counts, this host's clock, perf
# and cachegrind. VALIDATE: options of `tally validate`.
validate:
	@$(SETUP) bench
	@$(MAKE) -s $(BUILD)/build.ninja
	@ninja -C $(BUILD)
	@scripts/build-guests all $(GUESTS)
	@$(BUILD)/cli/tally validate $(VALIDATE)

# Do the tests notice mistakes in src/, plugin/ and cli/? MUTATE: -n, -s, -j, files
# and folders; scripts/mutate --help says more.
mutate:
	@$(SETUP) check
	@scripts/mutate -b $(BUILD)/mutate $(MUTATE)

# Which test stands for which rule of the register models.
conformance:
	@$(MAKE) -s $(BUILD)/build.ninja
	@scripts/conformance.py $(BUILD)/conformance.md
	@echo 'in $(BUILD)/conformance.md'

# The pages, events, commands and pictures as a site, in BUILD/site.
site:
	@$(SETUP) site
	@$(MAKE) -s $(BUILD)/build.ninja
	@ninja -C $(BUILD)
	@scripts/build-guests own $(GUESTS)
	@scripts/site/gen_site.py $(BUILD)
	@echo 'in $(BUILD)/site/index.html'

install: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@DESTDIR=$(if $(DESTDIR),$(abspath $(DESTDIR))) meson install -C $(BUILD) --no-rebuild

format:
	@$(SETUP) check
	@find . -path './build*' -prune -o -name '*.[ch]' -print0 | \
	    xargs -0 clang-format -i

clean:
	rm -rf $(BUILD)

help:
	@echo 'make                   build the library, the plugin and the command'
	@echo 'make demo              and count a sparc64 program on an UltraSPARC T2'
	@echo 'make check             run every test'
	@echo 'make check-conditions  the same RUNS times in hard conditions, as root'
	@echo 'make soak              compare the models with their twins at length'
	@echo 'make torture           kill, crowd and starve tally, MINUTES at most (15)'
	@echo 'make qemu10            test whole programs under QEMU 10.0, which it builds'
	@echo 'make debian13          try a clone in a fresh Debian 13, as root'
	@echo 'make packages          build packages in a fresh Debian and try them, as root'
	@echo 'make fuzz              throw damaged input at what reads it, SECONDS each'
	@echo 'make bench             time the workloads, print the ratios'
	@echo 'make validate          hold the models against clock, arithmetic, other tools'
	@echo 'make mutate            make mistakes in the code, run the tests of their lines'
	@echo 'make conformance       write which test stands for which rule of the manuals'
	@echo 'make site              write the pages as a site with a search, BUILD/site'
	@echo 'make install           install under PREFIX (default /usr/local), DESTDIR'
	@echo 'make format            format the code'
	@echo 'make clean             remove the build'

# The demonstration needs no test library, so the first configuration leaves
# the tests out; `make check` adds them.
$(BUILD)/asan/build.ninja:
	meson setup $(BUILD)/asan -Db_sanitize=address,undefined \
	    -Db_lundef=false --buildtype=debugoptimized

$(BUILD)/tsan/build.ninja:
	meson setup $(BUILD)/tsan -Db_sanitize=thread -Db_lundef=false \
	    --buildtype=debugoptimized

$(BUILD)/fuzz/build.ninja:
	CC=clang CXX=clang++ meson setup $(BUILD)/fuzz -Dfuzzers=true -Dtests=false

$(BUILD)/build.ninja:
	meson setup $(BUILD) -Dtests=false

$(BUILD)/tests-configured:
	meson setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) \
	    $(BUILD) -Dtests=true -Dwerror=true
	@touch $@
