/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How much a VQP namespace may have at once. */
#ifndef VQP_OCI_LIMITS_H
#define VQP_OCI_LIMITS_H

#include <jansson.h>
#include <stdint.h>

#define VQP_LIMITS_COUNT	3

/* Names, in vqpd's requests and the operator's file, and the greatest values. */
extern const struct vqp_limits_kind {
	const char *name;
	int64_t max;
} vqp_limits_kinds[VQP_LIMITS_COUNT];

struct vqp_limits {
	int64_t max[VQP_LIMITS_COUNT];	/* 0: no limit */
};

/*
 * Those that `object` gives; the others stay as they are. NULL is an object
 * without any. -EINVAL with *error set to a text to be freed.
 */
int vqp_limits_parse(struct vqp_limits *limits, const json_t *object, char **error);

/* A new object; NULL when memory ran out. */
json_t *vqp_limits_json(const struct vqp_limits *limits);

#endif
