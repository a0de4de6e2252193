#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compile the library and all its formats for other architectures and with
# clang. TAP on stdout: one line a compiler and architecture, after it what it
# warned of. Full logs in build/cross/.
#
# usage: cross.sh [ARCH-COMPILER...]      (default: all)

. "$(dirname "$0")/lib.sh"

TARGETS=${*:-x86_64-gcc x86_64-clang i386-gcc i386-clang arm64-gcc arm64-clang riscv-gcc riscv-clang}

# Before the first of them is built
for t in $TARGETS; do
	case $t in
	x86_64-gcc | x86_64-clang | i386-gcc | i386-clang) ;;
	arm64-gcc | arm64-clang | riscv-gcc | riscv-clang) ;;
	*) die "cannot compile for $t" "choose of: {x86_64,i386,arm64,riscv}-{gcc,clang}" ;;
	esac
done

LIBRARY="drivers/iommu/generic_pt/ drivers/iommu/iommu-pages.o"

kernel_build_env
prepare_kernel
KUNITCONFIG=$KERNEL/drivers/iommu/generic_pt/.kunitconfig
LOGS=$OUT/cross
mkdir -p "$LOGS"
lock "$BUILDS/cross.lock"

# compiler ARCH COMPILER: install it; sets CROSS and CC
compiler()
{
	case $1 in
	x86_64) CROSS='' ;;
	i386) CROSS=i686-linux-gnu- ;;
	arm64) CROSS=aarch64-linux-gnu- ;;
	riscv) CROSS=riscv64-linux-gnu- ;;
	esac
	# clang uses the binutils, which come with gcc
	case $1 in
	i386) need gcc-i686-linux-gnu ;;
	arm64) need gcc-aarch64-linux-gnu ;;
	riscv) need gcc-riscv64-linux-gnu ;;
	esac
	case $2 in
	gcc) CC=${CROSS}gcc ;;
	clang)
		need clang
		CC=clang
		;;
	esac
}

kmake()
{
	make -C "$KERNEL" O="$O" ARCH="$ARCH" CROSS_COMPILE="$CROSS" CC="$CC" -j"$JOBS" "$@" \
		9>&- </dev/null
}

# compile ARCH COMPILER DEBUG: with or without the debug option
compile()
{
	name=$1-$2$3
	O=$BUILDS/cross-$1-$2
	log=$LOGS/$name
	mkdir -p "$O"
	{
		grep -v DEBUG_GENERIC_PT "$KUNITCONFIG"
		cat "$TOOLS/cross.config"
		[ "$1" = i386 ] || echo CONFIG_64BIT=y
		[ -z "$3" ] || echo CONFIG_DEBUG_GENERIC_PT=y
	} >"$O/wanted"
	rc=0
	# shellcheck disable=SC2086 # a list of targets
	{
		kmake KCONFIG_ALLCONFIG="$O/wanted" allnoconfig &&
		kmake W=1 $LIBRARY
	} >"$log.log" 2>&1 || rc=$?
	sed "s,^\.\./\.\./linux/,,; s,^$KERNEL/,," "$log.log" |
		grep -E '^(drivers/iommu/generic_pt|drivers/iommu/iommu-pages|include/linux/generic_pt).*(warning|error):' |
		sort -u >"$log" || :
	[ $rc = 0 ] || echo "make ended with $rc: see build/cross/$name.log" >>"$log"
	# What Kconfig refused was not compiled
	sed -n 's/^CONFIG_IOMMU_PT_\(AMDV1\|AMDV1_MOCK\|RISCV64\|VTDSS\|X86_64\)=y$/\1/p' \
		"$KUNITCONFIG" | while read -r f; do
		grep -q "^CONFIG_IOMMU_PT_$f=y" "$O/.config" || echo "Kconfig refuses $f"
	done >>"$log"
	grep -q '^CONFIG_IOMMU_PT_KUNIT_TEST=y' "$O/.config" || echo "Kconfig refuses the suites" >>"$log"
	if [ -s "$log" ]; then
		not_ok "cross: $name"
		sed 's/^/# /' "$log" | head -n 20
	else
		ok "cross: $name compiles without a warning"
	fi
}

for t in $TARGETS; do
	ARCH=${t%-*}
	compiler "$ARCH" "${t##*-}"
	start=$(date +%s)
	compile "$ARCH" "${t##*-}" ''
	compile "$ARCH" "${t##*-}" -debug
	say "cross: $t done in $(($(date +%s) - start)) s"
done

[ "$TAP_FAILED" = 0 ]
