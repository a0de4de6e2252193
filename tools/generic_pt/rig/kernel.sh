# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Builds guest kernels. To be sourced after lib.sh.

# refused_options CONFIG FRAGMENT...: what a fragment asks for and .config lacks
refused_options()
{
	config=$1
	shift
	sed -n '/^CONFIG_/p' "$@" | grep -vxFf "$config" || :
	sed -n 's/^# \(CONFIG_.*\) is not set$/\1=/p' "$@" | while read -r option; do
		grep "^$option" "$config" || :
	done
}

# guest_kernel NAME FRAGMENT...: build tinyconfig plus the fragments from
# KERNEL in BUILDS/NAME. UNWATCHED=OBJECT leaves that one without KCSAN. Sets IMAGE.
guest_kernel()
{
	build=$BUILDS/$1
	log=$OUT/$1-kernel.log
	shift
	mkdir -p "$build" "$OUT"
	lock "$build.lock"

	# The configuration is made anew only when a fragment or a Kconfig file
	# could have changed it; an unchanged one keeps its time stamp
	KCONFIG_CONFIG=$build/.config.new
	export KCONFIG_CONFIG
	make -s -C "$KERNEL" O="$build" ARCH=x86_64 tinyconfig >"$log" 2>&1 &&
	cat "$@" >>"$KCONFIG_CONFIG" &&
	make -s -C "$KERNEL" O="$build" ARCH=x86_64 olddefconfig >>"$log" 2>&1 || {
		tail -n 5 "$log" >&2
		die "the kernel could not be configured" "see $log"
	}
	refused=$(refused_options "$KCONFIG_CONFIG" "$@")
	[ -z "$refused" ] || {
		echo "$refused" >&2
		die "the kernel's Kconfig refuses these options" "look for what they depend on"
	}
	unset KCONFIG_CONFIG
	if cmp -s "$build/.config.new" "$build/.config"; then
		rm "$build/.config.new"
	else
		mv "$build/.config.new" "$build/.config"
	fi
	rm -f "$build/.config.new.old"

	say "building the guest kernel (log: ${log#"$ROOT"/}; minutes the first time)"
	heartbeat "guest kernel" "$build"
	rc=0
	make -C "$KERNEL" O="$build" ARCH=x86_64 -j"$JOBS" \
		${UNWATCHED:+"KCSAN_SANITIZE_$UNWATCHED=n"} bzImage >>"$log" 2>&1 || rc=$?
	heartbeat_end
	[ "$rc" = 0 ] || {
		grep -E 'error:|Error ' "$log" | head -n 10 >&2
		die "the guest kernel does not build" "see $log"
	}
	IMAGE=$build/arch/x86/boot/bzImage
}

# guest_headers: what KERNEL gives to userspace. Sets HEADERS.
guest_headers()
{
	HEADERS=$BUILDS/headers
	log=$OUT/headers.log
	mkdir -p "$HEADERS" "$OUT"
	make -s -C "$KERNEL" O="$HEADERS" ARCH=x86_64 headers >"$log" 2>&1 || {
		grep -E 'error:|Error ' "$log" | head -n 10 >&2
		die "the kernel's headers cannot be made" "see $log"
	}
	HEADERS=$HEADERS/usr/include
}

# guest_programs: compile those of guest/, static. Sets PROGRAMS.
guest_programs()
{
	need gcc libc6-dev
	guest_headers
	PROGRAMS=$BUILDS/programs
	mkdir -p "$PROGRAMS"
	for program in tables leaves; do
		gcc -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -static -isystem "$HEADERS" \
			-o "$PROGRAMS/$program" "$TOOLS/rig/guest/$program.c" "$TOOLS/rig/guest/vfio.c" ||
			die "the guest's program '$program' does not compile" "see above"
	done
}

# guest_selftests: build the kernel's selftests of iommufd from KERNEL, static, with
# the headers that KERNEL gives to userspace. Sets SELFTESTS.
guest_selftests()
{
	guest_headers
	SELFTESTS=$BUILDS/selftests
	log=$OUT/selftests.log
	source=$KERNEL/tools/testing/selftests
	mkdir -p "$SELFTESTS"
	# Their makefile knows only of some of the headers that they include
	includes="$source/kselftest_harness.h $source/kselftest.h"
	includes="$includes $source/iommu/iommufd_utils.h"
	includes="$includes $KERNEL/drivers/iommu/iommufd/iommufd_test.h"
	includes="$includes $HEADERS/linux/iommufd.h"
	make -C "$source/iommu" OUTPUT="$SELFTESTS" KHDR_INCLUDES="-isystem $HEADERS" \
		USERCFLAGS=-Werror USERLDFLAGS=-static LOCAL_HDRS="$includes" >"$log" 2>&1 || {
		grep -E 'error:|Error ' "$log" | head -n 10 >&2
		die "the selftests do not build" "see $log"
	}
}
