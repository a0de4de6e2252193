# SPDX-License-Identifier: GPL-2.0
#
# The host clears the leaf under the NVMe disk's admin queue. Then the IOTLB is
# made to forget it (reads of the same domain map and unmap), and the disk gets
# an admin command: it cannot fetch it, and the IOMMU has to say so.

disk=/dev/nvme0n1

wait_for $disk
say_devices
head -c 1048576 $disk > /dev/null
checkpoint inject
drop_caches
head -c 1048576 $disk > /dev/null
echo 1 > /sys/class/nvme/nvme0/rescan_controller

# The event comes by interrupt, within the second
for i in $(seq 20); do
	dmesg | grep -q 'AMD-Vi: Event logged' && break
	usleep 100000
done

# A disk without admin queue makes an orderly shutdown slow
say end
sleep 1
echo b > /proc/sysrq-trigger
sleep 60
