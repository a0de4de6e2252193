#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Remove build/, this checkout's prepared trees with their build outputs, and
# those of checkouts that are gone. Unpacked kernels and ccache stay.

. "$(dirname "$0")/lib.sh"

rm -rf "$OUT"
for t in "$CACHE"/trees/*; do
	[ -f "$t/checkout" ] || continue
	c=$(cat "$t/checkout")
	[ "$c" = "$ROOT" ] || [ ! -d "$c" ] || continue
	say "removing $t"
	rm -rf "$t"
done
say "kept: $CACHE (remove it for a fresh start)"
