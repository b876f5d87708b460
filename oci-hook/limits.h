/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How much a VQP namespace may have at once, and send. */
#ifndef VQP_OCI_LIMITS_H
#define VQP_OCI_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "../common/error.h"

enum {
	VQP_LIMITS_VQPS, VQP_LIMITS_MRS, VQP_LIMITS_BYTES, VQP_LIMITS_RATE, VQP_LIMITS_PRIORITY, VQP_LIMITS_COUNT
};

#define VQP_LIMITS_LEAST_RATE	65536	/* bytes per second */

/* Priorities */
enum { VQP_LIMITS_LOW = 1, VQP_LIMITS_NORMAL, VQP_LIMITS_HIGH };

/* Names, in vqpd's requests and the operator's file, and the least and greatest values. */
extern const struct vqp_limits_kind {
	const char *name;
	int64_t min, max;
	bool may_be_none;		/* 0 */
} vqp_limits_kinds[VQP_LIMITS_COUNT];

struct vqp_limits {
	int64_t max[VQP_LIMITS_COUNT];	/* 0: no limit */
};

/* Nothing is limited, and the priority is normal. */
extern const struct vqp_limits vqp_limits_default;

/*
 * Those that `object` gives; the others stay as they are. NULL is an object
 * without any. -EINVAL with *error set.
 */
int vqp_limits_parse(struct vqp_limits *limits, const json_t *object, struct vqp_error *error);

/* A new object; NULL when memory ran out. */
json_t *vqp_limits_json(const struct vqp_limits *limits);

#endif
