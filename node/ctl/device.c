/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "../../common/address.h"
#include "../../common/cleanup.h"
#include "device.h"

#define CLASS	"/sys/class/infiniband"

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

#define cleanup_list	__attribute__((cleanup(free_list)))

/* ---- Choosing ---- */

/* Has the kernel an RDMA device? `name` is that of a device that user space may not open, or "". */
static bool kernel_has_device(char name[NAME_MAX + 1])
{
	DIR *directory = opendir(CLASS);
	struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory))) {
		found = entry->d_name[0] != '.';
		snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return found;
}

static int fail_no_device(struct vqp_error *error)
{
	char name[NAME_MAX + 1];

	if (kernel_has_device(name))
		return vqp_error_set(error, -ENONET, "user space cannot use %s: modprobe ib_uverbs; and its provider is to be "
				"installed (ibverbs-providers)", name);
	return vqp_error_set(error, -ENONET, "no RDMA device: load its driver, or make a soft RoCE one: "
			"modprobe rdma_rxe; rdma link add rxe0 type rxe netdev NETDEV");
}

static bool is_roce(const struct ibv_device *device, const struct ibv_port_attr *port)
{
	return device->transport_type == IBV_TRANSPORT_IB && port->link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* Ranks a GID, as far as user space can tell whether it is of the host's own network namespace. */
static enum ctl_gid rate_entry(const struct ibv_gid_entry *entry)
{
	char netdev[IF_NAMESIZE];

	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2 || !if_indextoname(entry->ndev_ifindex, netdev))
		return CTL_GID_NONE;
	return ctl_gid_rate(entry->gid.raw);
}

/* Chooses the best GID, which is `wanted`, the module's, unless that is NULL. */
static void choose_gid(struct ctl_device *device, const uint8_t *wanted)
{
	size_t most = (size_t)device->port.gid_tbl_len * device->attr.phys_port_cnt;
	cleanup_free struct ibv_gid_entry *entries = calloc(most ? most : 1, sizeof(*entries));
	ssize_t n = entries ? ibv_query_gid_table(device->context, entries, most, 0) : 0;
	bool settled = false;

	for (ssize_t i = 0; i < n; i++) {
		enum ctl_gid rate = rate_entry(&entries[i]);

		if (entries[i].port_num != device->port_num || rate == CTL_GID_NONE)
			continue;
		device->gids++;
		if (settled)
			continue;
		settled = wanted && !memcmp(wanted, entries[i].gid.raw, sizeof(entries[i].gid.raw));
		if (settled || rate > device->gid_rate) {
			device->gid = entries[i];
			device->gid_rate = rate;
		}
	}
}

bool ctl_device_is_usable(const struct ctl_device *device)
{
	return device->port.state == IBV_PORT_ACTIVE && is_roce(device->context->device, &device->port) &&
	       device->gid_rate != CTL_GID_NONE;
}

/* Queries a port. 0 or -errno. */
static int look_at_port(struct ctl_device *device, uint8_t port, const uint8_t *wanted)
{
	device->port_num = port;
	device->gids = 0;
	device->gid_rate = CTL_GID_NONE;
	if (ibv_query_port(device->context, port, &device->port))
		return -errno;
	choose_gid(device, wanted);
	return 0;
}

static bool has_gid(const struct ctl_device *device, const uint8_t *wanted)
{
	return wanted && !memcmp(wanted, device->gid.gid.raw, sizeof(device->gid.gid.raw));
}

/*
 * Chooses the usable port with the module's GID, or else the first usable one, or else the first. 0
 * or -errno.
 */
static int choose_port(struct ctl_device *device, const uint8_t *wanted)
{
	struct ctl_device chosen = *device;

	for (uint8_t port = 1; port <= device->attr.phys_port_cnt; port++) {
		int ret = look_at_port(device, port, wanted);

		if (ret)
			return ret;
		if (port == 1 || (ctl_device_is_usable(device) &&
				  (!ctl_device_is_usable(&chosen) || has_gid(device, wanted))))
			chosen = *device;
	}
	*device = chosen;
	return 0;
}

/* Opens a device. 0 or -errno. */
static int open_one(struct ctl_device *device, struct ibv_device *ibv, const uint8_t *wanted)
{
	memset(device, 0, sizeof(*device));
	device->context = ibv_open_device(ibv);
	if (!device->context)
		return errno ? -errno : -ENODEV;
	if (ibv_query_device(device->context, &device->attr))
		return -errno;
	return choose_port(device, wanted);
}

static struct ibv_device *find(struct ibv_device **list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	return NULL;
}

static struct ibv_device *first_usable(struct ibv_device **list)
{
	for (unsigned int i = 0; list[i]; i++) {
		struct ctl_device device;
		bool usable = !open_one(&device, list[i], NULL) && ctl_device_is_usable(&device);

		ctl_device_close(&device);
		if (usable)
			return list[i];
	}
	return list[0];
}

int ctl_device_open(const char *wanted, struct ctl_device *device, struct vqp_error *error)
{
	cleanup_error struct vqp_error unknown = { 0 };
	json_auto_t *module = NULL;
	const char *parent, *text, *name;
	cleanup_list struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *ibv = NULL;
	uint8_t gid[16];
	int ret;

	memset(device, 0, sizeof(*device));
	if (!list || !*list)
		return fail_no_device(error);
	/* Without the module, or the right to ask it, any device will do. */
	ctl_ask_status(&module, &unknown);
	parent = json_string_value(json_object_get(module, "parent"));
	text = json_string_value(json_object_get(module, "node_gid"));
	name = wanted ? wanted : parent;
	if (name)
		ibv = find(list, name);
	if (!ibv && wanted)
		return vqp_error_set(error, -ENOENT, "no RDMA device %s: rdma link", wanted);
	if (!ibv)
		ibv = first_usable(list);
	name = ibv_get_device_name(ibv);
	ret = open_one(device, ibv, parent && text && !strcmp(name, parent) && !vqp_address_parse(text, gid) ? gid : NULL);
	if (ret)
		return vqp_error_set(error, ret, "cannot open %s: %s%s", name, strerror(-ret), ret == -EACCES ? ": run as root" : "");
	device->pd = ibv_alloc_pd(device->context);
	if (!device->pd)
		return vqp_error_set(error, -errno, "%s gives no protection domain: %s", name, strerror(errno));
	return 0;
}

void ctl_device_close(struct ctl_device *device)
{
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	if (device->context)
		ibv_close_device(device->context);
}

/* ---- Describing ---- */

/*
 * Finds the driver's name. Soft RoCE has no hardware with a driver, but names its network
 * interface.
 */
static void find_driver(const struct ibv_device *ibv, char *driver, size_t bytes)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name = ibv_get_device_name((struct ibv_device *)ibv);
	ssize_t n;

	snprintf(path, sizeof(path), CLASS "/%s/device/driver", name);
	n = readlink(path, target, sizeof(target) - 1);
	target[n < 0 ? 0 : n] = '\0';
	snprintf(driver, bytes, "%s", strrchr(target, '/') ? strrchr(target, '/') + 1 : "");
	snprintf(path, sizeof(path), CLASS "/%s/parent", name);
	if (!*driver && !access(path, F_OK))
		snprintf(driver, bytes, "rdma_rxe");
}

void ctl_device_describe(const struct ctl_device *device, struct ctl_finding *finding)
{
	struct ibv_device *ibv = device->context->device;
	struct rlimit memlock;

	snprintf(finding->device, sizeof(finding->device), "%s", ibv_get_device_name(ibv));
	find_driver(ibv, finding->driver, sizeof(finding->driver));
	snprintf(finding->firmware, sizeof(finding->firmware), "%s", device->attr.fw_ver);
	finding->port = device->port_num;
	finding->roce = is_roce(ibv, &device->port);
	finding->active = device->port.state == IBV_PORT_ACTIVE;
	finding->mtu = 128U << device->port.active_mtu;
	finding->gid = device->gid_rate;
	finding->gid_index = device->gid.gid_index;
	finding->gids = device->gids;
	finding->max_qp = device->attr.max_qp;
	finding->max_qp_wr = device->attr.max_qp_wr;
	finding->max_cqe = device->attr.max_cqe;
	finding->max_sge = device->attr.max_sge;
	finding->fast_registration = device->attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS;
	finding->atomics_claimed = device->attr.atomic_cap != IBV_ATOMIC_NONE;
	finding->memlock = UINT64_MAX;
	if (!getrlimit(RLIMIT_MEMLOCK, &memlock) && memlock.rlim_cur != RLIM_INFINITY)
		finding->memlock = memlock.rlim_cur;
}
