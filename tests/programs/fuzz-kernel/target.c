// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include "target.h"

bool target_gid(const char *address, uint8_t *gid)
{
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	return inet_pton(AF_INET, address, gid + 12) == 1;
}

void target_parse(const char *text, struct target *target)
{
	size_t length = strcspn(text, ":");
	char address[INET_ADDRSTRLEN] = "";
	uint64_t numbers[4] = {};
	const char *at = text + length;
	char *end;
	int i;

	memcpy(address, text, length < sizeof(address) ? length : 0);
	for (i = 0; i < 4 && *at == ':'; i++, at = end)
		numbers[i] = strtoull(at + 1, &end, 10);
	target->known = i == 4 && !*at && target_gid(address, target->gid);
	if (!target->known)
		errx(2, "no target: %s", text);
	target->port = (uint32_t)numbers[0];
	target->key = (uint32_t)numbers[1];
	target->addr = numbers[2];
	target->bytes = numbers[3];
}
