#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites through the kernel's own kunit.py. TAP on stdout, logs in
# build/kunit/.
#
# usage: kunit.sh [CONFIG...]    of, without more the first three:
#	um-debug um	UML with and without the debug option
#	x86_64		emulated by QEMU
#	um-kasan	UML with KASAN
#	um32 i386	32-bit: UML, and emulated by QEMU

. "$(dirname "$0")/lib.sh"

CONFIGS=${*:-um-debug um x86_64}
TIMEOUT=${KUNIT_TIMEOUT:-1500}

# Before the first of them is built
for c in $CONFIGS; do
	case $c in
	um-debug | um | x86_64 | um-kasan | um32 | i386) ;;
	*) die "no KUnit configuration $c" "choose of: um-debug um x86_64 um-kasan um32 i386" ;;
	esac
done

kernel_build_env
prepare_kernel
KUNITCONFIG=$KERNEL/drivers/iommu/generic_pt/.kunitconfig
[ -f "$KUNITCONFIG" ] ||
	die "no drivers/iommu/generic_pt/.kunitconfig in this checkout" "without it there are no suites to run"
mkdir -p "$OUT/kunit"
lock "$BUILDS/kunit.lock"

# run_one NAME DEBUG ARGUMENT...
run_one()
{
	name=$1 debug=$2
	shift 2
	log=$OUT/kunit/$name.log
	json=$OUT/kunit/$name.json
	rm -f "$json" "$BUILDS/kunit-$name/test.log"
	say "kunit $name: building and running (log: build/kunit/$name.log)"
	start=$(date +%s)
	rc=0
	heartbeat "kunit $name" "$BUILDS/kunit-$name"
	# kunit.py has a timeout for the guest; the outer one is for itself
	(cd "$KERNEL" && timeout --foreground -k 10 7200 ./tools/testing/kunit/kunit.py run \
		--kunitconfig "$KUNITCONFIG" --kconfig_add "CONFIG_DEBUG_GENERIC_PT=$debug" \
		--build_dir "$BUILDS/kunit-$name" --jobs "$JOBS" --timeout "$TIMEOUT" \
		--json="$json" "$@") >"$log" 2>&1 9>&- </dev/null || rc=$?
	heartbeat_end
	cp "$BUILDS/kunit-$name/test.log" "$OUT/kunit/$name.console" 2>/dev/null || :
	python3 "$TOOLS/kunit_tap.py" "$name" "$json" "$log" "$OUT/kunit/$name.console" "$rc" ||
		TAP_FAILED=$((TAP_FAILED + 1))
	say "kunit $name: done in $(($(date +%s) - start)) s"
}

# emulated ARCH ARGUMENT...: run_one for an x86 that QEMU emulates
emulated()
{
	arch=$1
	shift
	need qemu-system-x86
	# Many random operations are for UML, which runs native code
	for f in amdv1 amdv1_mock riscv_64 vtdss x86_64; do
		set -- "$@" "--kernel_args=iommu_$f.kunit_ops=${KUNIT_OPS:-100}"
	done
	# The default CPU of 32 bits has no CLFLUSH
	cpu=
	[ "$arch" != i386 ] || cpu=' -cpu max'
	# An accelerator that QEMU chooses itself may be one that does not work here
	run_one "$arch" y --arch="$arch" --qemu_args="-accel ${ACCEL:-tcg}$cpu" "$@"
}

for c in $CONFIGS; do
	case $c in
	um-debug) run_one um-debug y ;;
	um) run_one um n ;;
	um-kasan)
		run_one um-kasan y --kconfig_add CONFIG_KASAN=y --kconfig_add CONFIG_KASAN_INLINE=y
		;;
	um32)
		need gcc-i686-linux-gnu libc6-dev-i386-cross
		# There is no loader for shared 32-bit programs
		run_one um32 y --make_options SUBARCH=i386 --cross_compile=i686-linux-gnu- \
			--kconfig_add CONFIG_STATIC_LINK=y
		;;
	i386)
		need gcc-i686-linux-gnu
		emulated i386 --cross_compile=i686-linux-gnu-
		;;
	x86_64) emulated x86_64 ;;
	esac
done

[ "$TAP_FAILED" = 0 ]
