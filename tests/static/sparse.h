/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What sparse 0.6.4 (Debian 12 and 13) does not know of what newer kernels' headers say. */
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(string) (sizeof(string) - 1)
