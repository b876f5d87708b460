/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * This node's VQP namespaces as the kernel last told them, and which meta
 * servers know of each. The kernel's list is the truth, this is a copy of it.
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
	uint32_t tenant;		/* 0: this node itself */
	uint8_t gid[16];
	char name[VQP_NAME_MAX];
	uint32_t netns_ino;
	uint32_t due;			/* are to be told */
	uint32_t held;			/* have it */
	uint32_t refused;		/* did not take it; asked again at the next renewal */
	uint32_t fresh;			/* have not taken it since it was made: may displace another node's */
	int refused_err;
	bool seen;
};

struct vqp_registry {
	struct vqp_entry *chains[VQP_REGISTRY_CHAINS];
	unsigned int count;
};

struct vqp_entry *vqp_registry_find(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16]);

/* Find or make. NULL: out of memory. */
struct vqp_entry *vqp_registry_add(struct vqp_registry *registry, uint32_t tenant, const uint8_t gid[16]);

void vqp_registry_remove(struct vqp_registry *registry, struct vqp_entry *entry);

/* Remove all. */
void vqp_registry_exit(struct vqp_registry *registry);

/*
 * Take over a complete list as NS_GET gives it: what is new is due everywhere
 * (`fresh`: and made just now), what is not in it is handed to gone() and removed.
 */
int vqp_registry_refresh(struct vqp_registry *registry, const json_t *list, bool fresh,
			 void (*gone)(const struct vqp_entry *entry, void *data), void *data);

/* Entry after `entry`, or the first (NULL); in no order. */
struct vqp_entry *vqp_registry_next(const struct vqp_registry *registry, const struct vqp_entry *entry);

/* {"tenant","gid"}, a new object. */
json_t *vqp_entry_key(const struct vqp_entry *entry);

/* The entry that such an object names, or NULL. */
struct vqp_entry *vqp_registry_find_key(struct vqp_registry *registry, const json_t *key);

#endif
