// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stdio.h>

#include "kernel_bytes.h"

long kernel_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long sum = 0, kib;
	char line[128];

	if (!file) {
		perror("/proc/meminfo");
		return -1;
	}
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld", &kib) == 1 || sscanf(line, "VmallocUsed: %ld", &kib) == 1 ||
		    sscanf(line, "Percpu: %ld", &kib) == 1)
			sum += kib * 1024;
	fclose(file);
	return sum;
}
