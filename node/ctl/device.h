/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RDMA device that selftest tries, by user-space verbs. */
#ifndef VQPCTL_DEVICE_H
#define VQPCTL_DEVICE_H

#include <infiniband/verbs.h>

#include "ctl.h"
#include "finding.h"

struct ctl_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	uint8_t port_num;
	struct ibv_gid_entry gid;	/* the GID that vqp uses, or would use */
	enum ctl_gid gid_rate;
	uint32_t gids;			/* the number of GIDs of RoCE v2 */
};

/*
 * Opens the device of that name or, if name is NULL, the module's parent, or else the first device
 * that the module could use, or else the first. 0, or a negative errno value with *error set. The
 * caller closes it in any case.
 */
int ctl_device_open(const char *name, struct ctl_device *device, struct vqp_error *error);
void ctl_device_close(struct ctl_device *device);

/* Is the port active, is it of RoCE, and does it have an address? */
bool ctl_device_is_usable(const struct ctl_device *device);

/* Finds what needs no trial. */
void ctl_device_describe(const struct ctl_device *device, struct ctl_finding *finding);

#endif
