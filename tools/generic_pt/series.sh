#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Write the patch series to build/series/. With BUILD=1 also compile
# drivers/iommu/ after each of its patches.

. "$(dirname "$0")/lib.sh"

prepare_kernel
python3 "$TOOLS/series.py" "$(cat "$(dirname "$KERNEL")/base")" "$KERNEL"
[ -n "${BUILD:-}" ] || exit 0

kernel_build_env
O=$BUILDS/step
LOG=$OUT/series-build.log
: >"$LOG"
n=0
for patch in "$OUT"/series/*.patch; do
	case $patch in */0000-*) continue ;; esac
	n=$((n + 1))
	tree=$("$TOOLS/prepare.sh" $n 2>>"$LOG")
	say "building with patch $n: $(basename "$patch")"
	for target in allnoconfig drivers/iommu/; do
		make -C "$tree" O="$O" ARCH=x86_64 -j"$JOBS" \
			KCONFIG_ALLCONFIG="$TOOLS/check.config" $target >>"$LOG" 2>&1 </dev/null || {
			grep -E 'error:|\*\*\*' "$LOG" | head -n 5 >&2
			die "the kernel does not build after patch $n" "see build/series-build.log"
		}
	done
done
say "drivers/iommu/ builds after each of $n patches"
