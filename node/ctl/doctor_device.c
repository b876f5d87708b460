/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RDMA device, as far as it can be judged without a trial: that is vqpctl selftest. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../../common/address.h"
#include "device.h"
#include "doctor.h"

/* What selftest says without a trial. */
static void judge(struct ctl_doctor *d, const struct ctl_finding *finding)
{
	static const char *const keys[] = { "port", "mtu", "gid" };

	for (const struct ctl_check *check = ctl_checks; check->key; check++)
		for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			struct ctl_verdict verdict = { .level = CTL_OK };
			char id[32];

			if (strcmp(check->key, keys[i]))
				continue;
			check->judge(finding, &verdict);
			snprintf(id, sizeof(id), "device.%s", keys[i]);
			ctl_doctor_find(d, verdict.level, id, finding->device, verdict.way_out, "%s%s%s", verdict.found,
					verdict.follows ? ": " : "", verdict.follows ? verdict.follows : "");
		}
}

/* Has the device still the address that other nodes know? */
static void look_at_address(struct ctl_doctor *d, const struct ctl_device *device)
{
	const char *known = json_string_value(json_object_get(d->status, "node_gid"));
	const char *parent = json_string_value(json_object_get(d->status, "parent"));
	uint8_t gid[16];

	if (!parent || !known || vqp_address_parse(known, gid) || strcmp(parent, ibv_get_device_name(device->context->device)))
		return;
	if (memcmp(gid, device->gid.gid.raw, sizeof(gid)))
		ctl_doctor_find(d, CTL_FAILS, "device.address", parent, "ip address add ADDRESS/LENGTH dev NETDEV",
				"the node's address %s is not on its interface any more", known);
	else
		ctl_doctor_find(d, CTL_OK, "device.address", parent, NULL, "the node's address %s", known);
}

static void look_at_parent(struct ctl_doctor *d)
{
	const char *parent = json_string_value(json_object_get(d->status, "parent"));

	if (!d->status)
		return;
	if (parent)
		ctl_doctor_find(d, CTL_OK, "device.parent", NULL, NULL, "the module uses %s", parent);
	else
		ctl_doctor_find(d, CTL_FAILS, "device.parent", NULL,
				"see the findings about the device, and dmesg | grep vqp; modprobe vqp parent=DEVICE address=ADDRESS",
				"the module uses no RDMA device");
}

void ctl_doctor_device(struct ctl_doctor *d)
{
	cleanup_error struct vqp_error error = { 0 };
	struct ctl_finding finding = { 0 };
	struct ctl_device device;

	look_at_parent(d);
	/* The module may well have a parent that user space cannot open. */
	if (ctl_device_open(NULL, &device, &error)) {
		ctl_doctor_find_error(d, json_object_get(d->status, "parent") ? CTL_LIMITED : CTL_FAILS, "device.verbs", NULL,
				      vqp_error_text(&error));
	} else {
		ctl_device_describe(&device, &finding);
		judge(d, &finding);
		look_at_address(d, &device);
	}
	ctl_device_close(&device);
}
