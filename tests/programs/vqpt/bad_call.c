// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Wrong calls about regions and VQPs, other than posts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "bad.h"

#define NOWHERE		"fd99::99"	/* an address nobody has */

/* ---- Memory ---- */

static int reg_mr(struct bad *b, const void *addr, uint64_t length, uint32_t access)
{
	struct vqp_reg_mr reg = { .addr = (uintptr_t)addr, .length = length, .access = access };

	return bad_ioctl(b->fd, VQP_IOC_REG_MR, &reg);
}

static int mr_empty(struct bad *b)
{
	return reg_mr(b, b->conn.memory, 0, 0);
}

static int mr_wrap(struct bad *b)
{
	return reg_mr(b, b->conn.memory, UINT64_MAX - 10, 0);
}

static int mr_flags(struct bad *b)
{
	return reg_mr(b, b->conn.memory, 8, 1U << 10);
}

static int mr_remote_write_alone(struct bad *b)
{
	return reg_mr(b, b->conn.memory, 8, VQP_ACCESS_REMOTE_WRITE);
}

static int mr_unmapped(struct bad *b)
{
	char *hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(hole + 4096, 4096);
	return reg_mr(b, hole, 8192, VQP_ACCESS_LOCAL_WRITE);
}

static int mr_readonly_memory(struct bad *b)
{
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return reg_mr(b, memory, 4096, VQP_ACCESS_LOCAL_WRITE);
}

/* As an ordinary user, who may lock 64 KiB. */
static int mr_limited(struct bad *b, void *memory, uint64_t bytes)
{
	struct rlimit limit = { 65536, 65536 };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setuid(65534))
		vqpt_die(errno, "becoming an ordinary user");
	return reg_mr(b, memory, bytes, VQP_ACCESS_LOCAL_WRITE);
}

static int mr_memlock(struct bad *b)
{
	void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mr_limited(b, memory, 1 << 20);
}

/* So much that to list its pages alone would take a gigabyte. */
static int mr_memlock_huge(struct bad *b)
{
	return mr_limited(b, (void *)4096, 1ULL << 39);
}

/* Memory from the module. */
static int mr_memlock_arena(struct bad *b)
{
	void *memory = vqp_alloc(b->conn.context, 1 << 20);

	return memory ? mr_limited(b, memory, 1 << 20) : errno;
}

/* A page of a file, which file systems write back, or of memory that has no file system behind it. */
static int mr_of_file(struct bad *b, int fd, int mapped)
{
	void *memory;

	if (fd < 0 || ftruncate(fd, 4096))
		vqpt_die(errno, "a file");
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, mapped, fd, 0);
	if (memory == MAP_FAILED)
		vqpt_die(errno, "mmap of a file");
	return reg_mr(b, memory, 4096, VQP_ACCESS_LOCAL_WRITE);
}

static int mr_file_shared(struct bad *b)
{
	return mr_of_file(b, open("/var/tmp", O_TMPFILE | O_RDWR, 0600), MAP_SHARED);
}

static int mr_file_private(struct bad *b)
{
	return mr_of_file(b, open("/var/tmp", O_TMPFILE | O_RDWR, 0600), MAP_PRIVATE);
}

static int mr_memfd_shared(struct bad *b)
{
	return mr_of_file(b, memfd_create("vqpt", 0), MAP_SHARED);
}

static int dereg(int fd, uint32_t key, uint32_t reserved)
{
	struct vqp_dereg_mr arg = { .key = key, .reserved = reserved };

	return bad_ioctl(fd, VQP_IOC_DEREG_MR, &arg);
}

/* Requests that name a region by its key may still be under way when it goes. */
static int dereg_key_rests(struct bad *b)
{
	struct vqp_reg_mr reg = { .addr = (uintptr_t)b->conn.memory, .length = 8, .access = VQP_ACCESS_LOCAL_WRITE };
	uint32_t first = 0, i;
	int err;

	for (i = 0; i < 1000; i++) {
		reg.key = 0;
		err = bad_ioctl(b->fd, VQP_IOC_REG_MR, &reg);
		if (!err)
			err = dereg(b->fd, reg.key, 0);
		if (err)
			return err;
		if (i && reg.key >> 16 == first >> 16)
			return EEXIST;
		first = i ? first : reg.key;
	}
	return 0;
}

static int dereg_unknown(struct bad *b)
{
	return dereg(b->fd, b->conn.mr->lkey ^ 1, 0);
}

static int dereg_twice(struct bad *b)
{
	if (dereg(b->fd, b->conn.mr->lkey, 0))
		vqpt_die(errno, "the first DEREG_MR");
	return dereg(b->fd, b->conn.mr->lkey, 0);
}

static int dereg_foreign(struct bad *b)
{
	struct vqpt_conn other = bad_stranger(b);

	return dereg(b->fd, other.mr->lkey, 0);
}

static int dereg_reserved(struct bad *b)
{
	return dereg(b->fd, b->conn.mr->lkey, 1);
}

/* ---- VQPs ---- */

static struct vqp_create_qp good_qp(const struct bad *b)
{
	return (struct vqp_create_qp) {
		.send_cq_fd = vqp_cq_fd(b->conn.send_cq),
		.recv_cq_fd = vqp_cq_fd(b->conn.recv_cq),
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
}

static int qp_without_cq(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.recv_cq_fd = -1;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_cq_is_a_file(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.send_cq_fd = open("/dev/null", O_RDWR);
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_cq_is_the_context(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.send_cq_fd = b->fd;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_foreign_cq(struct bad *b)
{
	struct vqpt_conn other = bad_stranger(b);
	struct vqp_create_qp create = good_qp(b);

	create.send_cq_fd = vqp_cq_fd(other.send_cq);
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_huge_queue(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.max_send_wr = VQP_MAX_WR + 1;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_many_sges(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.max_recv_sge = VQP_MAX_SGE + 1;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

/* 1, if the upper half were dropped */
static int qp_sges_beyond_16_bits(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.max_send_sge = (1U << 16) + 1;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int qp_flags(struct bad *b)
{
	struct vqp_create_qp create = good_qp(b);

	create.flags = 1U << 31;
	return bad_ioctl(b->fd, VQP_IOC_CREATE_QP, &create);
}

static int destroy(int fd, uint32_t qp_num, uint32_t reserved)
{
	struct vqp_destroy_qp arg = { .qp_num = qp_num, .reserved = reserved };

	return bad_ioctl(fd, VQP_IOC_DESTROY_QP, &arg);
}

static int destroy_unknown(struct bad *b)
{
	return destroy(b->fd, 0xfffffff, 0);
}

static int destroy_twice(struct bad *b)
{
	if (destroy(b->fd, b->conn.qp->qp_num, 0))
		vqpt_die(errno, "the first DESTROY_QP");
	return destroy(b->fd, b->conn.qp->qp_num, 0);
}

static int destroy_foreign(struct bad *b)
{
	return destroy(b->fd, bad_stranger(b).qp->qp_num, 0);
}

static int destroy_reserved(struct bad *b)
{
	return destroy(b->fd, b->conn.qp->qp_num, 1);
}

static int query_unknown(struct bad *b)
{
	struct vqp_query_qp query = { .qp_num = 0xfffffff };

	return bad_ioctl(b->fd, VQP_IOC_QUERY_QP, &query);
}

static int destroy_cq_in_use(struct bad *b)
{
	return -vqp_destroy_cq(b->conn.send_cq);
}

/* ---- Bind, connect, accept ---- */

static int bind_to(struct bad *b, uint32_t qp_num, uint32_t port)
{
	struct vqp_bind arg = { .qp_num = qp_num, .port = port };

	return bad_ioctl(b->fd, VQP_IOC_BIND, &arg);
}

static int bind_unknown(struct bad *b)
{
	return bind_to(b, 0xfffffff, 1);
}

static int bind_twice(struct bad *b)
{
	if (bind_to(b, b->conn.qp->qp_num, 0))
		vqpt_die(errno, "the first BIND");
	return bind_to(b, b->conn.qp->qp_num, 0);
}

/* The port is free afterwards. */
static int bind_readonly(struct bad *b)
{
	struct vqp_bind *arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (arg == MAP_FAILED)
		vqpt_die(errno, "mmap");
	*arg = (struct vqp_bind) { .qp_num = b->conn.qp->qp_num, .port = 777 };
	if (mprotect(arg, 4096, PROT_READ))
		vqpt_die(errno, "mprotect");
	err = bad_ioctl(b->fd, VQP_IOC_BIND, arg);
	if (bind_to(b, b->conn.qp->qp_num, 777))
		vqpt_die(errno, "BIND afterwards");
	return err;
}

static int bind_taken(struct bad *b)
{
	struct vqpt_conn other = bad_stranger(b);
	int port = vqp_bind(other.qp, 0);

	if (port <= 0)
		vqpt_die(port, "the first BIND");
	return bind_to(b, b->conn.qp->qp_num, (uint32_t)port);
}

static int bind_port_huge(struct bad *b)
{
	return bind_to(b, b->conn.qp->qp_num, 65536);
}

static int connect_to(struct bad *b, uint32_t qp_num, const char *address, uint32_t port)
{
	struct vqp_connect arg = { .qp_num = qp_num, .port = port };

	vqp_parse_gid(address, (union ibv_gid *)arg.gid);
	return bad_ioctl(b->fd, VQP_IOC_CONNECT, &arg);
}

static int connect_unknown(struct bad *b)
{
	return connect_to(b, 0xfffffff, NOWHERE, 1);
}

static int connect_nobody(struct bad *b)
{
	return connect_to(b, b->conn.qp->qp_num, NOWHERE, 1);
}

static int connect_port_zero(struct bad *b)
{
	return connect_to(b, b->conn.qp->qp_num, NOWHERE, 0);
}

static int connect_port_huge(struct bad *b)
{
	return connect_to(b, b->conn.qp->qp_num, NOWHERE, 65536);
}

/* To oneself: an address there is. */
static int connect_self(struct bad *b)
{
	union ibv_gid gid;

	vqp_gid(b->conn.context, &gid);
	return -vqp_connect(b->conn.qp, &gid, 1);
}

static int connect_bound(struct bad *b)
{
	if (bind_to(b, b->conn.qp->qp_num, 0))
		vqpt_die(errno, "BIND");
	return connect_self(b);
}

static int connect_twice(struct bad *b)
{
	int err = connect_self(b);

	if (err)
		vqpt_die(err, "the first CONNECT");
	return connect_self(b);
}

static int bind_connected(struct bad *b)
{
	int err = connect_self(b);

	if (err)
		vqpt_die(err, "CONNECT");
	return bind_to(b, b->conn.qp->qp_num, 0);
}

static int accept_from(struct bad *b, uint32_t reserved)
{
	struct vqp_accept arg = { .qp_num = b->conn.qp->qp_num, .src_qp = 1, .reserved = reserved };

	vqp_parse_gid(NOWHERE, (union ibv_gid *)arg.src_gid);
	return bad_ioctl(b->fd, VQP_IOC_ACCEPT, &arg);
}

static int accept_unbound(struct bad *b)
{
	return accept_from(b, 0);
}

static int accept_nobody(struct bad *b)
{
	if (bind_to(b, b->conn.qp->qp_num, 0))
		vqpt_die(errno, "BIND");
	return accept_from(b, 0);
}

static int accept_reserved(struct bad *b)
{
	if (bind_to(b, b->conn.qp->qp_num, 0))
		vqpt_die(errno, "BIND");
	return accept_from(b, 1);
}

const struct bad_case bad_calls[] = {
	{ "mr-empty", BAD_CONTEXT, mr_empty },
	{ "mr-wrap", BAD_CONTEXT, mr_wrap },
	{ "mr-flags", BAD_CONTEXT, mr_flags },
	{ "mr-remote-write-alone", BAD_CONTEXT, mr_remote_write_alone },
	{ "mr-unmapped", BAD_CONTEXT, mr_unmapped },
	{ "mr-readonly-memory", BAD_CONTEXT, mr_readonly_memory },
	{ "mr-file-shared", BAD_CONTEXT, mr_file_shared },
	{ "mr-file-private", BAD_CONTEXT, mr_file_private },
	{ "mr-memfd-shared", BAD_CONTEXT, mr_memfd_shared },
	{ "mr-memlock", BAD_CONTEXT, mr_memlock },
	{ "mr-memlock-huge", BAD_CONTEXT, mr_memlock_huge },
	{ "mr-memlock-arena", BAD_CONTEXT, mr_memlock_arena },
	{ "dereg-key-rests", BAD_CONTEXT, dereg_key_rests },
	{ "dereg-unknown", BAD_CONTEXT, dereg_unknown },
	{ "dereg-twice", BAD_CONTEXT, dereg_twice },
	{ "dereg-foreign", BAD_CONTEXT, dereg_foreign },
	{ "dereg-reserved", BAD_CONTEXT, dereg_reserved },
	{ "cq-destroy-in-use", BAD_CONTEXT, destroy_cq_in_use },
	{ "qp-without-cq", BAD_CONTEXT, qp_without_cq },
	{ "qp-cq-is-a-file", BAD_CONTEXT, qp_cq_is_a_file },
	{ "qp-cq-is-the-context", BAD_CONTEXT, qp_cq_is_the_context },
	{ "qp-foreign-cq", BAD_CONTEXT, qp_foreign_cq },
	{ "qp-huge-queue", BAD_CONTEXT, qp_huge_queue },
	{ "qp-many-sges", BAD_CONTEXT, qp_many_sges },
	{ "qp-sges-beyond-16-bits", BAD_CONTEXT, qp_sges_beyond_16_bits },
	{ "qp-flags", BAD_CONTEXT, qp_flags },
	{ "destroy-unknown", BAD_CONTEXT, destroy_unknown },
	{ "destroy-twice", BAD_CONTEXT, destroy_twice },
	{ "destroy-foreign", BAD_CONTEXT, destroy_foreign },
	{ "destroy-reserved", BAD_CONTEXT, destroy_reserved },
	{ "query-unknown", BAD_CONTEXT, query_unknown },
	{ "bind-unknown", BAD_CONTEXT, bind_unknown },
	{ "bind-twice", BAD_CONTEXT, bind_twice },
	{ "bind-readonly", BAD_CONTEXT, bind_readonly },
	{ "bind-taken", BAD_CONTEXT, bind_taken },
	{ "bind-port-huge", BAD_CONTEXT, bind_port_huge },
	{ "bind-connected", BAD_CONTEXT, bind_connected },
	{ "connect-unknown", BAD_CONTEXT, connect_unknown },
	{ "connect-nobody", BAD_CONTEXT, connect_nobody },
	{ "connect-port-zero", BAD_CONTEXT, connect_port_zero },
	{ "connect-port-huge", BAD_CONTEXT, connect_port_huge },
	{ "connect-bound", BAD_CONTEXT, connect_bound },
	{ "connect-twice", BAD_CONTEXT, connect_twice },
	{ "accept-unbound", BAD_CONTEXT, accept_unbound },
	{ "accept-nobody", BAD_CONTEXT, accept_nobody },
	{ "accept-reserved", BAD_CONTEXT, accept_reserved },
	{ 0 }
};
