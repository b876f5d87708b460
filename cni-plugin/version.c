// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>

#include "version.h"

static const char *const versions[VQP_VERSION_COUNT] = {
	"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0",
};

enum vqp_version vqp_version_parse(const char *text)
{
	int version = 0;

	while (version < VQP_VERSION_COUNT && strcmp(versions[version], text))
		version++;
	return version;
}

const char *vqp_version_text(enum vqp_version version)
{
	return versions[version];
}

json_t *vqp_version_list(void)
{
	json_t *list = json_array();

	for (int version = 0; version < VQP_VERSION_COUNT; version++)
		json_array_append_new(list, json_string(versions[version]));
	return list;
}
