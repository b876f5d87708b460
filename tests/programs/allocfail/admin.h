/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The netlink family, asked from the initial network namespace. */
#ifndef ALLOCFAIL_ADMIN_H
#define ALLOCFAIL_ADMIN_H

#include <jansson.h>
#include <linux/vqp.h>

/* Begins in the initial network namespace; this process goes on in `netns`, or stays if that is NULL. */
void admin_open(const char *netns);

/* 0 or an errno value. request may be NULL, and so may reply. */
int admin_do(enum vqp_cmd cmd, const json_t *request, json_t **reply);
int admin_dump(enum vqp_cmd cmd, json_t **list);

#endif
