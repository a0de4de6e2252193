#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Boots a kernel in QEMU whose devices do DMA through an emulated AMD IOMMU.
#
#   rig.sh run [SCENARIO...]    build and boot, for a person
#   rig.sh test [SCENARIO...]   the same as TAP on stdout
#   rig.sh sanitize [SCENARIO...]   with KCSAN, lockdep, kmemleak, failing allocations
#   rig.sh build                only the kernel
#   rig.sh tables [GIB [ROUNDS]]
#                               what one page in each 2 MiB of so much IOVA takes,
#                               leaves and costs, in the kernels below (64 GiB, 3 rounds)
#
# QEMU=COMMAND        QEMU to use (qemu-system-x86_64)
# QEMU_VERSION=X.Y    fetch that QEMU (10.0 or 11.1) and use it
# ACCEL=kvm           for real hosts (tcg)
# RIG_KERNEL=BZIMAGE  boot this kernel instead of building one
#
# Kernels to compare, without debug options:
# RIG_PLAIN=1         the library
# RIG_KEEP=1          the library, which keeps empty tables
# RIG_BASE=1          the kernel without the series

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rig/kernel.sh"

build()
{
	if [ -n "${RIG_KERNEL:-}" ]; then
		IMAGE=$RIG_KERNEL
		magic=$(dd if="$IMAGE" bs=1 skip=514 count=4 2>/dev/null | tr -d '\0')
		[ "$magic" = HdrS ] || die "RIG_KERNEL=$IMAGE: no bzImage of an x86 kernel" \
			"name one, or leave it out to build one"
		return
	fi
	prepare_kernel
	kernel_build_env
	if [ "$command" = sanitize ]; then
		# Of all that is ours only the suites' model of what is mapped uses it, and
		# would keep KCSAN busy
		UNWATCHED=maple_tree.o guest_kernel rig-sanitize \
			"$TOOLS/rig/x86_64.config" "$TOOLS/rig/debug.config" \
			"$TOOLS/rig/generic_pt.config" "$TOOLS/rig/generic_pt_debug.config" \
			"$TOOLS/rig/sanitize.config"
	elif [ -n "${RIG_BASE:-}" ]; then
		KERNEL=$("$TOOLS/prepare.sh" 0)
		BUILDS=$(dirname "$KERNEL")/build
		guest_kernel rig-base "$TOOLS/rig/x86_64.config"
	elif [ -n "${RIG_KEEP:-}" ]; then
		guest_kernel rig-keep "$TOOLS/rig/x86_64.config" "$TOOLS/rig/generic_pt.config" \
			"$TOOLS/rig/keep.config"
	elif [ -n "${RIG_PLAIN:-}" ]; then
		guest_kernel rig-plain "$TOOLS/rig/x86_64.config" "$TOOLS/rig/generic_pt.config"
	else
		guest_kernel rig "$TOOLS/rig/x86_64.config" "$TOOLS/rig/debug.config" \
			"$TOOLS/rig/generic_pt.config" "$TOOLS/rig/generic_pt_debug.config"
	fi
}

# Set QEMU and install what all boots need
boot_environment()
{
	need python3 busybox-static e2fsprogs
	if [ -n "${QEMU_VERSION:-}" ]; then
		QEMU=$("$TOOLS/qemu.sh" "$QEMU_VERSION")
		export QEMU
	elif [ -z "${QEMU:-}" ]; then
		need qemu-system-x86
	fi
}

# can_boot [--tap] [SCENARIO...]: what can be known to fail before a kernel is built
can_boot()
{
	boot_environment
	python3 "$TOOLS/rig/main.py" --check "$@"
}

# boots [--tap] [SCENARIO...]
boots()
{
	options=
	case " $* " in
	*' amd-tables '*|*' amd-vfio-user '*|*' iommufd '*|*' sanitize-iommufd '*|' --tap ')
		[ -n "${KERNEL:-}" ] || { prepare_kernel; kernel_build_env; }
		;;
	esac
	case " $* " in
	*' iommufd '*|*' sanitize-iommufd '*|' --tap ')
		guest_selftests
		options="--selftests $SELFTESTS"
		;;
	esac
	case " $* " in
	*' amd-tables '*|*' amd-vfio-user '*|' --tap ')
		guest_programs
		options="$options --programs $PROGRAMS"
		;;
	esac
	# shellcheck disable=SC2086 # options and their values
	python3 "$TOOLS/rig/main.py" --kernel "$IMAGE" --out "$OUT/rig" $options "$@"
}

compare()
{
	case ${1:-64}:${2:-3} in
	*[!0-9:]*) die "GIB=${1:-64} ROUNDS=${2:-3}: must be numbers" "rig.sh tables [GIB [ROUNDS]]" ;;
	esac
	boot_environment
	ours=$(RIG_PLAIN=1 "$TOOLS/rig.sh" build)
	kept=$(RIG_KEEP=1 "$TOOLS/rig.sh" build)
	base=$(RIG_BASE=1 "$TOOLS/rig.sh" build)
	prepare_kernel
	kernel_build_env
	guest_programs
	python3 "$TOOLS/rig/compare.py" --out "$OUT/rig" --programs "$PROGRAMS" \
		--gib "${1:-64}" --rounds "${2:-3}" --to kept \
		"ours=$ours" "kept=$kept" "6.12=$base" | tee "$OUT/rig-tables.txt"
}

command=${1:-run}
[ $# -eq 0 ] || shift
case $command in
build)
	build
	echo "$IMAGE"
	;;
run)
	can_boot "$@"
	build
	boots "$@"
	;;
test)
	can_boot --tap "$@"
	build
	boots --tap "$@"
	;;
sanitize)
	[ $# != 0 ] || set -- sanitize-kunit sanitize-threads sanitize-iommufd sanitize-dma
	can_boot --tap "$@"
	build
	boots --tap "$@"
	;;
tables)
	compare "$@"
	;;
*)
	die "unknown command '$command'" "rig.sh run|test|sanitize|build|tables"
	;;
esac
