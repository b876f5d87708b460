/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A copy of the kernel's list of this node's VQP namespaces, and of the meta servers that know
 * each. The kernel's list is the truth.
 */
#ifndef VQPD_REGISTRY_H
#define VQPD_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/vqp.h>

#define VQP_REGISTRY_CHAINS 1024

/* Sets of meta servers are bit masks. */
struct vqp_entry {
	struct vqp_entry *next;
	uint32_t tenant;		/* 0 for this node itself */
	uint8_t gid[16];
	char name[VQP_NAME_MAX];
	uint32_t netns_ino;
	uint32_t due;			/* the servers that are to be told */
	uint32_t held;			/* the servers that have the entry */
	/* The servers that have refused the entry, which are asked again at the next renewal. */
	uint32_t refused;
	/*
	 * The servers that have not taken the entry since it was made: it may replace another
	 * node's there.
	 */
	uint32_t fresh;
	int refused_err;
	bool seen;
};

struct vqp_registry {
	struct vqp_entry *chains[VQP_REGISTRY_CHAINS];
	unsigned int count;
};

struct vqp_entry *vqp_registry_find(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16]);

/* Finds or makes an entry. NULL without memory. */
struct vqp_entry *vqp_registry_add(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16]);

void vqp_registry_remove(struct vqp_registry *registry, struct vqp_entry *entry);

/* Removes all entries. */
void vqp_registry_exit(struct vqp_registry *registry);

/*
 * Takes a complete list of NS_GET. Entries that are new are due on all servers, and `fresh` if that
 * is set. Entries that are not in the list are passed to gone() and removed.
 */
int vqp_registry_refresh(struct vqp_registry *registry, const json_t *list, bool fresh,
			 void (*gone)(const struct vqp_entry *entry, void *data), void *data);

/* Returns the entry after `entry`, or the first one if that is NULL, in no particular order. */
struct vqp_entry *vqp_registry_next(const struct vqp_registry *registry, const struct vqp_entry *entry);

/* Returns the key of an entry, {"tenant","gid"}, as a new object. */
json_t *vqp_entry_key(const struct vqp_entry *entry);

/* Returns an entry as NS_GET lists it, {"tenant","gid","netns_ino","name"}, as a new object. */
json_t *vqp_entry_item(const struct vqp_entry *entry);

/* Returns the entry with such a key, or NULL. */
struct vqp_entry *vqp_registry_find_key(struct vqp_registry *registry, const json_t *key);

#endif
