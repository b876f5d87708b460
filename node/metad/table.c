/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

int vqp_table_init(struct vqp_table *table, struct vqp_bucket *buckets, uint32_t nbuckets)
{
	*table = (struct vqp_table){
		.buckets = buckets,
		.chains = calloc(nbuckets, sizeof(*table->chains)),
		.nbuckets = nbuckets,
	};
	if (!table->chains)
		return -ENOMEM;
	for (uint32_t i = 0; i < nbuckets; i++)
		vqp_bucket_init(&buckets[i]);
	return 0;
}

void vqp_table_exit(struct vqp_table *table)
{
	vqp_table_expire(table, UINT64_MAX);
	free(table->chains);
}

/*
 * Copies a finished bucket into the table. Readers see the old bucket, the new one, or, during the
 * copy, one that fails its checksum.
 */
static void publish(struct vqp_table *table, uint32_t index, const struct vqp_bucket *bucket)
{
	memcpy(&table->buckets[index], bucket, sizeof(*bucket));
}

/*
 * Counts that one entry more or less of the bucket is in its second candidate. The count comes after
 * the entry is there, and goes after it is not, so that no reader misses what was found before.
 */
static void displace(struct vqp_table *table, uint32_t index, int change)
{
	struct vqp_bucket bucket = table->buckets[index];

	vqp_bucket_displace(&bucket, change);
	publish(table, index, &bucket);
}

static int store(struct vqp_table *table, uint32_t index, uint32_t tenant, const uint8_t gid[16],
		 const struct vqp_dct *dct)
{
	struct vqp_bucket bucket = table->buckets[index];
	int ret = vqp_bucket_set(&bucket, tenant, gid, dct);

	if (!ret)
		publish(table, index, &bucket);
	return ret;
}

/* Returns the place of the pointer to an entry, or of the pointer to a new one. */
static struct vqp_table_entry **find(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
				     uint32_t index[2])
{
	struct vqp_table_entry **link;

	vqp_bucket_index(tenant, gid, table->nbuckets, index);
	for (link = &table->chains[index[0]]; *link; link = &(*link)->next)
		if ((*link)->tenant == tenant && !memcmp((*link)->gid, gid, 16))
			break;
	return link;
}

static void erase(struct vqp_table *table, uint32_t index, const struct vqp_table_entry *entry)
{
	struct vqp_bucket bucket = table->buckets[index];

	vqp_bucket_clear(&bucket, entry->tenant, entry->gid);
	publish(table, index, &bucket);
}

static void drop(struct vqp_table *table, struct vqp_table_entry **link)
{
	struct vqp_table_entry *entry = *link;

	uint32_t index[2];

	erase(table, entry->bucket, entry);
	vqp_bucket_index(entry->tenant, entry->gid, table->nbuckets, index);
	if (entry->bucket != index[0])
		displace(table, index[0], -1);
	*link = entry->next;
	free(entry);
	table->count--;
}

/* Removes an entry from its first candidate, and counts at once that it is in its second. */
static void move_out(struct vqp_table *table, uint32_t index, const struct vqp_table_entry *entry)
{
	struct vqp_bucket bucket = table->buckets[index];

	vqp_bucket_clear(&bucket, entry->tenant, entry->gid);
	vqp_bucket_displace(&bucket, 1);
	publish(table, index, &bucket);
}

/*
 * Makes room in `bucket` by moving an entry from there, its first candidate, to its second. Entries
 * are never moved to their first candidate. The copy comes first, then the removal, so that a node
 * that READs the first candidate and then the second finds the entry at any moment.
 */
static bool make_room(struct vqp_table *table, uint32_t bucket)
{
	for (struct vqp_table_entry *entry = table->chains[bucket]; entry; entry = entry->next) {
		uint32_t index[2];

		vqp_bucket_index(entry->tenant, entry->gid, table->nbuckets, index);
		if (entry->bucket != bucket || index[1] == bucket ||
		    store(table, index[1], entry->tenant, entry->gid, &entry->dct))
			continue;
		move_out(table, bucket, entry);
		entry->bucket = index[1];
		return true;
	}
	return false;
}

static int place(struct vqp_table *table, const uint32_t index[2], struct vqp_table_entry *entry)
{
	int ret = -ENOSPC;

	for (int i = 0; i < 2 && ret == -ENOSPC; i++) {
		entry->bucket = index[i];
		ret = store(table, index[i], entry->tenant, entry->gid, &entry->dct);
	}
	for (int i = 0; i < 2 && ret == -ENOSPC; i++) {
		entry->bucket = index[i];
		if (make_room(table, index[i]))
			ret = store(table, index[i], entry->tenant, entry->gid, &entry->dct);
	}
	if (!ret && entry->bucket != index[0])
		displace(table, index[0], 1);
	return ret;
}

static int insert(struct vqp_table *table, struct vqp_table_entry **link, const uint32_t index[2],
		  const struct vqp_table_entry *wanted)
{
	struct vqp_table_entry *entry = malloc(sizeof(*entry));
	int ret;

	if (!entry)
		return -ENOMEM;
	*entry = *wanted;
	ret = place(table, index, entry);
	if (ret) {
		free(entry);
		return ret;
	}
	*link = entry;
	table->count++;
	return 0;
}

int vqp_table_announce(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const struct vqp_dct *dct, bool takeover, uint64_t lease_ms, uint64_t now_ms)
{
	struct vqp_table_entry wanted = { .tenant = tenant, .dct = *dct, .expires_ms = now_ms + lease_ms };
	uint32_t index[2];
	struct vqp_table_entry **link = find(table, tenant, gid, index), *entry = *link;
	int ret = 0;

	memcpy(wanted.gid, gid, sizeof(wanted.gid));
	if (!entry)
		return insert(table, link, index, &wanted);
	if (!takeover && now_ms < entry->expires_ms &&
	    memcmp(entry->dct.node_gid, dct->node_gid, sizeof(dct->node_gid)))
		return -EADDRINUSE;
	/* A mere renewal does not touch the bucket, so that readers need not retry. */
	if (memcmp(&entry->dct, dct, sizeof(*dct)))
		ret = store(table, entry->bucket, tenant, gid, dct);
	if (!ret) {
		entry->dct = *dct;
		entry->expires_ms = wanted.expires_ms;
	}
	return ret;
}

const uint8_t *vqp_table_owner(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16], uint64_t now_ms)
{
	uint32_t index[2];
	const struct vqp_table_entry *entry = *find(table, tenant, gid, index);

	return entry && now_ms < entry->expires_ms ? entry->dct.node_gid : NULL;
}

int vqp_table_withdraw(struct vqp_table *table, uint32_t tenant, const uint8_t gid[16],
		       const uint8_t node_gid[16])
{
	uint32_t index[2];
	struct vqp_table_entry **link = find(table, tenant, gid, index);

	if (!*link)
		return -ENOENT;
	if (memcmp((*link)->dct.node_gid, node_gid, 16))
		return -EADDRINUSE;
	drop(table, link);
	return 0;
}

void vqp_table_expire(struct vqp_table *table, uint64_t now_ms)
{
	for (uint32_t i = 0; i < table->nbuckets; i++) {
		struct vqp_table_entry **link = &table->chains[i];

		while (*link) {
			if ((*link)->expires_ms <= now_ms)
				drop(table, link);
			else
				link = &(*link)->next;
		}
	}
}
