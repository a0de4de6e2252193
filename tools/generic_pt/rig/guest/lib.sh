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

# bind_vfio BDF: have userspace drive a PCI device
bind_vfio() {
	local dev=/sys/bus/pci/devices/$1
	[ ! -e "$dev/driver" ] || echo "$1" > "$dev/driver/unbind"
	echo vfio-pci > "$dev/driver_override"
	echo "$1" > /sys/bus/pci/drivers_probe
	wait_for "$dev/vfio-dev"
}
