// SPDX-License-Identifier: GPL-2.0
/*
 * VFIO's two ways to map: a container of type1, and iommufd
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/iommufd.h>
#include <linux/vfio.h>

#include "vfio.h"

/* @maps takes ioctls that map: the container, or iommufd */
static struct {
	enum vfio_way way;
	int maps, group, device;
	uint32_t ioas;
	void *bar;
	size_t bar_bytes;
} vfio;

void fail(const char *format, ...)
{
	int error = errno;
	va_list args;

	printf("RIG: fail kind=vfio text=");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (error)
		printf(": %s", strerror(error));
	printf("\n");
	exit(1);
}

u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

enum vfio_way vfio_way(const char *name)
{
	if (!strcmp(name, "type1"))
		return VFIO_TYPE1;
	if (!strcmp(name, "iommufd"))
		return VFIO_IOMMUFD;
	errno = 0;
	fail("no way to map '%s'", name);
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail("open %s", path);
	return fd;
}

static int call(int fd, unsigned long request, void *argument, const char *what)
{
	int result = ioctl(fd, request, argument);

	if (result < 0)
		fail("%s", what);
	return result;
}

#define CALL(fd, request, argument) call(fd, request, argument, #request)

static void open_type1(const char *bdf)
{
	char link[PATH_MAX], target[PATH_MAX], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/sys/bus/pci/devices/%s/iommu_group",
		 bdf);
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		fail("readlink %s", link);
	target[length] = 0;
	snprintf(path, sizeof(path), "/dev/vfio%s", strrchr(target, '/'));

	vfio.maps = open_file("/dev/vfio/vfio");
	vfio.group = open_file(path);
	CALL(vfio.group, VFIO_GROUP_SET_CONTAINER, &vfio.maps);
	CALL(vfio.maps, VFIO_SET_IOMMU, (void *)VFIO_TYPE1v2_IOMMU);
	vfio.device = CALL(vfio.group, VFIO_GROUP_GET_DEVICE_FD, (void *)bdf);
}

/* The character device of a PCI device */
static int open_cdev(const char *bdf)
{
	char directory[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(directory, sizeof(directory),
		 "/sys/bus/pci/devices/%s/vfio-dev", bdf);
	dir = opendir(directory);
	if (!dir)
		fail("opendir %s", directory);
	do {
		entry = readdir(dir);
		if (!entry)
			fail("nothing in %s", directory);
	} while (entry->d_name[0] == '.');
	snprintf(path, sizeof(path), "/dev/vfio/devices/%s", entry->d_name);
	closedir(dir);
	return open_file(path);
}

static void open_iommufd(const char *bdf)
{
	struct vfio_device_bind_iommufd bind = { .argsz = sizeof(bind) };
	struct iommu_ioas_alloc alloc = { .size = sizeof(alloc) };
	struct vfio_device_attach_iommufd_pt attach = {
		.argsz = sizeof(attach),
	};

	vfio.maps = open_file("/dev/iommu");
	vfio.device = open_cdev(bdf);
	bind.iommufd = vfio.maps;
	CALL(vfio.device, VFIO_DEVICE_BIND_IOMMUFD, &bind);
	CALL(vfio.maps, IOMMU_IOAS_ALLOC, &alloc);
	attach.pt_id = alloc.out_ioas_id;
	CALL(vfio.device, VFIO_DEVICE_ATTACH_IOMMUFD_PT, &attach);
	vfio.ioas = alloc.out_ioas_id;
}

void vfio_open(enum vfio_way way, const char *bdf)
{
	vfio.way = way;
	vfio.group = -1;
	if (way == VFIO_TYPE1)
		open_type1(bdf);
	else
		open_iommufd(bdf);
}

void vfio_close(void)
{
	if (vfio.bar)
		munmap(vfio.bar, vfio.bar_bytes);
	vfio.bar = NULL;
	close(vfio.device);
	if (vfio.group >= 0)
		close(vfio.group);
	close(vfio.maps);
}

void vfio_map(void *memory, u64 iova, u64 bytes)
{
	if (vfio.way == VFIO_TYPE1) {
		struct vfio_iommu_type1_dma_map map = {
			.argsz = sizeof(map),
			.flags = VFIO_DMA_MAP_FLAG_READ |
				 VFIO_DMA_MAP_FLAG_WRITE,
			.vaddr = (uintptr_t)memory,
			.iova = iova,
			.size = bytes,
		};

		CALL(vfio.maps, VFIO_IOMMU_MAP_DMA, &map);
	} else {
		struct iommu_ioas_map map = {
			.size = sizeof(map),
			.flags = IOMMU_IOAS_MAP_FIXED_IOVA |
				 IOMMU_IOAS_MAP_READABLE |
				 IOMMU_IOAS_MAP_WRITEABLE,
			.ioas_id = vfio.ioas,
			.user_va = (uintptr_t)memory,
			.length = bytes,
			.iova = iova,
		};

		CALL(vfio.maps, IOMMU_IOAS_MAP, &map);
	}
}

void vfio_unmap(u64 iova, u64 bytes)
{
	u64 done;

	if (vfio.way == VFIO_TYPE1) {
		struct vfio_iommu_type1_dma_unmap unmap = {
			.argsz = sizeof(unmap),
			.iova = iova,
			.size = bytes,
		};

		CALL(vfio.maps, VFIO_IOMMU_UNMAP_DMA, &unmap);
		done = unmap.size;
	} else {
		struct iommu_ioas_unmap unmap = {
			.size = sizeof(unmap),
			.ioas_id = vfio.ioas,
			.iova = iova,
			.length = bytes,
		};

		CALL(vfio.maps, IOMMU_IOAS_UNMAP, &unmap);
		done = unmap.length;
	}
	errno = 0;
	if (done != bytes)
		fail("unmap of %llu bytes at %#llx did %llu",
		     (unsigned long long)bytes, (unsigned long long)iova,
		     (unsigned long long)done);
}

volatile uint32_t *vfio_registers(void)
{
	struct vfio_region_info config = {
		.argsz = sizeof(config),
		.index = VFIO_PCI_CONFIG_REGION_INDEX,
	};
	struct vfio_region_info bar = {
		.argsz = sizeof(bar),
		.index = VFIO_PCI_BAR0_REGION_INDEX,
	};
	uint16_t command;

	CALL(vfio.device, VFIO_DEVICE_GET_REGION_INFO, &config);
	CALL(vfio.device, VFIO_DEVICE_GET_REGION_INFO, &bar);
	/* Memory space and bus master: PCI 3.0, 6.2.2 */
	if (pread(vfio.device, &command, 2, config.offset + 4) != 2)
		fail("read of the command register");
	command |= 6;
	if (pwrite(vfio.device, &command, 2, config.offset + 4) != 2)
		fail("write of the command register");
	vfio.bar = mmap(NULL, bar.size, PROT_READ | PROT_WRITE, MAP_SHARED,
			vfio.device, bar.offset);
	if (vfio.bar == MAP_FAILED)
		fail("mmap of BAR 0");
	vfio.bar_bytes = bar.size;
	return vfio.bar;
}
