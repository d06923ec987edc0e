# SPDX-License-Identifier: MIT
#
# Builds the guest programs: make -f test/guest/guests.mk own|real OUT=DIR, from
# the top folder. Called by scripts/build-guests.
#
#   own   from this folder: C for all architectures, assembly for one, that of
#         mips64 for both orders of bytes
#   real  bzip2, busybox, Lua and SQLite's shell, unmodified, from the source
#         packages in SOURCES
#
# Those of the folder gateway count themselves: they are linked with libtally.ARCH.a,
# the part of libtally that guests need, for which TABLES is where tables.c is.
#
# Those of interfaces/irix count themselves as IRIX has it, on mips64, where the
# build has that interface.
#
# For mips64, mips64el, aarch64 and riscv64 where their compilers are: make demo
# needs none.

OUT ?= build/guests
TABLES ?= $(OUT)/../data
SOURCES ?= $(HOME)/.cache/tally/sources
CC_sparc64 ?= sparc64-linux-gnu-gcc
CC_x86_64 ?= gcc
CC_mips64 ?= mips64-linux-gnuabi64-gcc
CC_mips64el ?= mips64el-linux-gnuabi64-gcc
CC_aarch64 ?= aarch64-linux-gnu-gcc
CC_riscv64 ?= riscv64-linux-gnu-gcc
CFLAGS ?= -O2 -g -std=gnu17 -Wall -Wextra -pthread

here := test/guest
arches := sparc64 x86_64 $(foreach arch,mips64 mips64el aarch64 riscv64,\
    $(if $(shell command -v $(CC_$(arch))),$(arch)))
assembly_sparc64 := sparc64
assembly_x86_64 := x86_64
assembly_mips64 := mips64
assembly_mips64el := mips64
assembly_aarch64 := aarch64
assembly_riscv64 := riscv64
# Some assemblers put a SYNC before each load linked, for the Loongson.
assembly_flags_mips64el := -Wa,-mno-fix-loongson3-llsc
c_programs := $(patsubst $(here)/%.c,%,$(wildcard $(here)/*.c))
gateway_programs := $(patsubst $(here)/gateway/%.c,%,\
    $(wildcard $(here)/gateway/*.c))

# libtally without what runs or models programs.
library := src/base/error.c src/base/replace.c src/counter/counter.c \
    $(filter-out src/gateway/vcounter_processes.c,$(wildcard src/gateway/*.c)) \
    $(filter-out src/host/pfm.c src/host/child.c src/host/count.c \
        src/host/probe.c,$(wildcard src/host/*.c)) \
    $(addprefix src/lib/,counter.c event.c guest.c options.c profiler.c \
        profiler_dump.c profiler_names.c profiler_property.c profiler_source.c) \
    $(addprefix src/profile/,call_file.c call_log.c dump_write.c) \
    $(wildcard src/pmu/*.c) interfaces/sun4v/hv_perf.c \
    $(addprefix interfaces/netra-dps/,teja_profiler.c teja_thread.c) \
    $(addprefix src/table/,generic.c items.c modifier.c near.c table.c text.c \
        umask.c)
# For sparc64 a shim for the registers themselves, to link with or to preload.
shim := $(OUT)/tally-registers.sparc64
asr := $(shim).so $(OUT)/asr.sparc64 $(OUT)/asr.dyn.sparc64
library_flags := -O2 -g -std=gnu17 -D_GNU_SOURCE -fPIC -fvisibility=hidden \
    -ffunction-sections -fdata-sections -I. -Isrc -Iinclude
tables := tables signals pmu_tables

# The calls of IRIX and libperfex, and the programs that make them.
irix_library := src/base/input.c src/table/cost.c $(wildcard interfaces/irix/irix*.c) \
    interfaces/irix/perfex.c
irix_library := $(filter-out interfaces/irix/irix_virtual.c,$(irix_library))
irix_programs := $(patsubst interfaces/irix/examples/%.c,irix_%,\
    $(wildcard interfaces/irix/examples/*.c))
irix_guests := $(patsubst interfaces/irix/guest/%.c,%,$(wildcard interfaces/irix/guest/*.c))
irix_flags := -I$(here) -Iinterfaces/irix -I$(TABLES)/../interfaces/irix

irix_arches := $(if $(wildcard $(TABLES)/../interfaces/irix/irix_perf.h),\
    $(filter mips64,$(arches)))
own := $(foreach arch,$(irix_arches),\
    $(patsubst %,$(OUT)/%.$(arch),$(irix_programs) $(irix_guests))) $(foreach arch,$(arches),\
    $(patsubst %,$(OUT)/%.$(arch),$(c_programs) hello.dyn objects.dyn uses.dyn) \
    $(patsubst %,$(OUT)/%.$(arch),$(gateway_programs) pktproc) \
    $(patsubst $(here)/$(assembly_$(arch))/%.S,$(OUT)/%.$(arch),\
        $(wildcard $(here)/$(assembly_$(arch))/*.S))) $(asr) \
    $(foreach arch,$(filter x86_64 aarch64 riscv64,$(arches)),\
    $(patsubst $(here)/$(arch)/%.c,$(OUT)/%.$(arch),$(wildcard $(here)/$(arch)/*.c)))
real := $(foreach arch,$(arches),\
    $(patsubst %,$(OUT)/%.$(arch),bzip2 busybox lua sqlite)) \
    $(OUT)/bzip2.dyn.sparc64

.PHONY: own real
.DELETE_ON_ERROR:
own: $(own)
real: $(real)

$(OUT):
	mkdir -p $@

define rules
$(OUT)/%.dyn.$(1): $(here)/%.c | $(OUT)
	$(CC_$(1)) $(CFLAGS) -o $$@ $$<

$(OUT)/%.$(1): $(here)/%.c $(here)/loop.h | $(OUT)
	$(CC_$(1)) $$(CFLAGS) -static -o $$@ $$<

# With tables for unwinding and landing pads, as C++ has them.
$(OUT)/thrown.$(1): CFLAGS += -fexceptions

$(OUT)/libtally.$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$(CC_$(1)) $(library_flags) -I$(TABLES) -MMD -MP -c -o $$@ $$<

$(tables:%=$(OUT)/libtally.$(1)/%.o): $(OUT)/libtally.$(1)/%.o: $(TABLES)/%.c
	@mkdir -p $$(@D)
	$(CC_$(1)) $(library_flags) -I$(TABLES) -MMD -MP -c -o $$@ $$<

$(OUT)/libtally.$(1).a: $(library:%.c=$(OUT)/libtally.$(1)/%.o) \
    $(tables:%=$(OUT)/libtally.$(1)/%.o)
	rm -f $$@
	$(patsubst %gcc,%gcc-ar,$(CC_$(1))) rcs $$@ $$^

-include $(library:%.c=$(OUT)/libtally.$(1)/%.d)
-include $(tables:%=$(OUT)/libtally.$(1)/%.d)

$(OUT)/libtally.$(1)/interfaces/irix/%.o: interfaces/irix/%.c
	@mkdir -p $$(@D)
	$(CC_$(1)) $(library_flags) $(irix_flags) -I$(TABLES) -MMD -c -o $$@ $$<

$(OUT)/libtally-irix.$(1).a: $(irix_library:%.c=$(OUT)/libtally.$(1)/%.o)
	rm -f $$@
	$(patsubst %gcc,%gcc-ar,$(CC_$(1))) rcs $$@ $$^

-include $(irix_library:%.c=$(OUT)/libtally.$(1)/%.d)

$(OUT)/irix%.$(1): interfaces/irix/guest/irix%.c interfaces/irix/guest/family.h $(here)/loop.h \
    $(OUT)/libtally-irix.$(1).a $(OUT)/libtally.$(1).a
	$(CC_$(1)) $(CFLAGS) $(irix_flags) -static -Wl,--gc-sections -o $$@ $$< \
	    $(OUT)/libtally-irix.$(1).a $(OUT)/libtally.$(1).a

$(OUT)/irix_%.$(1): interfaces/irix/examples/%.c interfaces/irix/examples/body.h \
    $(OUT)/libtally-irix.$(1).a $(OUT)/libtally.$(1).a
	$(CC_$(1)) $(CFLAGS) $(irix_flags) -static -Wl,--gc-sections -o $$@ $$< \
	    $(OUT)/libtally-irix.$(1).a $(OUT)/libtally.$(1).a

$(OUT)/%.$(1): $(here)/gateway/%.c $(here)/loop.h $(OUT)/libtally.$(1).a
	$(CC_$(1)) $(CFLAGS) -DTALLY_PROFILE -Iinclude -I. -Isrc -Iinterfaces/netra-dps \
	    -I$(here) -static -Wl,--gc-sections \
	    -o $$@ $$< $(OUT)/libtally.$(1).a

$(OUT)/pktproc.$(1): examples/pktproc.c $(OUT)/libtally.$(1).a
	$(CC_$(1)) $(CFLAGS) -DTALLY_PROFILE -Iinclude -static \
	    -Wl,--gc-sections -o $$@ $$< $(OUT)/libtally.$(1).a

$(OUT)/%.$(1): $(here)/$(assembly_$(1))/%.S | $(OUT)
	$(CC_$(1)) -g -nostdlib -static -fno-pie -no-pie \
	    $(assembly_flags_$(1)) -o $$@ $$<

$(OUT)/%.$(1): $(here)/$(1)/%.c $(here)/chains.h | $(OUT)
	$(CC_$(1)) $(CFLAGS) -static -o $$@ $$< -lm

$(OUT)/bzip2.$(1): $(OUT)/source/bzip2-1.0.8
	$(CC_$(1)) $(bzip2_flags) -static -o $$@ $(bzip2_sources)

$(OUT)/bzip2.dyn.$(1): $(OUT)/source/bzip2-1.0.8
	$(CC_$(1)) $(bzip2_flags) -o $$@ $(bzip2_sources)

$(OUT)/lua.$(1): $(OUT)/source/lua-5.4.4
	$(CC_$(1)) $(lua_flags) -static -o $$@ \
	    $$(filter-out %/luac.c,$$(wildcard $$</src/*.c)) -lm

$(OUT)/sqlite.$(1): $(OUT)/source/sqlite-3.40.1.c
	$(CC_$(1)) $(sqlite_flags) -static -o $$@ $$</sqlite3.c $$</shell.c -lm

$(OUT)/busybox.$(1): $(OUT)/source/busybox-1.35.0 $(here)/busybox.config
	$$(call busybox,$(patsubst %gcc,%,$(CC_$(1))))
endef

bzip2_flags := -O2 -g -D_FILE_OFFSET_BITS=64
bzip2_sources := $(patsubst %,$(OUT)/source/bzip2-1.0.8/%.c,blocksort huffman \
    crctable randtable compress decompress bzlib bzip2)
# Lua seeds its string hash with the time of day, unless told another way.
lua_flags := -O2 -g -DLUA_COMPAT_5_3 -DLUA_USE_POSIX '-Dluai_makeseed(L)=0u'
# The linker warns of what would find a home directory; our runs seek none.
sqlite_flags := -O2 -w -Wl,--no-warnings -DSQLITE_THREADSAFE=0 \
    -DSQLITE_OMIT_LOAD_EXTENSION

# Of its own configurations none is small: all is off but for our list. These
# makes are not of our making, so ours tells them nothing.
define busybox
rm -rf $@.d
mkdir $@.d
set -e; unset MAKEFLAGS MFLAGS; export KCONFIG_NOTIMESTAMP=1; \
    make="$(MAKE) -s -C $< O=$(abspath $@.d) CROSS_COMPILE=$(1)"; \
    $$make allnoconfig </dev/null >/dev/null; \
    sed -n 's/=y$$//p' $(here)/busybox.config | while read -r key; do \
        sed -i "s/^# $$key is not set/$$key=y/" $@.d/.config; done; \
    yes '' | $$make oldconfig >/dev/null; \
    $$make SKIP_STRIP=y >/dev/null 2>&1
mv $@.d/busybox_unstripped $@
rm -rf $@.d
endef

$(foreach arch,$(arches),$(eval $(call rules,$(arch))))

$(shim).o: src/lib/registers_sparc64.c | $(OUT)
	$(CC_sparc64) $(library_flags) -c -o $@ $<

$(shim).so: $(shim).o $(OUT)/libtally.sparc64.a
	$(CC_sparc64) -shared -Wl,--gc-sections -o $@ $^

$(OUT)/asr.sparc64: $(here)/gateway/sparc64/asr.c $(here)/loop.h $(shim).o \
    $(OUT)/libtally.sparc64.a
	$(CC_sparc64) $(CFLAGS) -I$(here) -static -Wl,--gc-sections -o $@ $< \
	    $(shim).o $(OUT)/libtally.sparc64.a

$(OUT)/readcost.sparc64: $(here)/gateway/readcost.c $(shim).o \
    $(OUT)/libtally.sparc64.a
	$(CC_sparc64) $(CFLAGS) -DTALLY_PROFILE -Iinclude -Isrc -static \
	    -Wl,--gc-sections -o $@ $< $(shim).o $(OUT)/libtally.sparc64.a

$(OUT)/asr.dyn.sparc64: $(here)/gateway/sparc64/asr.c $(here)/loop.h | $(OUT)
	$(CC_sparc64) $(CFLAGS) -I$(here) -o $@ $<

# The sources that others include.
$(arches:%=$(OUT)/example32.%): $(here)/gateway/example31.c
$(OUT)/stride_l1d_fit.sparc64: $(here)/sparc64/stride_l1d.S
$(OUT)/chase_memory.sparc64: $(here)/sparc64/chase_l2.S
$(OUT)/dirty_atomic.sparc64: $(here)/sparc64/dirty_set.S
$(OUT)/dirty_not.sparc64: $(here)/sparc64/dirty_set.S
$(OUT)/icache_fit.sparc64: $(here)/sparc64/icache_stride.S
$(OUT)/stride_l1d_fit.mips64 $(OUT)/stride_l1d_fit.mips64el: \
    $(here)/mips64/stride_l1d.S
$(OUT)/tlb_fit.mips64 $(OUT)/tlb_fit.mips64el: $(here)/mips64/tlb_thrash.S

# By way of another folder, so that an interrupted tar leaves no half a source;
# touch, because tar gives the folder the date it has in the archive.
define unpack
rm -rf $@ $@.part
mkdir -p $@.part
tar -xf $< -C $@.part --strip-components=1
mv $@.part $@
touch $@
endef

$(OUT)/source/bzip2-1.0.8: $(SOURCES)/bzip2_1.0.8.orig.tar.gz
	$(unpack)

$(OUT)/source/lua-5.4.4: $(SOURCES)/lua5.4_5.4.4.orig.tar.gz
	$(unpack)

$(OUT)/source/busybox-1.35.0: $(SOURCES)/busybox_1.35.0.orig.tar.bz2
	$(unpack)

$(OUT)/source/sqlite-3.40.1: $(SOURCES)/sqlite3_3.40.1.orig.tar.xz
	$(unpack)

# All of SQLite in one file, and its shell in another.
$(OUT)/source/sqlite-3.40.1.c: $(OUT)/source/sqlite-3.40.1
	rm -rf $@ $@.part
	mkdir $@.part
	unset MAKEFLAGS MFLAGS; $(MAKE) -s -C $@.part -f $(abspath $<)/main.mk \
	    TOP=$(abspath $<) BCC=cc TCC=cc sqlite3.c shell.c >/dev/null
	mv $@.part $@
	touch $@
