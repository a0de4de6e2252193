# SPDX-License-Identifier: GPL-2.0
#
# The KUnit suites ran when the kernel booted: tells the host what came of them,
# and what memory they left behind.

mount -t debugfs debug /sys/kernel/debug
for suite in /sys/kernel/debug/kunit/*; do
	say suite name="$(basename "$suite")"
	grep -E '^    (1\.\.|#|ok|not ok)' "$suite/results" | while IFS= read -r line; do
		say tap program="$(basename "$suite")" text="$line"
	done
done
echo 1 > /proc/sys/vm/stat_refresh
say memory when=after tables="$(iommu_pages)"
if grep -qw kmemleak=on /proc/cmdline; then
	say_leaks 300
fi
