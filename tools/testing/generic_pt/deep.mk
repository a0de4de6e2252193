# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzing, mutation and coverage, included by the Makefile
#
#	make fuzz		let libFuzzer look for faults: T=SECONDS KEEP=1
#	make mutate		count the faults that tests notice: N=NUMBER SEED=S T=SECONDS
#	make coverage		what of the library the tests run: OPS=N
#	make layers		break the library once for each layer of the tests

FUZZ := fuzz $(RUN)
CONTRACT := contract contract_init contract_flush contract_between \
	contract_usage contract_runs $(BASE)

# New is what is new in the library
FLAGS_fuzz := -O1 -g1 $(FLAGS_asan)
FUZZED := $(LIBS:%=$(OUT)/fuzz/%.o) $(OUT)/fuzz/iommu-pages.o
DEEP_PROGRAMS := contract fuzz-replay-asan

# Variants of the library alone: mutants that are quick to compile, and counters
FLAGS_mutant := -O0 -g0
FLAGS_coverage := -O0 -g0 --coverage
FLAGS_mutant-race := -O1 -g0 $(FLAGS_race-tsan)
LINK_coverage := --coverage -Wl,--wrap=_exit
VARIED := $(LIBS) iommu-pages

$(foreach v,fuzz mutant mutant-race coverage,$(eval $(call variant,$(v))))
$(LIBS:%=$(OUT)/mutant-race/%.o): CFLAGS += -finstrument-functions
$(FUZZED): CFLAGS += -fsanitize=fuzzer-no-link

$(eval $(call program,contract,asan,$(CONTRACT)))
$(eval $(call program,fuzz-replay,plain,fuzz_replay $(FUZZ)))
$(eval $(call program,fuzz-replay-asan,asan,fuzz_replay $(FUZZ)))
$(eval $(call program,fuzzer,fuzz,$(FUZZ)))
$(eval $(call program,races-mutant-race,mutant-race,$(RACES)))
$(OUT)/fuzzer: private FLAGS_fuzz += -fsanitize=fuzzer

# $(call varied,NAME,VARIANT,OBJECTS): the library of a variant, the rest plain
define varied
$(OUT)/$(1)-$(2): $(patsubst %,$(OUT)/$(2)/%.o,$(filter $(VARIED),$(3))) \
		$(patsubst %,$(OUT)/plain/%.o,$(filter-out $(VARIED),$(3)))
	$$(CC) $$(CFLAGS) $$(LINK_$(2)) -o $$@ $$^ -lpthread
endef
$(eval $(call varied,contract,mutant,$(CONTRACT)))
$(eval $(call varied,small,mutant,small $(RUN)))
$(eval $(call varied,random,mutant,$(RANDOM)))
$(eval $(call varied,fuzz-replay,mutant,fuzz_replay $(FUZZ)))
$(eval $(call varied,contract,coverage,$(CONTRACT) coverage_exit))
$(eval $(call varied,golden,coverage,golden coverage_exit $(BASE)))
$(eval $(call varied,small,coverage,small $(RUN) coverage_exit))
$(eval $(call varied,random,coverage,$(RANDOM) coverage_exit))
$(eval $(call varied,fuzz-replay,coverage,fuzz_replay $(FUZZ) coverage_exit))

# It looks at what is written back from the cache
$(OUT)/contract $(OUT)/contract-mutant $(OUT)/contract-coverage: \
	private CFLAGS += -Wl,--wrap=clflush_cache_range

all: $(DEEP_PROGRAMS:%=$(OUT)/%)

.PHONY: fuzz mutate coverage coverage-programs layers

mutate:
	./mutate.py $(if $N,-n $N) $(if $T,-t $T) -s $(if $(filter file,$(origin SEED)),1,$(SEED)) \
		-j $(or $(JOBS),$(shell nproc)) $(MUTANTS)

coverage-programs: $(patsubst %,$(OUT)/%-coverage,contract golden small random fuzz-replay)

coverage:
	@OPS=$(if $(filter file,$(origin OPS)),20000,$(OPS)) ./coverage.sh

fuzz:
	./fuzz.py $(if $T,-t $T) $(if $(JOBS),-j $(JOBS)) $(if $(KEEP),-k)

layers:
	./breaks.py -l
