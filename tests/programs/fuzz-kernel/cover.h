/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What of the module's code the calls reach, by KCOV; and the programs that
 * were the first to reach something. Shared by all workers. Without KCOV
 * nothing is ever new, and programs are only generated.
 */
#ifndef VQP_FUZZ_COVER_H
#define VQP_FUZZ_COVER_H

#include "program.h"

struct cover;

/* Before workers are forked. NULL: the kernel has no KCOV, or the module is not instrumented. */
struct cover *cover_open(void);

/* In a worker, which holds the descriptors below first_fd: get one KCOV for each thread. */
void cover_attach(struct cover *cover);
int cover_first_free_fd(void);

/* Around what thread `index` does. */
void cover_begin(uint8_t index);
void cover_end(uint8_t index);

/* After a program: was anything new? Then it is kept. */
bool cover_judge(const struct program *program);

/* One that was kept; false if there is none. */
bool cover_pick(struct rnd *r, struct program *program);

/* Addresses reached, programs kept. */
unsigned long cover_reached(const struct cover *cover);
unsigned long cover_kept(const struct cover *cover);

#endif
