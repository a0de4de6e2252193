# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own selftests of iommufd, on its mock driver. What the programs
# print goes to the host, which judges it; so do counts of what must not leak.

# What is in use when nothing uses iommufd. Tables are freed after a grace period
say_memory() { # WHEN
	echo 1 > /proc/sys/vm/stat_refresh
	say memory when="$1" tables="$(iommu_pages)" \
		huge="$(sed -n 's/^HugePages_Free: *//p' /proc/meminfo)"
}

run() { # PROGRAM
	{
		"/rig/$1" 2>&1
		echo "exit code $?"
	} | while IFS= read -r line; do
		say tap program="$1" text="$line"
	done
}

mount -t debugfs debug /sys/kernel/debug
# Tables are single pages: let those fail too
echo 0 > /sys/kernel/debug/fail_page_alloc/min-order

# What the boot has left is not of interest
echo scan > $kmemleak
echo clear > $kmemleak
say_memory before
for program in iommufd iommufd_fail_nth; do
	say program name=$program
	run $program
	for i in $(seq 50); do
		[ "$(iommu_pages)" = 0 ] && break
		usleep 100000
	done
	say_memory $program
done
say_leaks 60
