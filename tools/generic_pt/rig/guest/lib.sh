# SPDX-License-Identifier: GPL-2.0
#
# What every guest script needs. A line for the host is "RIG: word key=value...";
# the last value of a line may hold spaces if its key is "text".

# say WORD KEY=VALUE...
say() {
	echo "RIG: $*"
}

# fail KIND TEXT: the host counts this as a failure of the boot
fail() {
	local kind=$1
	shift
	say fail kind="$kind" text="$*"
}

# parameter NAME [DEFAULT]: value of rig.NAME= on the kernel command line
parameter() {
	local word
	for word in $(cat /proc/cmdline); do
		case $word in
		"rig.$1="*)
			echo "${word#*=}"
			return
			;;
		esac
	done
	echo "$2"
}

# checkpoint NAME: the host does its part of the work, then the guest goes on
checkpoint() {
	local answer
	say checkpoint name="$1"
	if ! read -r -t 60 answer; then
		fail host "no answer to checkpoint $1"
		return 1
	fi
	[ "$answer" = go ]
}

# wait_for PATH: devices are probed asynchronously
wait_for() {
	local i=0
	until [ -e "$1" ]; do
		i=$((i + 1))
		if [ $i -gt 300 ]; then
			fail device "$1 did not appear within 30 seconds"
			return 1
		fi
		usleep 100000
	done
}

# Pages that hold IOMMU tables (and queues) now
iommu_pages() {
	sed -n 's/^nr_iommu_pages //p' /proc/vmstat
}

# Sectors and bytes that disks and cards have moved
work_done() {
	cat /sys/block/*/stat /sys/class/net/*/statistics/[rt]x_bytes |
		awk 'NF > 1 { n += $3 + $7 } NF == 1 { n += $1 } END { print n }'
}

# watch_work FILE: until killed, keep the largest number of IOMMU pages in FILE,
# and tell the host every now and then that work goes on, if it does
watch_work() {
	local now before=0 max=0 i=0
	while :; do
		now=$(iommu_pages)
		if [ "${now:-0}" -gt $max ]; then
			max=$now
			echo "$max" > "$1"
		fi
		i=$((i + 1))
		if [ $((i % 20)) = 0 ]; then
			now=$(work_done)
			[ "$now" = "$before" ] || say alive work="$now"
			before=$now
		fi
		usleep 300000
	done
}

# say_devices: IOMMU group and kind of domain of each PCI device with a driver
say_devices() {
	local dev driver group
	for dev in /sys/bus/pci/devices/*; do
		[ -e "$dev/driver" ] || continue
		driver=$(basename "$(readlink "$dev/driver")")
		if [ -e "$dev/iommu_group" ]; then
			group=$(basename "$(readlink "$dev/iommu_group")")
			say device bdf="$(basename "$dev")" driver="$driver" \
				group="$group" type="$(cat "$dev/iommu_group/type")"
		else
			say device bdf="$(basename "$dev")" driver="$driver" \
				group=none type=none
		fi
	done
}

drop_caches() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
}

# netdev_of DRIVER: name of the interface that a driver serves. The driver of
# a virtio interface belongs to the virtio device, not to the PCI device.
netdev_of() {
	local dev
	for dev in /sys/class/net/*; do
		[ -e "$dev/device/driver" ] || continue
		if [ "$(basename "$(readlink "$dev/device/driver")")" = "$1" ]; then
			basename "$dev"
			return
		fi
	done
	return 1
}

# say_leaks LINES: what kmemleak finds, up to so many lines of it. Objects must be
# 5 s old, and the same in two scans.
kmemleak=/sys/kernel/debug/kmemleak
say_leaks() {
	sleep 6
	echo scan > $kmemleak
	# Refused when it has turned itself off
	echo scan > $kmemleak || fail leak "kmemleak is off"
	grep -c '^unreferenced object' $kmemleak > /tmp/leaks
	say leaks number="$(cat /tmp/leaks)"
	head -n "$1" $kmemleak | while IFS= read -r line; do
		say leak text="$line"
	done
}

# Let PERCENT of the tables that the library wants not be there
fail_tables() { # PERCENT
	local dir=/sys/kernel/debug/fail_page_alloc range
	mountpoint -q /sys/kernel/debug || mount -t debugfs debug /sys/kernel/debug
	range=$(sed -n 's/ t pt_spare_fill$//p' /proc/kallsyms | sort)
	[ -n "$range" ] || fail tables "no pt_spare_fill() in this kernel"
	echo "0x$(echo "$range" | head -n 1)" > $dir/require-start
	printf '0x%x\n' $((0x$(echo "$range" | tail -n 1) + 512)) > $dir/require-end
	echo 0 > $dir/min-order
	echo N > $dir/ignore-gfp-wait
	echo 0 > $dir/verbose
	echo 1000000 > $dir/times
	echo "$1" > $dir/probability
}

# No more, and tell how many were not
say_failed_tables() {
	local dir=/sys/kernel/debug/fail_page_alloc
	echo 0 > $dir/probability
	say failed number=$((1000000 - $(cat $dir/times)))
}

# bind_vfio BDF: have userspace drive a PCI device
bind_vfio() {
	local dev=/sys/bus/pci/devices/$1
	[ ! -e "$dev/driver" ] || echo "$1" > "$dev/driver/unbind"
	echo vfio-pci > "$dev/driver_override"
	echo "$1" > /sys/bus/pci/drivers_probe
	wait_for "$dev/vfio-dev"
}
