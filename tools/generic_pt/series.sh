#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Write the patch series to build/series/.

. "$(dirname "$0")/lib.sh"

prepare_kernel
exec python3 "$TOOLS/series.py" "$(cat "$(dirname "$KERNEL")/base")" "$KERNEL"
