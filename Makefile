# SPDX-License-Identifier: GPL-2.0-or-later
# The only build file. `make help` lists what it can do.
#
# O=DIR   where objects go (build)      V=1   show the commands
# SAN=address,undefined                 build everything with these sanitizers
# FUZZ_SECONDS=60                       for each target of `make fuzz`
# prefix=/usr/local, DESTDIR=           for install

# What Debian calls what is needed: to build, and to test beyond that. All other lists follow.
BUILD_DEPS := gcc make pkg-config libc6-dev libtracefs-dev libtraceevent-dev libzstd-dev \
	zlib1g-dev libjansson-dev uthash-dev libcairo2-dev libelf-dev
TEST_DEPS  := $(BUILD_DEPS) libcmocka-dev libtracecmd-dev trace-cmd mandoc procps strace systemtap systemtap-runtime \
	libxml2-utils chromium sqlite3
# Only clang has libFuzzer.
FUZZ_DEPS  := $(BUILD_DEPS) clang libclang-rt-dev llvm
# For the virtual machines and what is compiled for them; and of Debian's kernels, whose names come and go.
VM_DEPS    := qemu-system-x86 cpio kmod e2fsprogs xz-utils util-linux systemtap systemtap-runtime
VM_KERNELS := $$(tests/vm/kernel -p)

O       ?= build
prefix  ?= /usr/local
CC      ?= gcc
CFLAGS  ?= -O2 -g
AR      ?= ar
SAN     ?=
FUZZ_SECONDS ?= 60
# Without the tracing of comparisons, for which there are dictionaries, twice as many executions.
FUZZ_CFLAGS := -O2 -g -fno-sanitize-coverage=trace-cmp
VERSION := 0.1.0

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

PKGS      := libtracefs libtraceevent libzstd zlib
LIB_PKGS  := jansson
TEST_PKGS := cmocka libtracecmd
# Headers only: they are loaded when they are needed (lib/plot/cairo.c, lib/symbol/symbol.c).
HEADER_PKGS := cairo libelf

# Recursive on purpose: `make deps`, `try` and `check` install what these name before they are read.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(foreach p,$(PKGS) $(LIB_PKGS) $(TEST_PKGS) $(HEADER_PKGS),$(shell \
	pkg-config --cflags $p 2>/dev/null)))$(PKG_CFLAGS)
LIB_LIBS   = $(shell pkg-config --libs $(LIB_PKGS)) -lm
LIBS       = $(shell pkg-config --libs $(PKGS) $(LIB_PKGS)) -lm
TEST_LIBS  = $(shell pkg-config --libs $(TEST_PKGS))

SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPFS_VERSION='"$(VERSION)"' \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
	-Wno-unused-parameter -Ilib $(SANFLAGS)
ALL_CFLAGS  = $(BASE_CFLAGS) $(PKG_CFLAGS) $(CFLAGS)

# A layer is a folder of rooms, and becomes a library: cmd -> {ftrace, stap, perf} -> lib. A source of events is a
# layer that sees lib alone. docs/ARCHITECTURE.md draws the rooms, tests/cli/layers.t checks who includes whom.
SOURCES := $(foreach source,ftrace stap perf,$(if $(wildcard $(source)/*/*.c),$(source)))
rooms    = $(patsubst $(1)/%/,%,$(wildcard $(1)/*/))
objects  = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c))
# The unit tests of a layer: tests/unit/ROOM/*.c of each of its rooms.
units    = $(patsubst %.c,$(O)/%,$(wildcard $(patsubst %,tests/unit/%/*.c,$(call rooms,$(1)))))
define source_rules
INC_$(1)  := -I$(1)
OBJ_$(1)  := $(call objects,$(1))
UNIT_$(1) := $(call units,$(1))
$(O)/lib$(1).a: $$(OBJ_$(1))
$$(UNIT_$(1)): UNIT_OF := $(1)
$$(UNIT_$(1)): $(O)/lib$(1).a
UNIT_sources += $$(UNIT_$(1))
endef
$(foreach source,$(SOURCES),$(eval $(call source_rules,$(source))))
SOURCE_LIBS := $(SOURCES:%=$(O)/lib%.a)
INC_lib     :=
INC_cmd     := -Icmd $(SOURCES:%=-I%)
OBJ_lib     := $(call objects,lib)
OBJ_cmd     := $(call objects,cmd)
UNIT_lib    := $(call units,lib)
TOOLS       := $(patsubst %.c,$(O)/%,$(wildcard tests/tools/*.c))
PRELOADS    := $(patsubst %.c,$(O)/%.so,$(wildcard tests/preload/*.c))
WORKLOADS   := $(patsubst %.c,$(O)/%,$(wildcard tests/workload/*.c))
EXAMPLES    := $(patsubst %.c,$(O)/%,$(wildcard examples/*.c))
FUZZERS     := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SEEDS  := $(O)/tests/fuzz/seeds

.DEFAULT_GOAL := all
all: pfscope	## build ./pfscope (the default)

# Always this build's: another O= may have left its own here.
pfscope: $(O)/pfscope
	$(Q)cmp -s $< $@ || cp -f $< $@

$(O)/pfscope: $(OBJ_cmd) $(SOURCE_LIBS) $(O)/liblib.a
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) $(LDFLAGS)

$(O)/lib%.a:
	$(call say,AR,$@)rm -f $@; $(AR) qcs $@ $^
$(O)/liblib.a: $(OBJ_lib)

$(O)/%.o: %.c Makefile | $(O)/.libraries
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(INC_$(firstword $(subst /, ,$<))) -MMD -MP -c -o $@ $<

# The probe scripts and the page of plots are in the program, as they are (.incbin).
$(O)/lib/plot/html.o: $(wildcard lib/plot/page*)
$(O)/stap/module/scripts.o: $(wildcard stap/tapset/*)

# lib's own tests link without libtracefs: that is checked by linking them.
$(UNIT_lib): $(O)/%: %.c $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(ALL_CFLAGS) -Itests/unit -MMD -MP -o $@ $< $(O)/liblib.a $(LIB_LIBS) -lcmocka $(LDFLAGS)
# Those of a source link with that source and lib alone.
$(UNIT_sources): $(O)/%: %.c $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(ALL_CFLAGS) -I$(UNIT_OF) -Itests/unit -MMD -MP -o $@ $< $(O)/lib$(UNIT_OF).a $(O)/liblib.a $(LIBS) $(TEST_LIBS) $(LDFLAGS)
$(TOOLS): $(O)/%: %.c $(SOURCE_LIBS) $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TOOL,$@)$(CC) $(ALL_CFLAGS) $(SOURCES:%=-I%) -Itests/unit -MMD -MP -o $@ $< $(SOURCE_LIBS) $(O)/liblib.a $(LIBS) $(TEST_LIBS) $(LDFLAGS)
# A workload's faults are counted: no sanitizer, no optimiser that would move its touches.
$(WORKLOADS): $(O)/%: %.c
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -pthread -MMD -MP -o $@ $<

# Only for the plain program: a sanitizer has an allocator of its own.
$(PRELOADS): $(O)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,PRELOAD,$@)$(CC) -std=gnu11 -Wall -Wextra -O2 -fPIC -shared -MMD -MP -o $@ $<

$(EXAMPLES): $(O)/%: %.c
	@mkdir -p $(@D)
	$(call say,EXAMPLE,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -pthread -MMD -MP -o $@ $<

# Only clang has libFuzzer: see build_fuzz below, which sets CC, SAN and O.
$(FUZZERS): $(O)/%: %.c $(SOURCE_LIBS) $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,FUZZER,$@)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(SOURCES:%=-I%) -Itests/unit -MMD -MP -o $@ $< $(SOURCE_LIBS) $(O)/liblib.a $(LIBS) $(LDFLAGS)
$(FUZZ_SEEDS): $(O)/%: %.c $(O)/libftrace.a $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TOOL,$@)$(CC) $(ALL_CFLAGS) -Iftrace -Itests/unit -MMD -MP -o $@ $< $(O)/libftrace.a $(O)/liblib.a $(LIBS) $(LDFLAGS)

# One line instead of a screen of missing headers.
$(O)/.libraries:
	$(Q)mkdir -p $(@D)
	$(Q)pkg-config --exists --print-errors $(PKGS) $(LIB_PKGS) $(HEADER_PKGS) && \
		echo '#include <uthash.h>' | $(CC) $(CFLAGS) -E -x c - >/dev/null || \
		{ echo 'Libraries are missing: `make deps` installs them.' >&2; exit 1; }
	$(Q)touch $@

unit: $(UNIT_lib) $(UNIT_sources)
plain: $(O)/pfscope $(TOOLS) $(PRELOADS) $(WORKLOADS) $(EXAMPLES)
sanitized: $(O)/pfscope unit
fuzzers: $(FUZZERS) $(FUZZ_SEEDS)
tests: plain unit	## build everything that the tests need

# ---- what is missing ----

AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

# $(1): packages. Asks nothing, and does nothing if all are there.
define install_missing
@if ! command -v dpkg-query >/dev/null; then \
	echo 'No Debian here: this needs what Debian calls $(1)'; exit 0; \
fi; \
missing=; \
for p in $(1); do \
	dpkg-query -W -f='$${db:Status-Status}\n' "$$p" 2>/dev/null | grep -qx installed || \
		missing="$$missing $$p"; \
done; \
[ "$$missing" ] || exit 0; \
echo "Installing$$missing"; \
if [ '$(AS_ROOT)' ] && ! command -v sudo >/dev/null; then \
	echo "Needs root; as root, run: apt-get install -y --no-install-recommends$$missing" >&2; exit 1; \
fi; \
export DEBIAN_FRONTEND=noninteractive; \
$(AS_ROOT) apt-get -q update || echo 'The package lists could not be updated; going on with the old ones.'; \
$(AS_ROOT) apt-get -q -o DPkg::Lock::Timeout=900 install -y --no-install-recommends $$missing
endef

deps:		## install what building needs (Debian; as root or by sudo)
	$(call install_missing,$(BUILD_DEPS))

deps-tests:	## install what the tests need as well, but for virtual machines
	$(call install_missing,$(TEST_DEPS))

deps-fuzz:	## install what fuzzing needs as well
	$(call install_missing,$(FUZZ_DEPS))

deps-vm: deps-tests	## install what the tests in virtual machines need as well (300 MB of downloads)
	$(call install_missing,$(VM_DEPS))
	$(call install_missing,$(VM_KERNELS))

# Says what it does. Where it cannot, who needs tracefs says so.
mount-tracefs:
	@grep -q ' tracefs ' /proc/mounts || { \
		echo 'tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing'; \
		$(AS_ROOT) mount -t tracefs nodev /sys/kernel/tracing || true; \
	}

try: deps	## on a bare machine: install, build, and show the bars of ls
	@$(MAKE) --no-print-directory pfscope mount-tracefs
	@echo '$$ $(strip $(AS_ROOT) ./pfscope) run -- ls -l / >/dev/null'
	@$(AS_ROOT) ./pfscope run -- ls -l / >/dev/null

# ---- tests ----

# Unit and cli tests run what is built with sanitizers; live ones count faults, so they do not.
CHECK_SAN := address,undefined
CHECK_SAN := $(if $(SAN),$(SAN),$(CHECK_SAN))
in_parallel = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
build_plain = @$(MAKE) --no-print-directory $(in_parallel) SAN= plain
build_san   = @$(MAKE) --no-print-directory $(in_parallel) SAN=$(CHECK_SAN) O=$(O)-san sanitized
build_fuzz  = @$(MAKE) --no-print-directory $(in_parallel) O=$(O)-fuzz CC=clang CFLAGS='$(FUZZ_CFLAGS)' \
	SAN=fuzzer-no-link,address,undefined fuzzers
mount_as_root = @[ '$(AS_ROOT)' ] || $(MAKE) --no-print-directory mount-tracefs

check: deps-vm deps-fuzz	## all tests; the last line sums them up
	$(build_plain)
	$(build_san)
	$(build_fuzz)
	$(mount_as_root)
	@tests/run -O $(O) -S $(O)-san unit cli live vm fuzz

check-unit: deps-tests	## unit tests, with sanitizers: no root, milliseconds each
	$(build_san)
	@tests/run -O $(O) -S $(O)-san unit

check-cli: deps-tests	## the program and the tree from outside: no root
	$(build_plain)
	$(build_san)
	@tests/run -O $(O) -S $(O)-san cli

check-live: deps-tests	## real recordings: root and tracefs
	$(build_plain)
	$(mount_as_root)
	@tests/run -O $(O) live

check-vm: deps-vm	## the same and more in virtual machines with Debian's kernels: root, QEMU
	$(build_plain)
	@tests/run -O $(O) vm

check-fuzz: deps-fuzz	## every reader of foreign bytes on made-up ones, two minutes in all
	$(build_plain)
	$(build_fuzz)
	@tests/run -O $(O) fuzz

fuzz: deps-fuzz	## the same for FUZZ_SECONDS a target; the corpus is kept
	$(build_fuzz)
	@tests/fuzz/fuzz -s $(FUZZ_SECONDS) $(O)-fuzz

bench: deps-tests	## how fast, and what recording costs, as a table (root and tracefs)
	$(build_plain)
	$(mount_as_root)
	@tests/bench $(O)

# ---- installing ----

bindir  = $(DESTDIR)$(prefix)/bin
mandir  = $(DESTDIR)$(prefix)/share/man
docdir  = $(DESTDIR)$(prefix)/share/doc/pfscope
compdir = $(DESTDIR)$(prefix)/share/bash-completion/completions
MAN1 := $(wildcard docs/man/*.1)
MAN5 := $(wildcard docs/man/*.5)
DOCS := README.md LICENSE $(wildcard docs/*.md)

install: $(O)/pfscope	## into DESTDIR and prefix: program, manual, completion, docs
	$(Q)install -d $(bindir) $(mandir)/man1 $(mandir)/man5 $(docdir) $(compdir)
	$(Q)install -m 755 $(O)/pfscope $(bindir)/pfscope
	$(Q)for page in $(MAN1) $(MAN5); do \
		sed 's|/usr/local|$(prefix)|g' $$page >$(mandir)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	$(Q)install -m 644 completion/pfscope $(compdir)/pfscope
	$(Q)install -m 644 $(DOCS) $(docdir)

uninstall:	## remove what install put there
	$(Q)rm -f $(bindir)/pfscope $(compdir)/pfscope
	$(Q)rm -f $(MAN1:docs/man/%=$(mandir)/man1/%) $(MAN5:docs/man/%=$(mandir)/man5/%)
	$(Q)rm -f $(addprefix $(docdir)/,$(notdir $(DOCS)))
	$(Q)rmdir $(docdir) 2>/dev/null || true

clean:		## remove what was built
	$(Q)rm -rf $(O) $(O)-san $(O)-fuzz pfscope

help:		## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14
	@sed -n '4,7s/^# //p' Makefile

.PHONY: all pfscope unit plain sanitized fuzzers tests deps deps-tests deps-fuzz deps-vm mount-tracefs try check \
	check-unit check-cli check-live check-vm check-fuzz fuzz bench install uninstall clean help
-include $(shell find $(O) -name '*.d' 2>/dev/null)
