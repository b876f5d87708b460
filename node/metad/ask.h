/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A question to a meta server from the command line. */
#ifndef VQP_METAD_ASK_H
#define VQP_METAD_ASK_H

#include <jansson.h>

#include "../tls.h"

#define VQP_METAD_PORT	"7471"	/* of a server whose port is not said */

/*
 * Asks the meta server HOST[:PORT] for `op` of PROTOCOL.md, by TLS if there is a key. 0 and *answer,
 * which the caller releases; or a negative errno value with *error set: -EINVAL if that is no server,
 * -EHOSTUNREACH if its name does not resolve, -ETIMEDOUT, -EKEYREJECTED, -EPROTO if it refuses.
 */
int vqp_metad_ask(const char *server, const char *op, const struct vqp_tls_key *key, json_t **answer,
		  struct vqp_error *error);

#endif
