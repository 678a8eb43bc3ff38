# pg_sync_probe: build, install and test with PGXS.
#
#   make && make install		into the server of pg_config (or PG_CONFIG=...)
#   make installcheck			pg_regress against a server that runs, and Perl TAP
#   make unit-check				the engine alone: no server, no server headers
#
# script/test runs all of it on a throw-away cluster.
#
# A build may lie elsewhere: make -f SOURCE/Makefile VPATH=SOURCE.  Then nothing is written
# into the source.

# As PGXS finds srcdir, which is not known before it is included.
SOURCE := $(or $(VPATH),$(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST)))))
# Names relative to the source: make looks for such files along VPATH.
sources = $(patsubst $(SOURCE)/%,%,$(sort $(wildcard $(addprefix $(SOURCE)/,$(1)))))

EXTENSION = pg_sync_probe
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" \
	$(SOURCE)/$(EXTENSION).control)

# Of the release, with the number of its patch: the library says it.
RELEASE := $(shell sed -n 's/^ *"version": *"\(.*\)",$$/\1/p' $(SOURCE)/META.json | head -n 1)

MODULE_big = pg_sync_probe
ENGINE = $(call sources,src/engine/*/*.c)
ENGINE_HEADERS = $(call sources,src/engine/*/*.h)
SERVER = $(call sources,src/*.c src/*/*.c)
SERVER_HEADERS = $(call sources,src/*.h src/*/*.h)
OBJS = $(SERVER:.c=.o) $(ENGINE:.c=.o)

# In this order: what comes later uses what comes before.
SQL_PARTS = header version bar locations tables stream commit_waits workloads \
	sql_bench workload_results probe trial histogram method_change running advice \
	power_test recommendations compare history segments findings_storage findings_run \
	findings expect lifetime pg_test_fsync workload_comparison exchange fleet \
	fleet_views metrics commit_wait_hours html_style html figures report_data report_verdict \
	report_methods report_html sections
SQL_SECTIONS = $(call sources,src/sql/section_*.sql)
SQL_SOURCES = $(SQL_PARTS:%=src/sql/%.sql) $(SQL_SECTIONS) src/sql/footer.sql
JOINED_SQL = $(EXTENSION)--$(EXTVERSION).sql
DATA_built = $(JOINED_SQL)
# Scripts of earlier releases as they were, and those that update from one to the next.
KEPT = src/sql/releases
DATA = $(filter-out $(KEPT)/$(JOINED_SQL),$(call sources,$(KEPT)/*.sql)) \
	$(call sources,src/sql/updates/*.sql)

# As in servers of 32 bits: offsets of files have 64, also where no header of the server says so.
LARGE_FILES = -D_FILE_OFFSET_BITS=64
PG_CPPFLAGS = -I$(srcdir)/src -DSP_VERSION='"$(RELEASE)"' $(LARGE_FILES)
PG_CFLAGS = -std=gnu11
SHLIB_LINK = -lm
# Its own functions need not be looked up when it is loaded, and cannot be another library's.
OWN_FUNCTIONS = -Wl,-Bsymbolic-functions
SHLIB_LINK += $(if $(filter linux,$(PORTNAME)),$(OWN_FUNCTIONS))

REGRESS = setup arguments locations shapes recording privileges workloads \
	sql_bench stream_suite teardown
TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl
# also beside flags that were given: where the tests find what they share
override PROVE_FLAGS += -I $(abspath $(SOURCE))/test/t
TEST_MODULE = test/modules/child_process/child_process_test
FAULT_LIBRARIES = $(addprefix test/fault/,fail_calls.so fail_every_call.so)

UNIT_TESTS = $(patsubst test/unit/%.c,unit/%,$(call sources,test/unit/test_*.c))
FUZZ_TARGETS = $(patsubst test/fuzz/fuzz_%.c,%,$(call sources,test/fuzz/fuzz_*.c))
EXTRA_CLEAN = unit unit-asan $(EXTENSION)--*.sql results regression.diffs regression.out tmp_check \
	$(TEST_MODULE).o $(TEST_MODULE).so $(FAULT_LIBRARIES)

# `make COPT='-Wall -Wextra -Werror'` is about this extension: the server's own headers do
# not pass -Wextra.  As system headers they do not warn.  Both directories, in the order
# that PGXS has them in: that of internal headers may have those of another version.
ifneq ($(filter -Wextra,$(COPT)),)
PG_CPPFLAGS += -isystem $(includedir_server) -isystem $(includedir_internal)
endif

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifneq ($(PGXS),)
include $(PGXS)
endif

# Indented by tabs and without the comments of src/sql: blanks would be a tenth of the text, and
# comments an eighth, which CREATE EXTENSION copies a dozen times and matches with a pattern.
TAB := $(shell printf '\t')
$(JOINED_SQL): $(SQL_SOURCES) Makefile
	sed -e '/^--/d' -e :next -e 's/^\($(TAB)*\)    /\1$(TAB)/' -e 't next' $(filter %.sql,$^) > $@

# At a release: keeps its install script, which never changes from then on.  This fails if
# another script is kept under its name.
release-script: $(JOINED_SQL)
	mkdir -p $(SOURCE)/$(KEPT)
	cd $(SOURCE)/$(KEPT) && if test -e $(JOINED_SQL); then \
		cmp $(CURDIR)/$(JOINED_SQL) $(JOINED_SQL); \
	else \
		cp $(CURDIR)/$(JOINED_SQL) . && sha256sum $(JOINED_SQL) >> SHA256SUMS; \
	fi

# Headers are few and small: all objects depend on all of them.
$(OBJS): $(SERVER_HEADERS) $(ENGINE_HEADERS) META.json

# A build elsewhere has no folders yet.  Absolute names: make would find the source's.
FOLDERS = $(addprefix $(CURDIR)/,$(sort $(dir $(OBJS) $(TEST_MODULE) $(FAULT_LIBRARIES))))
$(OBJS) $(OBJS:.o=.bc) $(TEST_MODULE).o $(FAULT_LIBRARIES): | $(FOLDERS)
$(FOLDERS):
	mkdir -p $@

# ------------------------------------------------- libraries of the Perl tests
#
# Loaded from where they are built: no server gets them installed.  The test module has
# the objects of this extension, and its own functions instead of some system calls;
# the other libraries are preloaded into a server.

TEST_MODULE_OBJS = $(TEST_MODULE).o $(addprefix src/, common/arguments.o common/child_process.o \
	storage/zfs_tools.o engine/storage/zfs.o engine/text/text.o)

ifeq ($(PORTNAME)$(TAP_TESTS),linux1)
installcheck: $(TEST_MODULE).so $(FAULT_LIBRARIES)
endif

$(TEST_MODULE).o: $(SERVER_HEADERS) $(ENGINE_HEADERS)

$(TEST_MODULE).so: $(TEST_MODULE_OBJS)
	$(LINK.shared) -o $@ $^ $(LDFLAGS) $(LDFLAGS_SL) -Wl,--wrap=kill

# without the server's flags: these may fortify calls, which would have other names then
test/fault/fail_every_call.so: test/fault/fail_calls.c
test/fault/%.so: test/fault/%.c
	$(CC) -shared -fPIC -O2 -Wall -Wextra -o $@ $< -ldl

# --------------------------------------------------------------- unit tests
#
# Compiled by a plain compiler with no include path but our own, which is the proof
# that the engine needs no server.  Needs cmocka.

UNIT_CC = $(or $(UNIT_COMPILER),cc)
UNIT_CFLAGS = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wmissing-prototypes \
	-Werror -O2 -g -I$(SOURCE)/src $(LARGE_FILES)
UNIT_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
UNIT_LIBS = -lcmocka -lm
# Some compilers fortify calls unless told otherwise: these then have other names.
UNIT_CFLAGS += -U_FORTIFY_SOURCE
# In recipes: options for the calls that a test replaces, of the library it is linked with.
UNIT_WRAP = wrap=$$($(SOURCE)/test/unit/wrapped_calls $(NM) $(1) $<)
NM ?= nm

# The engine is compiled once for all tests.  A call that a test replaces is replaced in the
# members of the library too, since the linker does it wherever a symbol is undefined.
unit/%.o: src/engine/%.c $(ENGINE_HEADERS)
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) -c $< -o $@

unit-asan/%.o: src/engine/%.c $(ENGINE_HEADERS)
	@mkdir -p $(@D)
	$(UNIT_CC) $(UNIT_CFLAGS) $(UNIT_SANITIZE) -c $< -o $@

unit/engine.a: $(ENGINE:src/engine/%.c=unit/%.o)
unit-asan/engine.a: $(ENGINE:src/engine/%.c=unit-asan/%.o)
unit/engine.a unit-asan/engine.a:
	rm -f $@
	$(AR) rcs $@ $^

UNIT_PARTS = $(ENGINE_HEADERS) $(call sources,test/unit/*.h) test/unit/wrapped_calls

unit/%: test/unit/%.c unit/engine.a $(UNIT_PARTS)
	$(call UNIT_WRAP,unit/engine.a) && \
		$(UNIT_CC) $(UNIT_CFLAGS) $$wrap $< unit/engine.a $(UNIT_LIBS) -o $@

unit-asan/%: test/unit/%.c unit-asan/engine.a $(UNIT_PARTS)
	$(call UNIT_WRAP,unit-asan/engine.a) && \
		$(UNIT_CC) $(UNIT_CFLAGS) $(UNIT_SANITIZE) $$wrap $< unit-asan/engine.a \
			$(UNIT_LIBS) -o $@

unit-check: $(UNIT_TESTS)
	SP_FIXTURES=$(SOURCE)/test/fixtures prove -v --exec '' $(UNIT_TESTS)

unit-check-sanitized: $(UNIT_TESTS:unit/%=unit-asan/%) $(FUZZ_TARGETS:%=unit-asan/replay_%)
	SP_FIXTURES=$(SOURCE)/test/fixtures prove -v --exec '' $^

# The fuzz targets, fed with fixtures.  script/fuzz looks for new inputs.
unit-asan/replay_%: test/fuzz/fuzz_%.c test/fuzz/replay.c test/fuzz/fuzz.h \
	test/unit/tree.h unit-asan/engine.a $(ENGINE_HEADERS)
	$(UNIT_CC) $(UNIT_CFLAGS) $(UNIT_SANITIZE) $(filter %.c,$^) unit-asan/engine.a -lm -o $@

.PHONY: release-script unit-check unit-check-sanitized
