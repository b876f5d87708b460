// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "direct.h"
#include "name.h"
#include "netlink.h"
#include "netns.h"

static int fail(struct vqp_netlink *netlink, int ret, struct vqp_error *error)
{
	return vqp_error_set(error, ret, "the kernel module: %s", vqp_netlink_error(netlink));
}

/* Other network namespaces than the host's do not see the module's family. */
static bool is_module_loaded(void)
{
	struct stat st;

	return !stat("/sys/module/vqp", &st);
}

/* Lists the VQP namespaces. Without the module there are none. */
static int list_namespaces(struct vqp_netlink *netlink, json_t **list, struct vqp_error *error)
{
	int ret = vqp_netlink_dump(netlink, VQP_CMD_NS_GET, list);

	if (ret != -ENOPKG)
		return ret ? fail(netlink, ret, error) : 0;
	if (is_module_loaded())
		return vqp_error_set(error, -ENONET, "the kernel module answers in the host's network namespace alone: "
				     "start vqpd there");
	*list = json_array();
	return 0;
}

static int open_netlink(struct vqp_netlink *netlink, struct vqp_error *error)
{
	int ret = vqp_netlink_open(netlink);

	return ret ? vqp_error_set(error, ret, "cannot open a netlink socket: %s", strerror(-ret)) : 0;
}

/* Deletes a VQP namespace of the list, unless another has done so since. */
static int delete(struct vqp_netlink *netlink, const json_t *item, struct vqp_error *error)
{
	int ret = vqp_netlink_delete(netlink, item);

	return ret && ret != -ENOENT && ret != -ENOPKG ? fail(netlink, ret, error) : 0;
}

/* Is the item a VQP namespace of the attachment, and in that network namespace unless `inode` is 0? */
static bool is_meant(const json_t *item, const char *name, uint32_t inode)
{
	const char *found = json_string_value(json_object_get(item, "name"));

	return found && vqp_name_same(found, name) && json_integer_value(json_object_get(item, "tenant")) &&
	       (!inode || json_integer_value(json_object_get(item, "netns_ino")) == inode);
}

static int delete_all(struct vqp_netlink *netlink, const char *name, uint32_t inode, struct vqp_error *error)
{
	json_auto_t *list = NULL;
	const json_t *item;
	size_t i;
	int ret = list_namespaces(netlink, &list, error);

	json_array_foreach(list, i, item)
		if (!ret && is_meant(item, name, inode))
			ret = delete(netlink, item, error);
	return ret;
}

int vqp_direct_del(const char *id, const char *ifname, const char *network, int netns_fd, struct vqp_error *error)
{
	const uint32_t inode = netns_fd < 0 ? 0 : vqp_netns_inode(netns_fd);
	struct vqp_netlink netlink;
	char name[VQP_NAME_MAX];
	int ret;

	/* vqpd refuses to add such names, so that nothing has one. */
	if (strchr(id, '/') || strchr(ifname, '/') || (network && strchr(network, '/')) ||
	    !vqp_name_write(name, id, ifname, network))
		return 0;
	if (netns_fd >= 0 && !inode)
		return vqp_error_set(error, -EIO, "cannot tell which network namespace this is");
	ret = open_netlink(&netlink, error);
	if (ret)
		return ret;
	ret = delete_all(&netlink, name, inode, error);
	vqp_netlink_close(&netlink);
	return ret;
}

int vqp_direct_list(json_t **list, struct vqp_error *error)
{
	struct vqp_netlink netlink;
	json_t *item;
	size_t i;
	int ret = open_netlink(&netlink, error);

	if (ret)
		return ret;
	ret = list_namespaces(&netlink, list, error);
	vqp_netlink_close(&netlink);
	if (ret)
		return ret;
	json_array_foreach(*list, i, item)
		vqp_name_tell(item);
	return 0;
}
