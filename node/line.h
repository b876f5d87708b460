/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* JSON lines over a non-blocking stream socket: one JSON object per line. */
#ifndef VQP_NODE_LINE_H
#define VQP_NODE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define VQP_LINE_MAX	(64U << 10)	/* bytes of a request */
#define VQP_LINE_REPLY_MAX (16U << 20)	/* bytes of an answer */

struct vqp_line {
	int fd;
	size_t max;		/* bytes of a line that may come in */
	char *in;
	size_t in_bytes, in_room;
	bool skipping;		/* the rest of a line that is too long */
	char *out;
	size_t out_bytes, out_done;
};

/* Takes over fd, which must be non-blocking. */
void vqp_line_init(struct vqp_line *line, int fd, size_t max);
void vqp_line_exit(struct vqp_line *line);

/* Read some of what has come. 1: something, or nothing yet; 0: the other end closed; negative errno. */
int vqp_line_fill(struct vqp_line *line);

/*
 * The next complete line as an object, the caller's. 1: *object; 0: no complete
 * line yet; -EBADMSG: a line that is no JSON object (it is consumed);
 * -EMSGSIZE: a line longer than `max` (it is skipped).
 */
int vqp_line_next(struct vqp_line *line, json_t **object);

/* Append a line to what is to be sent. 0 or -ENOMEM. */
int vqp_line_queue(struct vqp_line *line, const json_t *object);

/* Send what can be sent now. 0 or a negative errno value. */
int vqp_line_flush(struct vqp_line *line);

static inline bool vqp_line_unsent(const struct vqp_line *line)
{
	return line->out_done < line->out_bytes;
}

static inline bool vqp_line_complete(const struct vqp_line *line)
{
	return line->in_bytes && memchr(line->in, '\n', line->in_bytes);
}

/* For tools: send `request` and wait for one answer. -ETIMEDOUT; -ECONNRESET: closed. */
int vqp_line_call(struct vqp_line *line, const json_t *request, json_t **reply, int timeout_ms);

#endif
