// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/error.h"
#include "library.h"

#define LIBRARY	"../lib/libvqpcni.so"	/* relative to this program's directory */

static int find(char path[PATH_MAX], struct vqp_error *error)
{
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - sizeof(LIBRARY));

	if (bytes < 0)
		return vqp_error_set(error, -errno, "cannot find " LIBRARY ": /proc/self/exe: %s", strerror(errno));
	path[bytes] = '\0';
	strcpy(strrchr(path, '/') + 1, LIBRARY);
	return 0;
}

int vqp_library_call(const char *function, struct vqpcni_attachment *attachment, struct vqp_error *error)
{
	int (*call)(struct vqpcni_attachment *attachment, char **text);
	cleanup_free char *text = NULL;
	char path[PATH_MAX];
	void *library;
	int ret = find(path, error);

	if (ret)
		return ret;
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return vqp_error_set(error, -ENOENT,
				     "cannot load what attaches containers to CNI networks: %s: make -C libcni install", dlerror());
	*(void **)&call = dlsym(library, function);
	if (!call)
		return vqp_error_set(error, -ENOSYS, "%s is of another version: make -C libcni install: %s", path, dlerror());
	return call(attachment, &text) ? vqp_error_set(error, -EIO, "%s", text) : 0;
}
