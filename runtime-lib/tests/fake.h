/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in for the kernel: open(), ioctl() and allocations of the library
 * under test end here (ld --wrap). It grants what is asked, writes down what it
 * was asked, and fails on demand. Sockets of IPPROTO_VQP are TCP's, and said to
 * be of that kind.
 */
#ifndef FAKE_H
#define FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "internal.h"

struct fake {
	int opens, ioctls;		/* calls so far */
	unsigned int calls[16];		/* ioctls by number */
	unsigned int fail_nr;		/* this ioctl fails ... */
	int fail_errno;			/* ... with this, unless 0 */
	uint32_t fail_posted;		/* ... after so many requests */
	unsigned int fail_alloc;	/* the allocation that fails, counted from 1; 0: none */
	int unmappable;			/* rings cannot be mapped */
	int vqp_errno;			/* with this no socket of IPPROTO_VQP is made, unless 0 */
	int kind;			/* of connected sockets, enum vqp_sock_kind; */
	unsigned int others;		/* but so many more times sockets are none of IPPROTO_VQP */

	struct vqp_attach attach;	/* arguments of the latest call */
	struct vqp_reg_mr reg_mr;
	struct vqp_create_qp create_qp;
	struct vqp_bind bind;
	struct vqp_connect connect;
	struct vqp_accept accept;
	struct vqp_post post;
	uint8_t stream[VQP_MAX_POST_BYTES];	/* of the latest POST */
	uint32_t posted;		/* requests taken over all POSTs */

	uint32_t next_qp_num;
	struct vqp_cq_ring *ring;	/* of the latest CQ, as the kernel sees it */
	size_t ring_bytes;
};

extern struct fake fake;

#define FAKE_GID	"10.1.0.2"
#define FAKE_NR(request) _IOC_NR(request)

/* cmocka fixtures: *state is an open context. */
int fake_setup(void **state);
int fake_teardown(void **state);

void fake_fail(unsigned long request, int err);

/* Complete something on the latest CQ, as the kernel would. */
void fake_complete(const struct vqp_cqe *cqe);

struct ibv_qp *fake_qp(struct ibv_context *context, struct ibv_cq *cq, uint32_t max_inline);

#endif
