/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A fault of soft RoCE (docs/history.md). It frees packets with interrupts off; packets of a page
 * pool may run softirqs then, which wait for a lock that is held.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "file.h"

#define MERGEABLE_BUFFERS	15	/* VIRTIO_NET_F_MRG_RXBUF: only such a card has a page pool */
#define PAGE_POOL_MAJOR		7	/* the first Linux in which virtio-net has them */

/* Has the kernel, and the card behind this network interface, what it takes? */
static bool may_hang(const struct ctl_doctor *d, const char *netdev)
{
	char path[PATH_MAX], full[PATH_MAX], link[PATH_MAX], features[128], release[128];
	ssize_t n;

	ctl_file_read_line(ctl_doctor_path(d, "/proc/sys/kernel/osrelease", full), release, sizeof(release));
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/features", netdev);
	ctl_file_read_line(ctl_doctor_path(d, path, full), features, sizeof(features));
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", netdev);
	n = readlink(ctl_doctor_path(d, path, full), link, sizeof(link) - 1);
	link[n < 0 ? 0 : n] = '\0';
	return strtol(release, NULL, 10) >= PAGE_POOL_MAJOR && strstr(link, "/virtio_net") &&
	       strlen(features) > MERGEABLE_BUFFERS && features[MERGEABLE_BUFFERS] == '1';
}

void ctl_doctor_rxe(struct ctl_doctor *d)
{
	char pattern[PATH_MAX], netdev[64];
	glob_t found;

	/* Only soft devices have a file that names their network interface. */
	if (glob(ctl_doctor_path(d, "/sys/class/infiniband/*/parent", pattern), 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		ctl_file_read_line(found.gl_pathv[i], netdev, sizeof(netdev));
		if (may_hang(d, netdev))
			ctl_doctor_find(d, CTL_LIMITED, "device.hang", netdev,
					"a card without mergeable buffers (QEMU: virtio-net-pci,mrg_rxbuf=off), another card, or Linux 6.12",
					"soft RoCE over virtio-net with a page pool can hang this kernel for ever");
		else
			ctl_doctor_find(d, CTL_OK, "device.hang", netdev, NULL, "soft RoCE does not hang over this card");
	}
	globfree(&found);
}
