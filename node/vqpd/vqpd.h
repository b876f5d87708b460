/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The node daemon. */
#ifndef VQPD_VQPD_H
#define VQPD_VQPD_H

#include <stdbool.h>

#include "../../common/netlink.h"
#include "../http.h"
#include "../log_limit.h"
#include "../loop.h"
#include "../server.h"
#include "meta.h"
#include "registry.h"

struct vqp_add;

struct vqpd {
	struct vqp_loop loop;
	struct vqp_watch signals, tick;
	struct vqp_server server;
	struct vqp_netlink netlink;
	struct vqp_registry registry;
	struct vqp_meta_owner meta_owner;	/* has this node's DCT metadata */
	struct vqp_tls_key *key;		/* that of meta servers; or NULL */
	struct vqp_meta metas[VQP_META_MAX];
	unsigned int nmetas;
	struct vqp_add *adds;			/* the adds that wait for their announcement */
	struct vqp_http http;			/* metrics */
	json_t *status;				/* the answer to STATUS_GET; NULL without the module */
	struct vqp_log_limit refusals;		/* limits the log of them */
	bool told_old_policy;			/* The log says that the policy is an old file's, as it still is. */
	bool looked;				/* The kernel's namespaces have been listed once. */
	bool tables_due;			/* META_SET has failed, and is due again. */
	uint64_t started_ms;
};

#endif
