# SPDX-License-Identifier: GPL-2.0-or-later
# The only build file. `make help` lists what it can do.
#
# O=DIR   where objects go (build)      V=1   show the commands
# SAN=address,undefined                 build everything with these sanitizers
# prefix=/usr/local, DESTDIR=           for install

O       ?= build
prefix  ?= /usr/local
CC      ?= gcc
CFLAGS  ?= -O2 -g
AR      ?= ar
SAN     ?=
VERSION := 0.1.0

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

PKGS      := libtracefs libtraceevent libzstd zlib
LIB_PKGS  := jansson
TEST_PKGS := cmocka libtracecmd

# Recursive on purpose: `make deps`, `try` and `check` install what these name before they are read.
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) $(LIB_PKGS) $(TEST_PKGS) 2>/dev/null)
LIB_LIBS   = $(shell pkg-config --libs $(LIB_PKGS))
LIBS       = $(shell pkg-config --libs $(PKGS) $(LIB_PKGS))
TEST_LIBS  = $(shell pkg-config --libs $(TEST_PKGS))

SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPFS_VERSION='"$(VERSION)"' \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
	-Wno-unused-parameter -Ilib $(SANFLAGS)
# Includes point one way: cmd -> {ftrace, stap, perf} -> lib (tests/cli/layers.t reads them too).
INC_lib    :=
INC_ftrace := -Iftrace
INC_cmd    := -Iftrace -Icmd
ALL_CFLAGS  = $(BASE_CFLAGS) $(PKG_CFLAGS) $(CFLAGS)

SRC_lib    := $(wildcard lib/*.c)
SRC_ftrace := $(wildcard ftrace/*.c)
SRC_cmd    := $(wildcard cmd/*.c)
OBJ_lib    := $(SRC_lib:%.c=$(O)/%.o)
OBJ_ftrace := $(SRC_ftrace:%.c=$(O)/%.o)
OBJ_cmd    := $(SRC_cmd:%.c=$(O)/%.o)
UNIT_lib    := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_lib_*.c))
UNIT_ftrace := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_ftrace_*.c))
TOOLS       := $(patsubst %.c,$(O)/%,$(wildcard tests/tools/*.c))
WORKLOADS   := $(patsubst %.c,$(O)/%,$(wildcard tests/workload/*.c))

.DEFAULT_GOAL := all
all: pfscope	## build ./pfscope (the default)

pfscope: $(O)/pfscope
	$(Q)cp -f $< $@

$(O)/pfscope: $(OBJ_cmd) $(O)/libftrace.a $(O)/liblib.a
	$(call say,LINK,$@)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) $(LDFLAGS)

$(O)/lib%.a:
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^
$(O)/liblib.a: $(OBJ_lib)
$(O)/libftrace.a: $(OBJ_ftrace)

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(INC_$(firstword $(subst /, ,$<))) -MMD -MP -c -o $@ $<

# lib's own tests link without libtracefs: that is checked by linking them.
$(UNIT_lib): $(O)/%: %.c $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(O)/liblib.a $(LIB_LIBS) -lcmocka $(LDFLAGS)
$(UNIT_ftrace): $(O)/%: %.c $(O)/libftrace.a $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TEST,$@)$(CC) $(ALL_CFLAGS) -Iftrace -MMD -MP -o $@ $< $(O)/libftrace.a $(O)/liblib.a $(LIBS) $(TEST_LIBS) $(LDFLAGS)
$(TOOLS): $(O)/%: %.c $(O)/libftrace.a $(O)/liblib.a
	@mkdir -p $(@D)
	$(call say,TOOL,$@)$(CC) $(ALL_CFLAGS) -Iftrace -MMD -MP -o $@ $< $(O)/libftrace.a $(O)/liblib.a $(LIBS) $(TEST_LIBS) $(LDFLAGS)
# A workload's faults are counted: no sanitizer, no optimiser that would move its touches.
$(WORKLOADS): $(O)/%: %.c
	@mkdir -p $(@D)
	$(call say,WORK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -O1 -g -pthread -MMD -MP -o $@ $<

unit: $(UNIT_lib) $(UNIT_ftrace)
tests: all unit $(TOOLS) $(WORKLOADS)	## build everything that the tests need

clean:		## remove what was built
	$(Q)rm -rf $(O) pfscope

help:		## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14
	@sed -n '4,6s/^# //p' Makefile

.PHONY: all clean help unit tests
-include $(shell find $(O) -name '*.d' 2>/dev/null)
