/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A VQP on another node that offers memory: a vqpt mem-server. */
#ifndef VQP_FUZZ_TARGET_H
#define VQP_FUZZ_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/vqp.h>

struct target {
	bool known;
	uint8_t gid[VQP_GID_BYTES];
	uint32_t port, key;
	uint64_t addr, bytes;
};

/* ADDRESS:PORT:KEY:ADDR:BYTES; ends the program if it is not. */
void target_parse(const char *text, struct target *target);

/* An IPv4 address as a GID; false if it is none. */
bool target_gid(const char *address, uint8_t *gid);

#endif
