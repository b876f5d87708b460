/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the test works on. */
#ifndef ALLOCFAIL_MAIN_H
#define ALLOCFAIL_MAIN_H

#include <stdint.h>

/* Print to stderr, exit 1. With an errno value that is not 0, its name comes last. */
void die(int err, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* What die() says it was about. */
void die_about(const char *what, unsigned int nth);

/* A mem-server of vqpt's on another node. */
struct far {
	uint8_t gid[16];
	uint32_t port;
	uint32_t key;
	uint64_t addr;
};

extern struct far far;

#endif
