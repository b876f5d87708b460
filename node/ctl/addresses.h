/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The addresses of a container, as vqp-hook sees them. */
#ifndef VQPCTL_ADDRESSES_H
#define VQPCTL_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "../../common/error.h"
#include "ctl.h"

struct ctl_addresses {
	uint8_t gids[CTL_ADDRESSES_MAX][16];
	size_t count;
};

/* Reads those of an open network namespace. 0, or a negative errno value with *error set. */
int ctl_addresses_read(struct ctl_addresses *addresses, int netns_fd, struct vqp_error *error);

/* Takes those of --address. 0, or -EINVAL with *error set. */
int ctl_addresses_take(struct ctl_addresses *addresses, const struct ctl_args *args, struct vqp_error *error);

#endif
