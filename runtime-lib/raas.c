// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vqp/raas.h>
#include "../common/protocol.h"
#include "internal.h"

#define WAYS	(VQP_RAAS_SEND | VQP_RAAS_WRITE | VQP_RAAS_READ)

static bool is_any(const union ibv_gid *gid)
{
	static const union ibv_gid any;

	return !memcmp(gid, &any, sizeof(any));
}

/* The socket address of a target; that of any address takes both families. */
static socklen_t address_of(const struct vqp_raas_target *target, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	struct in6_addr addr;

	memset(address, 0, sizeof(*address));
	memcpy(&addr, target->gid.raw, sizeof(addr));
	if (IN6_IS_ADDR_V4MAPPED(&addr)) {
		four->sin_family = AF_INET;
		four->sin_port = htons(target->port);
		memcpy(&four->sin_addr, &addr.s6_addr[12], sizeof(four->sin_addr));
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(target->port);
	six->sin6_addr = addr;
	return sizeof(*six);
}

/* A socket by which connections may be by vqp, or, if they need not, one of TCP; or -errno. */
static int open_socket(int family, int flags)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_VQP);

	if (fd < 0 && protocol_is_refused(errno) && !(flags & VQP_RAAS_RC))
		fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	return fd < 0 ? -errno : fd;
}

static int close_with(int fd, int err)
{
	close(fd);
	return err;
}

/* The kind of a connection. What is no socket of vqp's, or of an older module, passes for TCP's. */
static int kind_of(int fd, int *kind)
{
	socklen_t bytes = sizeof(*kind);

	if (!getsockopt(fd, IPPROTO_VQP, VQP_SO_KIND, kind, &bytes))
		return 0;
	if (errno != ENOPROTOOPT && errno != EOPNOTSUPP)
		return -errno;
	*kind = VQP_SOCK_TCP;
	return 0;
}

/* Has the connection what the flags demand? 0, or -errno. */
static int check_connection(int fd, int flags)
{
	int kind = VQP_SOCK_TCP, err;

	if (!flags)
		return 0;
	err = kind_of(fd, &kind);
	if (err)
		return err;
	if (kind == VQP_SOCK_FRESH || kind == VQP_SOCK_LISTENER)
		return -ENOTCONN;
	if (kind != VQP_SOCK_NEAR && kind != VQP_SOCK_FAR)
		return -EOPNOTSUPP;
	/* What goes to another node goes by SENDs. */
	return flags & WAYS && (kind != VQP_SOCK_FAR || !(flags & VQP_RAAS_SEND)) ? -EOPNOTSUPP : 0;
}

static int check_flags(int flags, int allowed)
{
	const int ways = flags & WAYS;

	return flags & ~allowed || ways & (ways - 1) ? -EINVAL : 0;
}

int vqp_raas_connect(const struct vqp_raas_target *target, int flags)
{
	struct sockaddr_storage address;
	socklen_t bytes = address_of(target, &address);
	int fd, err = check_flags(flags, VQP_RAAS_RC);

	if (err)
		return err;
	fd = open_socket(address.ss_family, flags);
	if (fd < 0)
		return fd;
	if (connect(fd, (struct sockaddr *)&address, bytes))
		return close_with(fd, -errno);
	err = check_connection(fd, flags);
	return err ? close_with(fd, err) : fd;
}

/* A socket for that target; where there is no IPv6, any address is any of IPv4. */
static int open_listener(const struct vqp_raas_target *target, int flags, struct sockaddr_storage *address,
			 socklen_t *bytes)
{
	const struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(target->port) };
	int fd;

	*bytes = address_of(target, address);
	fd = open_socket(address->ss_family, flags);
	if (fd != -EAFNOSUPPORT || !is_any(&target->gid))
		return fd;
	memcpy(address, &four, sizeof(four));
	*bytes = sizeof(four);
	return open_socket(AF_INET, flags);
}

int vqp_raas_listen(const struct vqp_raas_target *target, int flags)
{
	int fd, err = check_flags(flags, VQP_RAAS_RC);
	const int on = 1, off = 0;
	struct sockaddr_storage address;
	socklen_t bytes;

	if (err)
		return err;
	fd = open_listener(target, flags, &address, &bytes);
	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (address.ss_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off))) ||
	    bind(fd, (struct sockaddr *)&address, bytes) || listen(fd, INT32_MAX))
		return close_with(fd, -errno);
	return fd;
}

int vqp_raas_accept(int fd, int flags)
{
	int new, err = check_flags(flags, VQP_RAAS_RC);

	if (err)
		return err;
	do {
		new = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (new < 0)
			return -errno;
		err = check_connection(new, flags);
		if (err)
			close(new);
	} while (err == -EOPNOTSUPP);
	return err ? err : new;
}

/* May so many bytes be sent or received with these flags, of those that the call knows? 0, or -errno. */
static int check_transfer(int fd, int len, int flags, int known)
{
	int err = check_flags(flags, known);

	if (len < 0)
		err = -EINVAL;
	return err ? err : check_connection(fd, flags);
}

int vqp_raas_send(int fd, const void *buf, int len, int flags)
{
	int err = check_transfer(fd, len, flags, VQP_RAAS_RC | WAYS);
	ssize_t sent;

	if (err)
		return err;
	sent = send(fd, buf, (size_t)len, MSG_NOSIGNAL);
	return sent < 0 ? -errno : (int)sent;
}

int vqp_raas_recv(int fd, void *buf, int len, int flags)
{
	int err = check_transfer(fd, len, flags, VQP_RAAS_RC);
	ssize_t got;

	if (err)
		return err;
	got = recv(fd, buf, (size_t)len, 0);
	return got < 0 ? -errno : (int)got;
}

int vqp_raas_recv_zero_copy(int fd, void **buf_addr, int len, int flags)
{
	if (len > 0 && !vqp_is_registered(*buf_addr, (size_t)len))
		return -EFAULT;
	return vqp_raas_recv(fd, *buf_addr, len, flags);
}
