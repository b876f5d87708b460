// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * empty-ioctl: what entering and leaving the module costs. Prints a line with
 * the nanoseconds of each of 1000 QUERY calls.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/vqp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "probe.h"
#include "transport.h"


int main(void)
{
	static uint64_t ns[IOCTL_COUNT];
	struct vqp_attach attach = { 0 };
	struct vqp_query query;
	int fd = open(VQP_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, VQP_IOC_ATTACH, &attach)) {
		perror(VQP_DEVICE_PATH);
		return EXIT_FAILURE;
	}
	for (int i = 0; i < IOCTL_COUNT; i++) {
		uint64_t start = transport_now_ns();

		query = (struct vqp_query){ 0 };
		if (ioctl(fd, VQP_IOC_QUERY, &query)) {
			perror("VQP_IOC_QUERY");
			return EXIT_FAILURE;
		}
		ns[i] = transport_now_ns() - start;
	}
	for (int i = 0; i < IOCTL_COUNT; i++)
		printf("%" PRIu64 "%c", ns[i], i + 1 < IOCTL_COUNT ? ' ' : '\n');
	return EXIT_SUCCESS;
}
