/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The versions of the CNI specification that the plugin speaks. */
#ifndef VQP_CNI_VERSION_H
#define VQP_CNI_VERSION_H

#include <jansson.h>

/* In ascending order, so that they compare. */
enum vqp_version {
	VQP_VERSION_0_1_0,
	VQP_VERSION_0_2_0,
	VQP_VERSION_0_3_0,
	VQP_VERSION_0_3_1,
	VQP_VERSION_0_4_0,
	VQP_VERSION_1_0_0,
	VQP_VERSION_1_1_0,
	VQP_VERSION_COUNT,
};

#define VQP_VERSION_LATEST	(VQP_VERSION_COUNT - 1)

/* Parses "1.0.0" to VQP_VERSION_1_0_0. Returns VQP_VERSION_COUNT for a version not in the list. */
enum vqp_version vqp_version_parse(const char *text);

const char *vqp_version_text(enum vqp_version version);

/* Returns a new array of all versions. */
json_t *vqp_version_list(void);

#endif
