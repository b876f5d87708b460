// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../common/error.h"
#include "rootless.h"

/* Only the host's user namespace maps all user ids to themselves. */
static bool is_host_user_namespace(void)
{
	unsigned long inside, outside, count;
	FILE *map = fopen("/proc/self/uid_map", "re");
	bool is;

	if (!map)
		return false;
	is = fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 && !inside && !outside && count == UINT32_MAX;
	fclose(map);
	return is;
}

int vqp_rootless_refuse(struct vqp_error *error)
{
	if (!geteuid() && is_host_user_namespace())
		return 0;
	return vqp_error_set(error, -EPERM,
			     "rootless containers can have no VQP namespace, which only the host's root may make: start the container as root");
}
