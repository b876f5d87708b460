/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The names of the KRCORE paper (USENIX ATC'22, figure 7) on top of libvqp. */
#ifndef VQP_KRCORE_H
#define VQP_KRCORE_H

#include <vqp/vqp.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KRCORE_VQP VQP_QPT_VQP

/* Like POSIX bind; gid must be this namespace's own. 0 or a negative errno value. */
int qbind(struct ibv_qp *qp, union ibv_gid gid, int port);

/* Like POSIX connect. 0 or a negative errno value. */
int qconnect(struct ibv_qp *qp, union ibv_gid gid, int port);

/* Like POSIX accept and ibv_poll_cq in one; see vqp_pop_msgs(). */
int qpop_msgs(struct ibv_qp *qp, int num_entries, struct ibv_qp **src_qp, struct ibv_wc *wc);

#ifdef __cplusplus
}
#endif

#endif /* VQP_KRCORE_H */
