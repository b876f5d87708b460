/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Results of CNI plugins in all versions. Inside the plugin a result has the form of the newest
 * version. vqp_result_parse() and vqp_result_format() convert from and to the others.
 */
#ifndef VQP_CNI_RESULT_H
#define VQP_CNI_RESULT_H

#include <jansson.h>

#include "cni_error.h"
#include "version.h"

/*
 * Returns a checked copy of `json`, whose version is its cniVersion, or `version` if it has none.
 * The caller releases the copy. NULL with the error set on failure.
 */
json_t *vqp_result_parse(const json_t *json, enum vqp_version version, struct vqp_error *error);

/* Returns the result in the form of `version`, a new object. NULL with the error set on failure. */
json_t *vqp_result_format(const json_t *result, enum vqp_version version, struct vqp_error *error);

/*
 * Returns the addresses of the container's interface `ifname`, without their prefix lengths, as a
 * new array. If the result names none for it, those that the interface in the network namespace has
 * are taken; it is not looked at if netns_fd is negative. `wanted`, unless NULL, must be among them.
 * NULL with the error set on failure.
 */
json_t *vqp_result_addresses(const json_t *result, const char *ifname, const char *wanted, int netns_fd,
			     struct vqp_error *error);

#endif
