/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/address.h"
#include "registry.h"

static unsigned int chain_of(uint32_t tenant, const uint8_t gid[16])
{
	uint32_t hash = 2166136261u ^ tenant;	/* FNV-1a */

	for (int i = 0; i < 16; i++)
		hash = (hash ^ gid[i]) * 16777619u;
	return hash % VQP_REGISTRY_CHAINS;
}

struct vqp_entry *vqp_registry_find(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16])
{
	struct vqp_entry *entry = registry->chains[chain_of(tenant, gid)];

	while (entry && (entry->tenant != tenant || memcmp(entry->gid, gid, 16)))
		entry = entry->next;
	return entry;
}

struct vqp_entry *vqp_registry_add(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16])
{
	struct vqp_entry *entry = vqp_registry_find(registry, tenant, gid);
	struct vqp_entry **chain = &registry->chains[chain_of(tenant, gid)];

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->tenant = tenant;
	memcpy(entry->gid, gid, 16);
	entry->due = UINT32_MAX;
	entry->next = *chain;
	*chain = entry;
	registry->count++;
	return entry;
}

void vqp_registry_remove(struct vqp_registry *registry, struct vqp_entry *entry)
{
	struct vqp_entry **link = &registry->chains[chain_of(entry->tenant, entry->gid)];

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	free(entry);
	registry->count--;
}

void vqp_registry_exit(struct vqp_registry *registry)
{
	struct vqp_entry *entry;

	while ((entry = vqp_registry_next(registry, NULL)))
		vqp_registry_remove(registry, entry);
}

struct vqp_entry *vqp_registry_next(const struct vqp_registry *registry, const struct vqp_entry *entry)
{
	unsigned int chain = 0;

	if (entry && entry->next)
		return entry->next;
	if (entry)
		chain = chain_of(entry->tenant, entry->gid) + 1;
	while (chain < VQP_REGISTRY_CHAINS && !registry->chains[chain])
		chain++;
	return chain < VQP_REGISTRY_CHAINS ? registry->chains[chain] : NULL;
}

static bool parse_key(const json_t *key, uint32_t *tenant, uint8_t gid[16])
{
	const char *text = json_string_value(json_object_get(key, "gid"));

	*tenant = json_integer_value(json_object_get(key, "tenant"));
	return text && !vqp_address_parse(text, gid);
}

static int take_over(struct vqp_registry *registry, const json_t *item, bool fresh)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	uint32_t ino = json_integer_value(json_object_get(item, "netns_ino"));
	struct vqp_entry *entry;
	uint8_t gid[16];
	uint32_t tenant;
	bool known;

	if (!parse_key(item, &tenant, gid))
		return -EBADMSG;
	known = vqp_registry_find(registry, tenant, gid);
	entry = vqp_registry_add(registry, tenant, gid);
	if (!entry)
		return -ENOMEM;
	/* The same address in another network namespace is that of a new container. */
	if (fresh && (!known || entry->netns_ino != ino))
		entry->due = entry->fresh = UINT32_MAX;
	entry->netns_ino = ino;
	snprintf(entry->name, sizeof(entry->name), "%s", name ? name : "");
	entry->seen = true;
	return 0;
}

int vqp_registry_refresh(struct vqp_registry *registry, const json_t *list, bool fresh,
			 void (*gone)(const struct vqp_entry *entry, void *data), void *data)
{
	struct vqp_entry *entry, *next;
	const json_t *item;
	size_t i;
	int ret;

	json_array_foreach(list, i, item) {
		ret = take_over(registry, item, fresh);
		if (ret)
			return ret;
	}
	for (entry = vqp_registry_next(registry, NULL); entry; entry = next) {
		next = vqp_registry_next(registry, entry);
		if (!entry->seen) {
			gone(entry, data);
			vqp_registry_remove(registry, entry);
		} else {
			entry->seen = false;
		}
	}
	return 0;
}

json_t *vqp_entry_key(const struct vqp_entry *entry)
{
	char gid[VQP_ADDRESS_TEXT];

	return json_pack("{s:I, s:s}", "tenant", (json_int_t)entry->tenant,
			 "gid", vqp_address_format(entry->gid, gid));
}

json_t *vqp_entry_item(const struct vqp_entry *entry)
{
	json_t *item = vqp_entry_key(entry);

	json_object_set_new(item, "netns_ino", json_integer(entry->netns_ino));
	json_object_set_new(item, "name", json_string(entry->name));
	return item;
}

struct vqp_entry *vqp_registry_find_key(struct vqp_registry *registry, const json_t *key)
{
	uint8_t gid[16];
	uint32_t tenant;

	return parse_key(key, &tenant, gid) ? vqp_registry_find(registry, tenant, gid) : NULL;
}
