/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* JSON lines over a non-blocking stream socket: one JSON object per line. */
#ifndef VQP_NODE_LINE_H
#define VQP_NODE_LINE_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tls.h"

#define VQP_LINE_MAX	(64U << 10)	/* the most bytes of a request */
#define VQP_LINE_REPLY_MAX (16U << 20)	/* the most bytes of an answer */

struct vqp_line {
	int fd;
	struct vqp_tls *tls;	/* what encrypts the connection; NULL if nothing does */
	size_t max;		/* the most bytes of a line that arrives */
	char *in;
	size_t in_bytes, in_room;
	int passed_fd;		/* what came with bytes of `in`, as vqp_line_take_fd() returns it */
	size_t passed_at;	/* The descriptor belongs to the line with this byte of `in`. */
	int line_fd;		/* that of the line which was last returned */
	bool skipping;		/* The rest of a line that is too long is being skipped. */
	char *out;
	size_t out_bytes, out_done;
};

/* Initializes the line, which owns fd from then on. fd is non-blocking. */
void vqp_line_init(struct vqp_line *line, int fd, size_t max);
void vqp_line_exit(struct vqp_line *line);

/*
 * Has the connection, of which nothing has been sent or received, begin by TLS. No descriptors come
 * by it. 0, also if `key` is NULL, and then nothing is encrypted; or -ENOMEM.
 */
int vqp_line_secure(struct vqp_line *line, const struct vqp_tls_key *key, bool is_server);

/* Goes on without TLS, which the client does not speak: -ENOPROTOOPT of vqp_line_fill(). */
void vqp_line_expose(struct vqp_line *line);

/* Has the other end not proved yet that it knows the key? */
static inline bool vqp_line_is_new(const struct vqp_line *line)
{
	return line->tls && vqp_tls_is_new(line->tls);
}

/* Returns the events that the connection waits for, of which the caller wants `events`. */
static inline uint32_t vqp_line_events(const struct vqp_line *line, uint32_t events)
{
	return vqp_line_is_new(line) ? vqp_tls_events(line->tls) : events;
}

/*
 * Reads bytes that have arrived. 1, also if there are none yet; 0 if the other end has closed; or a
 * negative errno value: -EPROTO if a second descriptor comes before the line of the first is
 * complete, so that it is not clear which belongs to which line; and those of vqp_tls_recv().
 */
int vqp_line_fill(struct vqp_line *line);

/*
 * Returns the next complete line as an object, which the caller releases: 1 and *object; 0 if there
 * is no complete line yet; -EBADMSG for a line that is no JSON object, which is consumed; -EMSGSIZE
 * for a line longer than `max`, which is skipped.
 */
int vqp_line_next(struct vqp_line *line, json_t **object);

/*
 * Returns the network namespace, a descriptor, that came with the line which vqp_line_next()
 * returned last, and is the caller's from then on. -ENOENT if none came; -EINVAL if it was of
 * another kind; -EMFILE if it could not be received (too many are open, a security module forbids
 * it), or if several came. With a line one descriptor may come, and no other line in its message.
 */
static inline int vqp_line_take_fd(struct vqp_line *line)
{
	int fd = line->line_fd;

	line->line_fd = -ENOENT;
	return fd;
}

/* Appends a line to the bytes that are to be sent. 0 or -ENOMEM. */
int vqp_line_queue(struct vqp_line *line, const json_t *object);

/* Sends as much as can be sent now. 0 or a negative errno value. */
int vqp_line_flush(struct vqp_line *line);

static inline bool vqp_line_unsent(const struct vqp_line *line)
{
	return line->out_done < line->out_bytes;
}

static inline bool vqp_line_complete(const struct vqp_line *line)
{
	return line->in_bytes && memchr(line->in, '\n', line->in_bytes);
}

/*
 * For programs without a loop: sends `request` and waits for one answer. -ETIMEDOUT; -ECONNRESET if
 * it was closed.
 */
int vqp_line_call(struct vqp_line *line, const json_t *request, json_t **reply, int timeout_ms);

#endif
