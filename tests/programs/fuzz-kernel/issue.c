// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cover.h"
#include "issue.h"

/* Of any call: a bad descriptor or argument, a context without namespace, no memory, a signal. */
static const int common_errnos[] = {
	EBADF, ENOTTY, EINVAL, E2BIG, EFAULT, EUNATCH, ESHUTDOWN, ENOMEM, EINTR, 0
};

#define ERRNOS_MAX	9

static const int own_errnos[][ERRNOS_MAX] = {
	[_IOC_NR(VQP_IOC_REG_MR)] = { ENOSPC, EDQUOT },
	[_IOC_NR(VQP_IOC_DEREG_MR)] = { ENOENT },
	[_IOC_NR(VQP_IOC_CREATE_CQ)] = { EMFILE, ENFILE, ENOSPC },
	[_IOC_NR(VQP_IOC_CREATE_QP)] = { ENOSPC, EDQUOT },
	[_IOC_NR(VQP_IOC_DESTROY_QP)] = { ENOENT },
	[_IOC_NR(VQP_IOC_BIND)] = { EADDRINUSE, ENOENT },
	[_IOC_NR(VQP_IOC_CONNECT)] = { EISCONN, EHOSTUNREACH, ENETDOWN, ETIMEDOUT, ENOENT, EIO },
	[_IOC_NR(VQP_IOC_ACCEPT)] = { EISCONN, EHOSTUNREACH, ENETDOWN, ETIMEDOUT, ENOENT, EIO, ENOSPC, EDQUOT },
	[_IOC_NR(VQP_IOC_POST_SEND)] = { EACCES, ENOTCONN, EMSGSIZE, ENOENT, EIO },
	[_IOC_NR(VQP_IOC_POST_RECV)] = { EACCES, EMSGSIZE, ENOENT, EIO },
	[_IOC_NR(VQP_IOC_QUERY_QP)] = { ENOENT },
	[_IOC_NR(VQP_IOC_ATTACH)] = { ENONET, EADDRNOTAVAIL, EISCONN, EPERM, ENFILE },
};

static bool among(const int *errnos, int error)
{
	for (; *errnos; errnos++)
		if (*errnos == error)
			return true;
	return false;
}

static void check_errno(struct runner *run, unsigned long cmd, int error)
{
	unsigned int nr = _IOC_NR(cmd);

	if (among(common_errnos, error))
		return;
	if (nr < sizeof(own_errnos) / sizeof(own_errnos[0]) && among(own_errnos[nr], error))
		return;
	fail(run, "ioctl %#lx gave %s, which is not among its errors", cmd, strerrorname_np(error));
}

int object_fd(const struct object *object)
{
	return (int)object->a >= cover_first_free_fd() ? (int)object->a : -1;
}

int context_fd(struct runner *run, const struct object *object)
{
	return object_fd(&run->world->contexts.objects[object->context % run->world->contexts.size]);
}

static unsigned long resize(unsigned long cmd, size_t bytes)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), bytes);
}

static unsigned long spoil_command(struct runner *run, unsigned long cmd, size_t bytes)
{
	struct rnd *r = &run->rnd;

	switch (run->call->spoil) {
	case SPOIL_SHORT: return resize(cmd, rnd_below(r, (uint32_t)bytes));
	case SPOIL_LONG:
	case SPOIL_LONG_CONTENT: return resize(cmd, bytes + 1 + rnd_below(r, 200));
	case SPOIL_DIRECTION: return _IOC(rnd_below(r, 4), _IOC_TYPE(cmd), _IOC_NR(cmd), bytes);
	case SPOIL_MAGIC: return _IOC(_IOC_DIR(cmd), rnd_u32(r) & 0xff, _IOC_NR(cmd), bytes);
	case SPOIL_NUMBER: return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), rnd_below(r, 32), bytes);
	}
	return cmd;
}

/* Where the argument goes; NULL: the pointer is no memory of ours. */
static uint8_t *place(struct runner *run, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	switch (run->call->spoil) {
	case SPOIL_PAGE_END: return run->stage + page - bytes;
	case SPOIL_HOLE: return run->stage + page - bytes + 1 + rnd_below(&run->rnd, (uint32_t)bytes);
	case SPOIL_READ_ONLY: return run->stage + 2 * page;
	case SPOIL_POINTER: return NULL;
	}
	return run->stage + rnd_below(&run->rnd, 64);
}

static void fill(struct runner *run, uint8_t *at, const void *arg, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t edge;

	switch (run->call->spoil) {
	case SPOIL_READ_ONLY:
		mprotect(at, page, PROT_READ | PROT_WRITE);
		memcpy(at, arg, bytes);
		mprotect(at, page, PROT_READ);
		return;
	case SPOIL_HOLE:
		memcpy(at, arg, (size_t)(run->stage + page - at));
		return;
	}
	memcpy(at, arg, bytes);
	if (run->call->spoil == SPOIL_FIELD) {
		edge = (uint32_t)rnd_edge(&run->rnd);
		memcpy(at + 4 * (size_t)rnd_below(&run->rnd, (uint32_t)bytes / 4), &edge, 4);
	}
	if (run->call->spoil == SPOIL_LONG || run->call->spoil == SPOIL_LONG_CONTENT)
		memset(at + bytes, 0, 256);
	if (run->call->spoil == SPOIL_LONG_CONTENT)
		at[bytes + rnd_below(&run->rnd, 200)] = 1;
}

int issue(struct runner *run, int fd, unsigned long cmd, void *arg)
{
	size_t bytes = _IOC_SIZE(cmd);
	uint8_t *at = place(run, bytes);
	int ret;

	if (at)
		fill(run, at, arg, bytes);
	if (run->call->spoil == SPOIL_FD)
		fd = (int)rnd_below(&run->rnd, 24) - 1;
	cmd = spoil_command(run, cmd, bytes);
	ret = ioctl(fd, cmd, at ? (unsigned long)at : (unsigned long)rnd_edge(&run->rnd)) ? -errno : 0;
	if (ret && _IOC_TYPE(cmd) == VQP_IOC_MAGIC && run->call->spoil != SPOIL_FD)
		check_errno(run, cmd, -ret);
	if (at && run->call->spoil != SPOIL_HOLE)
		memcpy(arg, at, bytes);
	note(run, !ret);
	return ret;
}
