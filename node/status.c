/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "status.h"

json_t *vqp_status_dct(const json_t *status)
{
	static const char *const names[] = { "node_gid", "epoch", "qkey", "lanes" };
	json_t *dct;

	if (!json_object_get(status, "parent"))
		return NULL;
	dct = json_object();
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *value = json_object_get(status, names[i]);

		if (!value || json_object_set(dct, names[i], value)) {
			json_decref(dct);
			return NULL;
		}
	}
	return dct;
}
