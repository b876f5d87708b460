/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* JSON lines over a non-blocking stream socket: one JSON object per line. */
#ifndef VQP_NODE_LINE_H
#define VQP_NODE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define VQP_LINE_MAX	(64U << 10)	/* the most bytes of a request */
#define VQP_LINE_REPLY_MAX (16U << 20)	/* the most bytes of an answer */

struct vqp_line {
	int fd;
	size_t max;		/* the most bytes of a line that arrives */
	char *in;
	size_t in_bytes, in_room;
	bool skipping;		/* The rest of a line that is too long is being skipped. */
	char *out;
	size_t out_bytes, out_done;
};

/* Initializes the line, which owns fd from then on. fd is non-blocking. */
void vqp_line_init(struct vqp_line *line, int fd, size_t max);
void vqp_line_exit(struct vqp_line *line);

/*
 * Reads bytes that have arrived. 1, also if there are none yet; 0 if the other end has closed; or a
 * negative errno.
 */
int vqp_line_fill(struct vqp_line *line);

/*
 * Returns the next complete line as an object, which the caller releases: 1 and *object; 0 if there
 * is no complete line yet; -EBADMSG for a line that is no JSON object, which is consumed; -EMSGSIZE
 * for a line longer than `max`, which is skipped.
 */
int vqp_line_next(struct vqp_line *line, json_t **object);

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
