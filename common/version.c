/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "version.h"

#define TEXT(text)	TEXT_OF(text)
#define TEXT_OF(text)	#text

const char vqp_version[] = TEXT(VQP_VERSION);	/* of version.mk */
