#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites through the kernel's own kunit.py: UML with and without
# the debug option, and x86_64 in QEMU. TAP on stdout, logs in build/kunit/.
#
# usage: kunit.sh [CONFIG...]    of: um-debug um x86_64 (all three)

. "$(dirname "$0")/lib.sh"

CONFIGS=${*:-um-debug um x86_64}
TIMEOUT=${KUNIT_TIMEOUT:-1500}

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

for c in $CONFIGS; do
	case $c in
	um-debug) run_one um-debug y ;;
	um) run_one um n ;;
	x86_64)
		need qemu-system-x86
		# Many random operations are for UML, which runs native code
		set --
		for f in amdv1 amdv1_mock riscv_64 vtdss x86_64; do
			set -- "$@" "--kernel_args=iommu_$f.kunit_ops=${KUNIT_OPS:-100}"
		done
		# An accelerator that QEMU chooses itself may be one that does not work here
		run_one x86_64 y --arch=x86_64 --qemu_args="-accel ${ACCEL:-tcg}" "$@"
		;;
	*) die "no KUnit configuration $c" "choose of: um-debug um x86_64" ;;
	esac
done

[ "$TAP_FAILED" = 0 ]
