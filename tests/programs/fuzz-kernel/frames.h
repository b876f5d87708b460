/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Frames of stream sockets to a hub, as no kernel writes them: of any type, with numbers that are
 * nobody's, beyond what there is room for, or that are no frames at all. Half of them open
 * connections, and few of these go on.
 */
#ifndef VQP_FUZZ_FRAMES_H
#define VQP_FUZZ_FRAMES_H

#include "random.h"
#include "tap.h"

#define FRAMES_BYTES	3900

/* The next one, to that listener; returns its bytes. */
u32 frames_next(struct rnd *rnd, const struct tap *tap, u16 listener, u8 buf[FRAMES_BYTES]);

#endif
