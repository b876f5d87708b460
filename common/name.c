// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "name.h"

bool vqp_name_write(char name[VQP_NAME_MAX], const char *id, const char *ifname, const char *network)
{
	return snprintf(name, VQP_NAME_MAX, "%s/%s%s%s", id, ifname, network ? "/" : "",
			network ? network : "") < VQP_NAME_MAX;
}

/* Returns the length of "ID/IFNAME" in a name; 0 if it is no attachment's. */
static size_t attachment_bytes(const char *name)
{
	const char *ifname = strchr(name, '/'), *end;

	if (!ifname || ifname == name || !ifname[1])
		return 0;
	end = strchrnul(ifname + 1, '/');
	return end == ifname + 1 || (*end && (!end[1] || strchr(end + 1, '/'))) ? 0 : (size_t)(end - name);
}

json_t *vqp_name_split(const char *name)
{
	const size_t bytes = attachment_bytes(name), id_bytes = strcspn(name, "/");

	if (!bytes)
		return NULL;
	return json_pack("{s:s%, s:s%, s:s*}", "id", name, id_bytes,
			 "ifname", name + id_bytes + 1, bytes - id_bytes - 1,
			 "network", name[bytes] ? name + bytes + 1 : NULL);
}

void vqp_name_tell(json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	json_auto_t *attachment = name ? vqp_name_split(name) : NULL;

	if (attachment)
		json_object_update(item, attachment);
}

const char *vqp_name_network(const json_t *item)
{
	const char *network = json_string_value(json_object_get(item, "network"));

	return network && !strchr(network, ':') ? network : NULL;
}

bool vqp_name_same(const char *a, const char *b)
{
	const size_t bytes = attachment_bytes(a);

	return bytes && bytes == attachment_bytes(b) && !memcmp(a, b, bytes) &&
	       (!a[bytes] || !b[bytes] || !strcmp(a + bytes, b + bytes));
}
