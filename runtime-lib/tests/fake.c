// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fake.h"

struct fake fake;

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

static int fake_out_of_memory(void)
{
	if (!fake.fail_alloc || --fake.fail_alloc)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *__wrap_malloc(size_t bytes)
{
	return fake_out_of_memory() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fake_out_of_memory() ? NULL : __real_calloc(count, bytes);
}

int __wrap_open(const char *path, int flags, mode_t mode)
{
	int fd;

	/* what measures coverage writes its own files */
	if (strcmp(path, VQP_DEVICE_PATH))
		return __real_open(path, flags, mode);
	fake.opens++;
	assert_true(flags & O_CLOEXEC);
	if (fake.fail_errno && fake.fail_nr == UINT32_MAX) {
		errno = fake.fail_errno;
		return -1;
	}
	fd = memfd_create("vqp", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, VQP_MAX_ARENA_BYTES), 0);
	return fd;
}

int __wrap_socket(int family, int type, int protocol)
{
	if (protocol == IPPROTO_VQP && fake.vqp_errno) {
		errno = fake.vqp_errno;
		return -1;
	}
	return __real_socket(family, type, protocol == IPPROTO_VQP ? IPPROTO_TCP : protocol);
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	if (level != IPPROTO_VQP)
		return __real_getsockopt(fd, level, name, value, bytes);
	assert_int_equal(name, VQP_SO_KIND);
	assert_int_equal(*bytes, sizeof(int));
	if (fake.others) {
		fake.others--;
		errno = ENOPROTOOPT;
		return -1;
	}
	*(int *)value = fake.kind;
	return 0;
}

/* Behind the arenas' memory in the file that stands for the device. */
#define FAKE_RING_OFFSET	((off_t)VQP_MAX_ARENA_BYTES)

static void fake_create_cq(int device_fd, struct vqp_create_cq *create)
{
	uint32_t entries = 1;

	while (entries < create->cqe)
		entries *= 2;
	if (fake.ring)
		munmap(fake.ring, fake.ring_bytes);
	fake.ring_bytes = VQP_CQ_CQE_OFFSET + entries * sizeof(struct vqp_cqe);
	create->cqe = entries;
	create->ring_bytes = fake.unmappable ? 0 : fake.ring_bytes;
	create->ring_offset = (uint64_t)FAKE_RING_OFFSET;
	create->fd = memfd_create("vqp-cq", MFD_CLOEXEC);
	/* the latest CQ's alone */
	assert_int_equal(ftruncate(device_fd, FAKE_RING_OFFSET), 0);
	assert_int_equal(ftruncate(device_fd, FAKE_RING_OFFSET + (off_t)fake.ring_bytes), 0);
	fake.ring = mmap(NULL, fake.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device_fd, FAKE_RING_OFFSET);
	assert_ptr_not_equal(fake.ring, MAP_FAILED);
	fake.ring->entries = entries;
}

static void fake_post(struct vqp_post *post, int err)
{
	assert_true(post->wrs_bytes <= sizeof(fake.stream));
	assert_int_equal(post->wrs % 8, 0);
	assert_int_equal(post->posted, 0);
	assert_int_equal(post->sge_bytes, sizeof(struct vqp_sge));
	memcpy(fake.stream, (const void *)(uintptr_t)post->wrs, post->wrs_bytes);
	post->posted = err ? fake.fail_posted : post->wr_count;
	fake.posted += post->posted;
	fake.post = *post;
}

static void fake_attach(struct vqp_attach *attach)
{
	static const uint8_t any[VQP_GID_BYTES];

	fake.attach = *attach;
	if (!memcmp(attach->gid, any, sizeof(any)))
		vqp_parse_gid(FAKE_GID, (union ibv_gid *)attach->gid);
}

static void fake_grant(int fd, unsigned int nr, void *arg)
{
	switch (nr) {
	case FAKE_NR(VQP_IOC_ATTACH):
		fake_attach(arg);
		break;
	case FAKE_NR(VQP_IOC_REG_MR):
		fake.reg_mr = *(struct vqp_reg_mr *)arg;
		((struct vqp_reg_mr *)arg)->key = 0x1234;
		break;
	case FAKE_NR(VQP_IOC_CREATE_CQ):
		fake_create_cq(fd, arg);
		break;
	case FAKE_NR(VQP_IOC_CREATE_QP):
		fake.create_qp = *(struct vqp_create_qp *)arg;
		((struct vqp_create_qp *)arg)->qp_num = fake.next_qp_num++;
		break;
	case FAKE_NR(VQP_IOC_BIND):
		fake.bind = *(struct vqp_bind *)arg;
		if (!fake.bind.port)
			((struct vqp_bind *)arg)->port = 40000;
		break;
	case FAKE_NR(VQP_IOC_CONNECT):
		fake.connect = *(struct vqp_connect *)arg;
		break;
	case FAKE_NR(VQP_IOC_ACCEPT):
		fake.accept = *(struct vqp_accept *)arg;
		((struct vqp_accept *)arg)->new_qp_num = fake.next_qp_num++;
		break;
	}
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	unsigned int nr = FAKE_NR(request);
	va_list ap;
	void *arg;
	int err;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	assert_true(fd >= 0);
	fake.ioctls++;
	fake.calls[nr]++;
	err = nr == fake.fail_nr ? fake.fail_errno : 0;
	if (nr == FAKE_NR(VQP_IOC_POST_SEND) || nr == FAKE_NR(VQP_IOC_POST_RECV))
		fake_post(arg, err);
	else if (!err)
		fake_grant(fd, nr, arg);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

void fake_fail(unsigned long request, int err)
{
	fake.fail_nr = request ? FAKE_NR(request) : UINT32_MAX;
	fake.fail_errno = err;
}

void fake_complete(const struct vqp_cqe *cqe)
{
	struct vqp_cqe *cqes = (struct vqp_cqe *)((char *)fake.ring + VQP_CQ_CQE_OFFSET);

	assert_true(fake.ring->tail - fake.ring->head < fake.ring->entries);
	cqes[fake.ring->tail & (fake.ring->entries - 1)] = *cqe;
	__atomic_store_n(&fake.ring->tail, fake.ring->tail + 1, __ATOMIC_RELEASE);
}

struct ibv_qp *fake_qp(struct ibv_context *context, struct ibv_cq *cq, uint32_t max_inline)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 64, 64, 4, 4, max_inline },
		.qp_type = VQP_QPT_VQP,
	};
	struct ibv_qp *qp = vqp_create_qp(vqp_pd(context), &attr);

	assert_non_null(qp);
	return qp;
}

int fake_setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.next_qp_num = 0x1000;
	*state = vqp_open();
	return *state ? 0 : -1;
}

int fake_teardown(void **state)
{
	if (fake.ring)
		munmap(fake.ring, fake.ring_bytes);
	fake.ring = NULL;
	return *state ? vqp_close(*state) : 0;
}
