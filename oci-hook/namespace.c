// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "../common/error.h"
#include "../common/netns.h"
#include "namespace.h"

int vqp_namespace_open(pid_t pid, struct vqp_error *error)
{
	int fd;

	if (!pid)
		return vqp_error_set(error, -EINVAL, "the container's state has no \"pid\"");
	fd = vqp_netns_open_process(pid);
	if (fd == -ESRCH)
		return vqp_error_set(error, fd, "there is no process %d, which the container's state names, or /proc "
				     "is that of another PID namespace and does not show it", pid);
	if (fd < 0)
		return vqp_error_set(error, fd, "cannot open the network namespace of process %d: %s", pid,
				     strerror(-fd));
	return fd;
}

int vqp_namespace_is_host(int netns_fd, struct vqp_error *error)
{
	int ret = vqp_netns_is_own(netns_fd);

	return ret < 0 ? vqp_error_set(error, ret, "cannot compare the container's network namespace with the host's: %s",
				       strerror(-ret)) : ret;
}

static int has_interface(const void *name)
{
	return if_nametoindex(name) > 0;
}

int vqp_namespace_has_interface(int netns_fd, const char *name, struct vqp_error *error)
{
	int ret = vqp_netns_visit(netns_fd, has_interface, name);

	return ret < 0 ? vqp_error_set(error, ret, "cannot look for %s in the container's network namespace: %s", name,
				       strerror(-ret)) : ret;
}

int vqp_namespace_enter(int netns_fd, struct vqp_error *error)
{
	if (setns(netns_fd, CLONE_NEWNET))
		return vqp_error_set(error, -errno, "cannot enter the container's network namespace: %s", strerror(errno));
	return 0;
}

int vqp_namespace_query(struct vqp_namespace *found, const char *address, struct vqp_error *error)
{
	cleanup_close int fd = open(VQP_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	struct vqp_query query = { 0 };
	struct vqp_attach attach = { 0 };
	int ret = -1;

	if (fd < 0)
		return vqp_error_set(error, -errno, "cannot open " VQP_DEVICE_PATH ": %s: is the vqp module loaded?",
				     strerror(errno));
	if (*address && !vqp_address_parse(address, attach.gid))
		ret = ioctl(fd, VQP_IOC_ATTACH, &attach);
	/* If no VQP namespace has the address, the oldest one is reported. */
	if (ret) {
		attach = (struct vqp_attach){ 0 };
		ret = ioctl(fd, VQP_IOC_ATTACH, &attach);
	}
	if (ret || ioctl(fd, VQP_IOC_QUERY, &query))
		return vqp_error_set(error, -errno, "cannot ask " VQP_DEVICE_PATH " for the VQP namespace: %s",
				     strerror(errno));
	found->tenant = query.tenant;
	memcpy(found->gid, query.gid, sizeof(found->gid));
	return 0;
}

/* The permanent IPv6 addresses of a network namespace, each as one of an interface. */
struct permanent {
	struct permanent_address {
		char interface[IFNAMSIZ];
		uint8_t gid[VQP_GID_BYTES];
	} *addresses;
	size_t count;
};

/* Parses the 32 digits of an address. */
static bool parse_digits(const char *digits, uint8_t gid[VQP_GID_BYTES])
{
	for (size_t i = 0; i < VQP_GID_BYTES; i++)
		if (sscanf(digits + 2 * i, "%2hhx", &gid[i]) != 1)
			return false;
	return true;
}

/* Adds what a line of if_inet6 says if it is of a permanent address. 0 or a negative errno value. */
static int add_permanent(struct permanent *permanent, const char *line)
{
	struct permanent_address address = { 0 }, *more;
	char digits[2 * VQP_GID_BYTES + 1];
	unsigned int flags;

	if (sscanf(line, "%32[0-9a-f] %*x %*x %*x %x %15s", digits, &flags, address.interface) != 3 ||
	    strlen(digits) != 2 * VQP_GID_BYTES || !parse_digits(digits, address.gid))
		return -EBADMSG;
	if (!(flags & IFA_F_PERMANENT))
		return 0;
	more = reallocarray(permanent->addresses, permanent->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[permanent->count++] = address;
	permanent->addresses = more;
	return 0;
}

/* Reads those of this thread's network namespace. 0 or a negative errno value; the caller frees them. */
static int read_permanent(struct permanent *permanent)
{
	FILE *file = fopen("/proc/thread-self/net/if_inet6", "re");
	char line[128];
	int ret = 0;

	if (!file)	/* A kernel without IPv6 has no such file. */
		return errno == ENOENT ? 0 : -errno;
	while (!ret && fgets(line, sizeof(line), file))
		ret = add_permanent(permanent, line);
	if (!ret && ferror(file))
		ret = -EIO;
	fclose(file);
	return ret;
}

static bool is_permanent(const struct permanent *permanent, const char *interface, const uint8_t gid[VQP_GID_BYTES])
{
	for (size_t i = 0; i < permanent->count; i++)
		if (!strcmp(permanent->addresses[i].interface, interface) &&
		    !memcmp(permanent->addresses[i].gid, gid, VQP_GID_BYTES))
			return true;
	return false;
}

/* Returns 1 and the GID if `address` is a global unicast address, or 0. */
static int global_gid(const struct sockaddr *address, uint8_t gid[VQP_GID_BYTES])
{
	struct in6_addr in6;

	if (vqp_address_of(address, gid))
		return 0;
	/* 127.0.0.0/8 is loopback, and 169.254.0.0/16 link-local. */
	if (address->sa_family == AF_INET)
		return gid[12] != 127 && !(gid[12] == 169 && gid[13] == 254);
	memcpy(&in6, gid, sizeof(in6));
	return !IN6_IS_ADDR_LOOPBACK(&in6) && !IN6_IS_ADDR_LINKLOCAL(&in6);
}

int vqp_namespace_gids(uint8_t (*gids)[VQP_GID_BYTES], size_t max, size_t *count, struct vqp_error *error)
{
	struct permanent permanent = { 0 };
	struct ifaddrs *list;
	int ret = read_permanent(&permanent);

	*count = 0;
	if (!ret && getifaddrs(&list))
		ret = -errno;
	if (ret) {
		free(permanent.addresses);
		return vqp_error_set(error, ret, "cannot list the container's addresses: %s", strerror(-ret));
	}
	for (const struct ifaddrs *entry = list; entry && *count < max; entry = entry->ifa_next)
		if (entry->ifa_addr && !(entry->ifa_flags & IFF_LOOPBACK) && entry->ifa_flags & IFF_UP &&
		    global_gid(entry->ifa_addr, gids[*count]) &&
		    (entry->ifa_addr->sa_family == AF_INET || is_permanent(&permanent, entry->ifa_name, gids[*count])))
			++*count;
	freeifaddrs(list);
	free(permanent.addresses);
	return 0;
}

json_t *vqp_namespace_say_gids(const uint8_t (*gids)[VQP_GID_BYTES], size_t count)
{
	json_t *list = json_array();
	char text[VQP_ADDRESS_TEXT];

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, json_string(vqp_address_format(gids[i], text)))) {
			json_decref(list);
			return NULL;
		}
	return list;
}
