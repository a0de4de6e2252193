#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Prepare the kernel tree of this checkout and print where it is. With a number N:
# a tree that has only the first N commits of the series.

. "$(dirname "$0")/lib.sh"

need python3 git xz-utils
[ -n "${KERNEL_SRC:-}" ] || need linux-source-6.12
export GENERIC_PT_CACHE="$CACHE"
exec python3 "$TOOLS/prepare.py" "$@"
