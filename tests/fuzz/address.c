// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Addresses, and places of servers, as people write them. */
#include <errno.h>

#include "../../common/address.h"
#include "fuzz.h"

static void check_address(const char *text)
{
	char first[VQP_ADDRESS_TEXT], second[VQP_ADDRESS_TEXT];
	uint8_t gid[16], again[16];

	if (vqp_address_parse(text, gid)) {
		fuzz_check(vqp_address_parse_unicast(text, again) == -EINVAL);
		return;
	}
	vqp_address_format(gid, first);
	fuzz_check(!vqp_address_parse(first, again) && !memcmp(gid, again, sizeof(gid)));
	fuzz_check(!strcmp(first, vqp_address_format(again, second)));
	/* whether it can be a container's does not depend on how it is written */
	fuzz_check(vqp_address_parse_unicast(text, again) == vqp_address_parse_unicast(first, again));
}

static void check_split(const char *text)
{
	char *host, *port;
	int ret = vqp_address_split(text, "7471", &host, &port);

	fuzz_check(ret == 0 || ret == -EINVAL);
	fuzz_check((ret == 0) == (port != NULL));
	fuzz_check(!host || (*host && strstr(text, host)));
	fuzz_check(!port || (*port && (strstr(text, port) || !strcmp(port, "7471"))));
	free(host);
	free(port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	fuzz_check(text);
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	check_address(text);
	check_split(text);
	free(text);
	return 0;
}
