/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BENCH_KERNEL_BYTES_H
#define BENCH_KERNEL_BYTES_H

/* Kernel memory that cannot be reclaimed, or -1, which has been said on stderr. */
long kernel_bytes(void);

#endif /* BENCH_KERNEL_BYTES_H */
