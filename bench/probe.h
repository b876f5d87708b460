/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#define PROBE_SEED	1	/* of the one byte that probe sends */
#define IOCTL_COUNT	1000	/* times that empty-ioctl prints */

#endif /* BENCH_PROBE_H */
