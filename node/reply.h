/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Answers: {"ok":true,...} and {"ok":false,"errno":"EEXIST","error":"text"}. */
#ifndef VQP_NODE_REPLY_H
#define VQP_NODE_REPLY_H

#include <jansson.h>

/* Returns a refusal; `err` is an errno value, positive or negative. NULL without memory. */
json_t *vqp_reply_error(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the text of a refusal, which lives as long as `reply`; NULL if `reply` is no refusal. */
const char *vqp_reply_text(const json_t *reply);

/* Returns the positive errno value of a refusal; EPROTO if it names none that is known. */
int vqp_reply_errno(const json_t *reply);

#endif
