// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>

#include "cni_name.h"

#define ALPHANUMERIC	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool vqp_cni_name_is_valid(const char *name)
{
	size_t bytes = strspn(name, ALPHANUMERIC "_.-");

	return strspn(name, ALPHANUMERIC) && !name[bytes] && bytes <= VQP_CNI_NAME_MAX_BYTES;
}
