/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../../common/address.h"
#include "../../common/netns.h"
#include "../../oci-hook/namespace.h"
#include "addresses.h"

struct visit {
	struct ctl_addresses *addresses;
	struct vqp_error *error;
};

static int list(const void *arg)
{
	const struct visit *visit = arg;

	return vqp_namespace_gids(visit->addresses->gids, CTL_ADDRESSES_MAX, &visit->addresses->count, visit->error);
}

int ctl_addresses_read(struct ctl_addresses *addresses, int netns_fd, struct vqp_error *error)
{
	int ret = vqp_netns_visit(netns_fd, list, &(struct visit){ addresses, error });

	if (ret && !error->code)
		vqp_error_set(error, ret, "cannot enter the network namespace: %s%s", strerror(-ret),
			      ret == -EPERM ? ": run as root" : "");
	return ret;
}

int ctl_addresses_take(struct ctl_addresses *addresses, const struct ctl_args *args, struct vqp_error *error)
{
	for (unsigned int i = 0; i < args->naddresses; i++)
		if (vqp_address_parse_unicast(args->addresses[i], addresses->gids[i]))
			return vqp_error_set(error, -EINVAL, "--address takes one container's IPv4 or IPv6 address, not '%s'",
					     args->addresses[i]);
	addresses->count = args->naddresses;
	return 0;
}
