// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* VQPs of another process: inherited by fork, or received over a socket; and waiting in epoll. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vqpt.h"

#define SHARE_TEXT "from somebody else"

static void check_text(const void *received, uint32_t bytes)
{
	if (bytes != sizeof(SHARE_TEXT) || memcmp(received, SHARE_TEXT, sizeof(SHARE_TEXT)))
		vqpt_wrong("the echo differs: %u bytes", bytes);
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		vqpt_die(errno, "fork");
	return pid;
}

static void wait_for(pid_t pid, const char *who)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		vqpt_die(errno, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		vqpt_die(0, "the %s failed with status %#x", who, status);
}

/* The grandchild: its parent, which made everything, is gone when it sends. */
static void fork_heir(struct vqpt_conn *conn, int parent_alive, int report)
{
	struct ibv_wc wc;
	char byte;

	if (read(parent_alive, &byte, 1))
		vqpt_die(0, "the parent is still there");
	vqpt_conn_send_small(conn->qp, SHARE_TEXT, sizeof(SHARE_TEXT));
	wc = vqpt_conn_wait(conn, conn->recv_cq);
	check_text(conn->memory, wc.byte_len);
	if (write(report, "", 1) != 1)
		vqpt_die(errno, "write");
}

int vqpt_share_fork(const struct vqpt_options *options, char **args)
{
	struct vqpt_options o = *options;
	struct vqpt_conn conn;
	int alive[2], report[2];
	char byte;
	pid_t pid;

	o.arena = true;		/* shared with the child; ordinary memory would be copied */
	if (pipe(alive) || pipe(report))
		vqpt_die(errno, "pipe");
	pid = fork_or_die();
	if (!pid) {
		conn = vqpt_conn_open(&o, 4096, IBV_ACCESS_LOCAL_WRITE);
		vqpt_conn_post_recv(conn.qp, 0, conn.memory, 4096, conn.mr->lkey);
		vqpt_conn_to(&conn, args[0], args[1]);
		if (!fork_or_die()) {
			close(alive[1]);
			fork_heir(&conn, alive[0], report[1]);
		}
		_exit(0);
	}
	close(alive[1]);
	close(report[1]);
	wait_for(pid, "parent of the heir");
	if (read(report[0], &byte, 1) != 1)
		vqpt_die(0, "the heir reported nothing");
	printf("a child used its late parent's VQP\n");
	return 0;
}

/* What the receiver of the descriptors must know besides. */
struct scm_note {
	uint64_t qp_num;
	uint64_t ring_offset, ring_bytes;
};

static void scm_send(int sock, const struct scm_note *note, const int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)note, sizeof(*note) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, 2 * sizeof(int));
	if (sendmsg(sock, &msg, 0) != sizeof(*note))
		vqpt_die(errno, "sendmsg");
}

static void scm_receive(int sock, struct scm_note *note, int fds[2])
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { note, sizeof(*note) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != sizeof(*note) || !CMSG_FIRSTHDR(&msg))
		vqpt_die(errno, "recvmsg");
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), 2 * sizeof(int));
}

/* Send on a VQP this process knows by descriptor and number only. */
static void scm_post(int context_fd, uint32_t qp_num)
{
	struct {
		struct vqp_send_wr wr;
		char text[(sizeof(SHARE_TEXT) + 7) & ~7UL];
	} request = {
		.wr = { .opcode = VQP_WR_SEND, .send_flags = VQP_SEND_INLINE, .inline_bytes = sizeof(SHARE_TEXT) },
		.text = SHARE_TEXT,
	};
	struct vqp_post post = {
		.qp_num = qp_num,
		.wr_count = 1,
		.wr_bytes = sizeof(request.wr),
		.sge_bytes = sizeof(struct vqp_sge),
		.wrs = (uintptr_t)&request,
		.wrs_bytes = sizeof(request),
	};

	if (ioctl(context_fd, VQP_IOC_POST_SEND, &post))
		vqpt_die(errno, "POST_SEND");
}

static void scm_heir(int sock, int timeout_ms)
{
	struct pollfd pfd = { .events = POLLIN };
	const struct vqp_cq_ring *ring;
	const struct vqp_cqe *cqe;
	struct scm_note note;
	int fds[2];
	char byte;

	scm_receive(sock, &note, fds);
	if (read(sock, &byte, 1))
		vqpt_die(0, "the sender of the descriptors is still there");
	scm_post(fds[0], (uint32_t)note.qp_num);
	pfd.fd = fds[1];
	if (poll(&pfd, 1, timeout_ms) != 1 || !(pfd.revents & POLLIN))
		vqpt_die(ETIMEDOUT, "no completion");
	ring = mmap(NULL, note.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], (off_t)note.ring_offset);
	if (ring == MAP_FAILED)
		vqpt_die(errno, "mmap of the ring");
	cqe = (const struct vqp_cqe *)((const char *)ring + VQP_CQ_CQE_OFFSET);
	if (cqe->status != VQP_WC_SUCCESS || cqe->byte_len != sizeof(SHARE_TEXT) || cqe->qp_num != note.qp_num)
		vqpt_die(0, "status %u, %u bytes, VQP %u", cqe->status, cqe->byte_len, cqe->qp_num);
}

/* Give everything to the process at the other end, and be gone. */
static void scm_giver(const struct vqpt_options *o, char **args, int sock)
{
	struct vqpt_conn conn = vqpt_conn_open(o, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct vqp_create_cq cq = { .cqe = 4 };
	struct vqp_create_qp qp = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 };
	struct vqp_connect connect = { .port = (uint32_t)vqpt_number(args[1], UINT16_MAX) };
	struct { struct vqp_recv_wr wr; struct vqp_sge sge; } request = {
		.wr = { .num_sge = 1 },
		.sge = { .addr = (uintptr_t)conn.memory, .length = 4096, .lkey = conn.mr->lkey },
	};
	struct vqp_post post = {
		.wr_count = 1,
		.wr_bytes = sizeof(request.wr),
		.sge_bytes = sizeof(request.sge),
		.wrs = (uintptr_t)&request,
		.wrs_bytes = sizeof(request),
	};
	int fd = conn.context->cmd_fd;
	struct scm_note note;

	vqp_parse_gid(args[0], (union ibv_gid *)connect.gid);
	if (ioctl(fd, VQP_IOC_CREATE_CQ, &cq))
		vqpt_die(errno, "CREATE_CQ");
	qp.send_cq_fd = qp.recv_cq_fd = cq.fd;
	if (ioctl(fd, VQP_IOC_CREATE_QP, &qp))
		vqpt_die(errno, "CREATE_QP");
	connect.qp_num = post.qp_num = qp.qp_num;
	if (ioctl(fd, VQP_IOC_CONNECT, &connect))
		vqpt_die(errno, "CONNECT");
	if (ioctl(fd, VQP_IOC_POST_RECV, &post))
		vqpt_die(errno, "POST_RECV");
	note = (struct scm_note) {
		.qp_num = qp.qp_num, .ring_offset = cq.ring_offset, .ring_bytes = cq.ring_bytes,
	};
	scm_send(sock, &note, (int[2]) { fd, cq.fd });
}

int vqpt_share_scm(const struct vqpt_options *o, char **args)
{
	int socks[2];
	pid_t giver, heir;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks))
		vqpt_die(errno, "socketpair");
	giver = fork_or_die();
	if (!giver) {
		close(socks[1]);
		scm_giver(o, args, socks[0]);
		_exit(0);
	}
	close(socks[0]);
	heir = fork_or_die();
	if (!heir) {
		scm_heir(socks[1], o->timeout_ms);
		_exit(0);
	}
	wait_for(giver, "giver");
	wait_for(heir, "heir");
	printf("a process used a VQP it was handed\n");
	return 0;
}

int vqpt_share_epoll(const struct vqpt_options *o, char **args)
{
	struct vqpt_conn conn = vqpt_conn_open(o, 4096, IBV_ACCESS_LOCAL_WRITE);
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	vqpt_conn_post_recv(conn.qp, 0, conn.memory, 4096, conn.mr->lkey);
	vqpt_conn_to(&conn, args[0], args[1]);
	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, vqp_cq_fd(conn.recv_cq), &event))
		vqpt_die(errno, "epoll");
	if (epoll_wait(ep, &event, 1, 0))
		vqpt_die(0, "an empty CQ is readable");
	vqpt_conn_send_small(conn.qp, SHARE_TEXT, sizeof(SHARE_TEXT));
	if (epoll_wait(ep, &event, 1, o->timeout_ms) != 1 || event.events != EPOLLIN)
		vqpt_die(0, "epoll_wait was not woken by the echo");
	if (epoll_wait(ep, &event, 1, 0) != 1)
		vqpt_die(0, "a CQ with a completion is not readable any more");
	check_text(conn.memory, vqpt_conn_wait(&conn, conn.recv_cq).byte_len);
	if (epoll_wait(ep, &event, 1, 0))
		vqpt_die(0, "a CQ that was emptied is readable");
	close(ep);
	vqpt_conn_close(&conn);
	printf("woken\n");
	return 0;
}
