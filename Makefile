# SPDX-License-Identifier: GPL-2.0
#
# Entry points. Each target is one script in tools/generic_pt/.

S := tools/generic_pt

.PHONY: help run test check cross kunit sanitize model qtest fuzz mutate coverage bench bench-compare rig-tables kernel-path series clean

help:
	@echo 'make run          boot a kernel with the library in QEMU: DMA through its tables'
	@echo 'make test         all tests that need neither hours nor more kernels; last line counts'
	@echo 'make check        checkpatch, sparse, W=1, clang-format, kernel-doc, coccicheck'
	@echo 'make cross        compile the library for i386, arm64, riscv64, and with clang'
	@echo 'make kunit        KUnit suites: UML with and without debug, x86_64 in QEMU: CONFIGS=LIST'
	@echo 'make sanitize     KUnit under KASAN; suites, iommufd and DMA under KCSAN, lockdep, kmemleak'
	@echo 'make model        check the model of a table'"'"'s life with spin, more of it than make test'
	@echo 'make qtest        have the walkers of QEMU 11.1 read tables of the library, no kernel'
	@echo 'make fuzz         let libFuzzer look for faults of the library: T=SECONDS, KEEP=1'
	@echo 'make mutate       break the library and count what tests notice: N=MUTANTS, T=SECONDS'
	@echo 'make coverage     lines and branches of the library that the tests run, as HTML too'
	@echo 'make bench        time the library against floors and 6.12 (fails only if it cannot)'
	@echo 'make rig-tables   in guests, what tables sparse pages leave and cost: GIB=64, ROUNDS=3'
	@echo 'make bench-compare A=FILE B=FILE   what moved from one build/bench.json to another'
	@echo 'make kernel-path  prepare the kernel tree and print where it is'
	@echo 'make series       write overlay and patches as a git format-patch series'
	@echo 'make clean        remove build/ and the prepared tree, keep unpacked kernels'
	@echo
	@echo 'KERNEL_SRC=PATH       kernel tree or tarball to use instead of linux-source-6.12'
	@echo 'GENERIC_PT_CACHE=DIR  where kernels and build outputs are (~/.cache/generic-pt)'
	@echo 'JOBS=N                parallel jobs of a build (number of CPUs)'
	@echo 'ACCEL=kvm             run QEMU on KVM (default: tcg)'
	@echo 'QEMU_VERSION=X.Y      fetch QEMU 10.0 or 11.1 and use it; QEMU=COMMAND names one'
	@echo 'RIG_KERNEL=BZIMAGE    make run, make test: boot it instead of building one'
	@echo 'BUILD=1               make series: also compile after each patch'

run:
	@$S/rig.sh run

test:
	@$S/test.sh

check:
	@$S/check.sh

kunit:
	@$S/kunit.sh $(CONFIGS)

sanitize:
	@$S/kunit.sh um-kasan
	@$S/rig.sh sanitize

model:
	@$S/model.sh full

cross:
	@$S/cross.sh

qtest fuzz mutate coverage:
	@$S/deep.sh $@

bench:
	@$S/bench.sh

bench-compare:
	@python3 $S/bench.py compare $A $B

rig-tables:
	@$S/rig.sh tables $(or $(GIB),64) $(or $(ROUNDS),3)

kernel-path:
	@$S/prepare.sh

series:
	@$S/series.sh

clean:
	@$S/clean.sh
