/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections to meta servers by TLS 1.3 with a key that all nodes share (a PSK with ephemeral
 * Diffie-Hellman, RFC 8446 section 2.2), by GnuTLS. Both ends prove that they have the key.
 */
#ifndef VQP_NODE_TLS_H
#define VQP_NODE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../common/error.h"

/* The place of the key, where systemd finds it too when it passes the key to a unit. */
#define VQP_TLS_KEY_NAME	"vqp-meta.key"
#define VQP_TLS_KEY_FILE	"/etc/credstore/" VQP_TLS_KEY_NAME
#define VQP_TLS_KEY_HINT	"(umask 077; mkdir -p /etc/credstore; openssl rand -base64 48 >" VQP_TLS_KEY_FILE ")"

/* What an end whose handshake has failed with -EKEYREJECTED tells. */
#define VQP_TLS_KEY_REJECTED	"it has no key, or another than this node: " VQP_TLS_KEY_FILE " must be the same here and there"

#define VQP_TLS_HANDSHAKE_MS	10000	/* the time that a client has to prove that it knows the key */

struct vqp_tls_key;
struct vqp_tls;

/*
 * Reads the key from `path`, or, if that is NULL, from what systemd has passed to this unit, or from
 * VQP_TLS_KEY_FILE. *key is NULL if none of these is there. 0, or a negative errno value with *error
 * set: -ENOENT if `path` is not there, -EPERM if users other than its owner could read it, -EINVAL if
 * it is shorter than 32 or longer than 1024 bytes. White space at its end does not count.
 */
int vqp_tls_key_read(struct vqp_tls_key **key, const char *path, struct vqp_error *error);

/* Frees a key, which may be NULL, when no connection uses it any more. */
void vqp_tls_key_free(struct vqp_tls_key *key);

/* Begins a connection on a non-blocking socket, which stays the caller's. NULL without memory. */
struct vqp_tls *vqp_tls_begin(const struct vqp_tls_key *key, int fd, bool is_server);

/* Ends a connection, which may be NULL. */
void vqp_tls_end(struct vqp_tls *tls);

/* Has the other end not proved yet that it knows the key? */
bool vqp_tls_is_new(const struct vqp_tls *tls);

/* Returns what a new connection waits for: EPOLLIN or EPOLLOUT. */
uint32_t vqp_tls_events(const struct vqp_tls *tls);

/* Have bytes been received and decrypted, so that no event of the socket will tell of them? */
bool vqp_tls_pending(const struct vqp_tls *tls);

/*
 * Receive and send as recv() and send() do, after the handshake, which they carry on. -EAGAIN;
 * -EKEYREJECTED if the other end has another key; -ENOPROTOOPT from vqp_tls_recv() of a server if
 * the client does not speak TLS, of which nothing has been received; -EPROTO; -ECONNRESET.
 */
ssize_t vqp_tls_recv(struct vqp_tls *tls, void *data, size_t bytes);
ssize_t vqp_tls_send(struct vqp_tls *tls, const void *data, size_t bytes);

#endif
