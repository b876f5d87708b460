// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>

#include "privilege.h"

#define KEPT_MAX	5

static const struct {
	int count;
	cap_value_t caps[KEPT_MAX];
	bool bounds_programs;		/* Programs that the process runs can have no others. */
} kept[] = {
	[VQP_PHASE_HOOK_ENTER] = { 3, { CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_RESOURCE } },
	[VQP_PHASE_HOOK_ASK] = { 1, { CAP_SYS_RESOURCE } },
	[VQP_PHASE_HOOK_DELETE] = { 1, { CAP_NET_ADMIN } },
	[VQP_PHASE_NETWORK_PIN] = {
		5, { CAP_SYS_PTRACE, CAP_SETPCAP, CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_NET_RAW },
	},
	[VQP_PHASE_NETWORK_PLUGINS] = { 3, { CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_NET_RAW }, true },
	[VQP_PHASE_VQPD_SERVE] = { 1, { CAP_NET_ADMIN } },
	[VQP_PHASE_VQPD_RESOLVE] = { 0 },
	[VQP_PHASE_METAD_SERVE] = { 1, { CAP_NET_ADMIN } },
};

static void free_caps(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}

#define cleanup_caps	__attribute__((cleanup(free_caps)))

/*
 * Takes all capabilities but those of the phase out of the bounding set. A program that root runs
 * gets all capabilities that are in that set.
 */
static int bound_programs(enum vqp_phase phase)
{
	for (cap_value_t cap = 0; CAP_IS_SUPPORTED(cap); cap++) {
		bool keep = false;

		for (int i = 0; i < kept[phase].count; i++)
			keep |= kept[phase].caps[i] == cap;
		if (!keep && cap_drop_bound(cap))
			return -errno;
	}
	return 0;
}

int vqp_privilege_keep(enum vqp_phase phase)
{
	cleanup_caps cap_t had = cap_get_proc(), caps = cap_init();

	if (!had || !caps || (kept[phase].bounds_programs && bound_programs(phase)))
		return -errno;
	for (int i = 0; i < kept[phase].count; i++) {
		const cap_value_t *cap = &kept[phase].caps[i];
		cap_flag_value_t has;

		if (cap_get_flag(had, *cap, CAP_PERMITTED, &has) ||
		    cap_set_flag(caps, CAP_PERMITTED, 1, cap, has) ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, cap, has))
			return -errno;
	}
	return cap_set_proc(caps) ? -errno : 0;
}
