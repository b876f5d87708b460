// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "error.h"
#include "privilege.h"

/* Only the host's user namespace has every user id, each as itself. */
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

int vqp_privilege_check(char **error)
{
	if (!geteuid() && is_host_user_namespace())
		return 0;
	return vqp_error_fail(error, EPERM,
			      "rootless containers can have no VQP namespace, which only the host's root may make: start the container as root");
}

static void free_caps(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}

int vqp_privilege_keep(enum vqp_phase phase, char **error)
{
	static const cap_value_t kept[] = { CAP_SYS_PTRACE, CAP_SYS_ADMIN };
	int count = phase == VQP_PHASE_ENTER ? sizeof(kept) / sizeof(*kept) : 0;
	__attribute__((cleanup(free_caps))) cap_t caps = cap_init();

	if (!caps || (count && (cap_set_flag(caps, CAP_PERMITTED, count, kept, CAP_SET) ||
				cap_set_flag(caps, CAP_EFFECTIVE, count, kept, CAP_SET))) || cap_set_proc(caps))
		return vqp_error_fail(error, errno, "cannot drop capabilities: %s", strerror(errno));
	return 0;
}
