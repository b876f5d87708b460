/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>

#include "../log.h"
#include "../status.h"
#include "watch.h"

void vqp_watch_set_tables(struct vqpd *d)
{
	json_auto_t *request = NULL;
	json_t *tables = json_array();
	bool was_due;
	int ret;

	for (unsigned int i = 0; i < d->nmetas; i++)
		if (d->metas[i].state == VQP_META_UP)
			json_array_append(tables, d->metas[i].info);
	request = json_pack("{s:o}", "meta", tables);
	if (!json_array_size(tables)) {
		d->tables_due = false;
		return;
	}
	ret = vqp_netlink_do(&d->netlink, VQP_CMD_META_SET, request, NULL);
	was_due = d->tables_due;
	d->tables_due = ret && ret != -ENOPKG;	/* When the module comes, it gets the tables in any case. */
	if (d->tables_due && !was_due)
		vqp_log(LOG_WARNING, "cannot tell the kernel where the meta servers are: %s", vqp_netlink_error(&d->netlink));
}

/* This node's metadata has changed: all announcements are void. */
static void start_anew(struct vqpd *d, json_t *dct)
{
	struct vqp_registry *registry = &d->registry;

	json_decref(d->meta_owner.dct);
	d->meta_owner.dct = dct;
	for (struct vqp_entry *e = vqp_registry_next(registry, NULL); e; e = vqp_registry_next(registry, e)) {
		e->held = e->refused = 0;
		e->due = UINT32_MAX;
		if (d->looked)
			e->fresh = UINT32_MAX;
	}
	vqp_watch_set_tables(d);
}

static int look_at_status(struct vqpd *d)
{
	bool had_module = d->status, had_parent = d->meta_owner.dct;
	json_t *status = NULL, *dct;
	int ret = vqp_netlink_do(&d->netlink, VQP_CMD_STATUS_GET, NULL, &status);

	if (ret && ret != -ENOPKG)
		return ret;
	json_decref(d->status);
	d->status = status;
	if (!status && (had_module || !d->looked))
		vqp_log(LOG_WARNING, "%s", vqp_netlink_error(&d->netlink));
	dct = vqp_status_dct(status);
	if (status && !dct && (had_parent || !had_module))
		vqp_log(LOG_WARNING, "no RDMA device: rdma link");
	if (json_equal(dct, d->meta_owner.dct) || (!dct && !had_parent))
		json_decref(dct);
	else
		start_anew(d, dct);
	return ret;
}

/* Lists the kernel's namespaces, with this node itself in place of the host's own. */
static int list_namespaces(struct vqpd *d, json_t **list)
{
	const json_t *node_gid = json_object_get(d->meta_owner.dct, "node_gid");
	int ret = vqp_netlink_dump(&d->netlink, VQP_CMD_NS_GET, list);

	if (ret)
		return ret;
	for (size_t i = json_array_size(*list); i-- > 0;)
		if (!json_integer_value(json_object_get(json_array_get(*list, i), "tenant")))
			json_array_remove(*list, i);
	if (node_gid)
		json_array_append_new(*list, json_pack("{s:i, s:O}", "tenant", 0, "gid", node_gid));
	return 0;
}

static void forget(const struct vqp_entry *entry, void *data)
{
	struct vqpd *d = data;

	for (unsigned int i = 0; i < d->nmetas; i++)
		vqp_meta_withdraw(&d->metas[i], entry);
}

int vqp_watch_look(struct vqpd *d)
{
	json_auto_t *list = NULL;
	int ret = look_at_status(d);

	if (d->tables_due)
		vqp_watch_set_tables(d);
	if (!ret)
		ret = list_namespaces(d, &list);
	else if (ret == -ENOPKG)
		list = json_array();	/* Without the module the node has no namespaces. */
	if (list) {
		int err = vqp_registry_refresh(&d->registry, list, d->looked, forget, d);

		ret = ret ? ret : err;
		d->looked = true;
	}
	return ret;
}
