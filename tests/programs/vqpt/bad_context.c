// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Wrong ioctls as such, and contexts: what is possible before one is attached, and what it is attached to. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bad.h"

#define NOWHERE		"fd99::99"	/* an address nobody has */

/* A request number with the size of another argument. */
#define RESIZED(request, bytes) _IOC(_IOC_READ | _IOC_WRITE, VQP_IOC_MAGIC, _IOC_NR(request), bytes)

static int open_device(struct bad *b)
{
	struct ibv_context *context = vqp_open();

	(void)b;
	if (!context)
		return errno;
	return -vqp_close(context);
}

/* Calls succeed until the namespace is removed. */
static int until_shutdown(struct bad *b)
{
	struct vqp_query query;
	int err, i;

	for (i = 0; i < b->options->timeout_ms; i += 10) {
		query = (struct vqp_query){ 0 };
		err = bad_ioctl(b->fd, VQP_IOC_QUERY, &query);
		if (err)
			return err;
		usleep(10000);
	}
	return 0;
}

/* ---- The calls as such ---- */

static int ioctl_unknown(struct bad *b)
{
	char arg[64] = "";

	return bad_ioctl(b->fd, _IOWR(VQP_IOC_MAGIC, 0x7f, arg), arg);
}

static int ioctl_foreign(struct bad *b)
{
	struct vqp_query query = { 0 };

	return bad_ioctl(b->fd, _IOWR('x', 0, struct vqp_query), &query);
}

static int ioctl_direction(struct bad *b)
{
	struct vqp_query query = { 0 };

	return bad_ioctl(b->fd, _IOW(VQP_IOC_MAGIC, 0, struct vqp_query), &query);
}

static int size_short(struct bad *b)
{
	struct vqp_query query = { 0 };

	return bad_ioctl(b->fd, RESIZED(VQP_IOC_QUERY, sizeof(query) - 8), &query);
}

static int size_long(struct bad *b)
{
	char arg[sizeof(struct vqp_query) + 64] = "";

	return bad_ioctl(b->fd, RESIZED(VQP_IOC_QUERY, sizeof(arg)), arg);
}

static int size_long_with_content(struct bad *b)
{
	char arg[sizeof(struct vqp_query) + 64] = "";

	arg[sizeof(arg) - 1] = 1;
	return bad_ioctl(b->fd, RESIZED(VQP_IOC_QUERY, sizeof(arg)), arg);
}

static int argument_unmapped(struct bad *b)
{
	return bad_ioctl(b->fd, VQP_IOC_QUERY, (void *)8);
}

/* A field of the answer that is not zero. */
static int query_answered(struct bad *b)
{
	struct vqp_query query = { .max_wr = 1 };

	return bad_ioctl(b->fd, VQP_IOC_QUERY, &query);
}

/* The device's own call, before anything else. */
static int on_new_context(int (*call)(int fd))
{
	int fd = open(VQP_DEVICE_PATH, O_RDWR), err;

	if (fd < 0)
		vqpt_die(errno, VQP_DEVICE_PATH);
	err = call(fd);
	close(fd);
	return err;
}

static int query_new(int fd)
{
	struct vqp_query query = { 0 };
	int err = bad_ioctl(fd, VQP_IOC_QUERY, &query);

	if (err)
		return err;
	return query.flags & VQP_QUERY_ATTACHED || query.tenant || query.max_wr != VQP_MAX_WR ? EPROTO : 0;
}

static int unattached_query(struct bad *b)
{
	(void)b;
	return on_new_context(query_new);
}

static int create_cq_new(int fd)
{
	struct vqp_create_cq create = { .cqe = 1 };

	return bad_ioctl(fd, VQP_IOC_CREATE_CQ, &create);
}

static int unattached_call(struct bad *b)
{
	(void)b;
	return on_new_context(create_cq_new);
}

static int map_new(int fd)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0;
}

static int unattached_mmap(struct bad *b)
{
	(void)b;
	return on_new_context(map_new);
}

static int attach_oldest(int fd)
{
	struct vqp_attach arg = { 0 };
	struct vqp_query query = { 0 };
	int err = bad_ioctl(fd, VQP_IOC_ATTACH, &arg);

	if (err || bad_ioctl(fd, VQP_IOC_QUERY, &query))
		return err ? err : errno;
	return !(query.flags & VQP_QUERY_ATTACHED) || memcmp(query.gid, arg.gid, sizeof(arg.gid)) ? EPROTO : 0;
}

static int attach_any(struct bad *b)
{
	(void)b;
	return on_new_context(attach_oldest);
}

/* An ordinary user has opened the device, and root attaches the context. */
static int attach_handed(struct bad *b)
{
	int fd, err;

	(void)b;
	if (seteuid(65534))
		return errno;
	fd = open(VQP_DEVICE_PATH, O_RDWR);
	err = errno;
	if (seteuid(0))
		vqpt_die(errno, "seteuid");
	if (fd < 0)
		vqpt_die(err, VQP_DEVICE_PATH);
	err = attach_oldest(fd);
	close(fd);
	return err;
}

static int attach_flags(struct bad *b)
{
	struct vqp_attach arg = { .flags = 1 };

	return bad_ioctl(b->fd, VQP_IOC_ATTACH, &arg);
}

static int attach_reserved(struct bad *b)
{
	struct vqp_attach arg = { .reserved = 1 };

	return bad_ioctl(b->fd, VQP_IOC_ATTACH, &arg);
}

static int attach(int fd, const char *address)
{
	struct vqp_attach arg = { 0 };

	if (vqp_parse_gid(address, (union ibv_gid *)arg.gid))
		vqpt_die(errno, "%s", address);
	return bad_ioctl(fd, VQP_IOC_ATTACH, &arg);
}

static int attach_to_nowhere(int fd)
{
	int err = attach(fd, NOWHERE);

	/* it has attached the context to nothing */
	if (attach_oldest(fd))
		vqpt_die(errno, "ATTACH afterwards");
	return err;
}

static int attach_nowhere(struct bad *b)
{
	(void)b;
	return on_new_context(attach_to_nowhere);
}

static int attach_late(struct bad *b)
{
	return attach(b->fd, NOWHERE);
}

static int attach_again(struct bad *b)
{
	struct vqp_attach arg = { 0 };
	union ibv_gid gid;

	vqp_gid(b->conn.context, &gid);
	memcpy(arg.gid, gid.raw, sizeof(arg.gid));
	return bad_ioctl(b->fd, VQP_IOC_ATTACH, &arg);
}

const struct bad_case bad_contexts[] = {
	{ "open", BAD_NOTHING, open_device },
	{ "until-shutdown", BAD_CONTEXT, until_shutdown },
	{ "ioctl-unknown", BAD_CONTEXT, ioctl_unknown },
	{ "ioctl-foreign", BAD_CONTEXT, ioctl_foreign },
	{ "ioctl-direction", BAD_CONTEXT, ioctl_direction },
	{ "size-short", BAD_CONTEXT, size_short },
	{ "size-long", BAD_CONTEXT, size_long },
	{ "size-long-with-content", BAD_CONTEXT, size_long_with_content },
	{ "argument-unmapped", BAD_CONTEXT, argument_unmapped },
	{ "query-answered", BAD_CONTEXT, query_answered },
	{ "unattached-query", BAD_NOTHING, unattached_query },
	{ "unattached-call", BAD_NOTHING, unattached_call },
	{ "unattached-mmap", BAD_NOTHING, unattached_mmap },
	{ "attach-any", BAD_NOTHING, attach_any },
	{ "attach-handed", BAD_NOTHING, attach_handed },
	{ "attach-flags", BAD_CONTEXT, attach_flags },
	{ "attach-reserved", BAD_CONTEXT, attach_reserved },
	{ "attach-nowhere", BAD_NOTHING, attach_nowhere },
	{ "attach-late", BAD_CONTEXT, attach_late },
	{ "attach-again", BAD_CONTEXT, attach_again },
	{ 0 }
};
