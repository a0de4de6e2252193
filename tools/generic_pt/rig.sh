#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Boots a kernel in QEMU whose devices do DMA through an emulated AMD IOMMU.
#
#   rig.sh run [SCENARIO...]    build and boot, for a person
#   rig.sh test [SCENARIO...]   the same as TAP on stdout
#   rig.sh build                only the kernel
#
# QEMU=COMMAND        QEMU to use (qemu-system-x86_64)
# QEMU_VERSION=X.Y    fetch that QEMU (10.0 or 11.1) and use it
# ACCEL=kvm           for real hosts (tcg)
# RIG_KERNEL=BZIMAGE  boot this kernel instead of building one
# RIG_BASE=1          build without the library, to compare

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rig/kernel.sh"

build()
{
	if [ -n "${RIG_KERNEL:-}" ]; then
		IMAGE=$RIG_KERNEL
		return
	fi
	prepare_kernel
	kernel_build_env
	if [ -n "${RIG_BASE:-}" ]; then
		guest_kernel rig-base "$TOOLS/rig/x86_64.config"
	else
		guest_kernel rig "$TOOLS/rig/x86_64.config" "$TOOLS/rig/generic_pt.config"
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

# boots [--tap] [SCENARIO...]
boots()
{
	options=
	case " $* " in
	*' amd-tables '*|*' amd-vfio-user '*|*' iommufd '*|' --tap ')
		[ -n "${KERNEL:-}" ] || { prepare_kernel; kernel_build_env; }
		;;
	esac
	case " $* " in
	*' iommufd '*|' --tap ')
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
	boot_environment
	# shellcheck disable=SC2086 # options and their values
	python3 "$TOOLS/rig/main.py" --kernel "$IMAGE" --out "$OUT/rig" $options "$@"
}

command=${1:-run}
[ $# -eq 0 ] || shift
case $command in
build)
	build
	echo "$IMAGE"
	;;
run)
	build
	boots "$@"
	;;
test)
	build
	boots --tap "$@"
	;;
*)
	die "unknown command '$command'" "rig.sh run|test|build"
	;;
esac
