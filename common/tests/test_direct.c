// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What is asked of the kernel while vqpd is away, before a kernel that is an array. */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "../direct.h"
#include "../netlink.h"
#include "../netns.h"

#define INO	1000	/* of the network namespace of a descriptor */

static json_t *kernel;		/* its VQP namespaces */
static int dump_error, del_error;
static bool is_loaded;		/* the module, as /sys shows it */
static const char *newcomer;	/* its name: it has the first address when the list has been read */
static unsigned int opened;

int __wrap_stat(const char *path, struct stat *st);

int __wrap_stat(const char *path, struct stat *st)
{
	(void)st;
	assert_string_equal(path, "/sys/module/vqp");
	errno = ENOENT;
	return is_loaded ? 0 : -1;
}

int vqp_netlink_open(struct vqp_netlink *netlink)
{
	*netlink = (struct vqp_netlink){ .fd = -1 };
	opened++;
	return 0;
}

void vqp_netlink_close(struct vqp_netlink *netlink)
{
	(void)netlink;
	opened--;
}

const char *vqp_netlink_error(const struct vqp_netlink *netlink)
{
	(void)netlink;
	return "the kernel's reason";
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	(void)netlink;
	assert_int_equal(cmd, VQP_CMD_NS_GET);
	*list = dump_error ? NULL : json_deep_copy(kernel);
	if (newcomer)
		json_object_set_new(json_array_get(kernel, 1), "name", json_string(newcomer));
	return dump_error;
}

int vqp_netlink_delete(struct vqp_netlink *netlink, const json_t *item)
{
	(void)netlink;
	for (size_t i = 0; !del_error && i < json_array_size(kernel); i++)
		if (json_equal(json_array_get(kernel, i), item))
			return json_array_remove(kernel, i);
	return del_error ? del_error : -ENOENT;
}

uint32_t vqp_netns_inode(int fd)
{
	(void)fd;
	return INO;
}

static int set_up(void **state)
{
	(void)state;
	dump_error = del_error = 0;
	is_loaded = false;
	newcomer = NULL;
	kernel = json_loads("[{\"tenant\":0,\"gid\":\"fd00::1\",\"name\":\"\",\"netns_ino\":1},"
			    "{\"tenant\":1,\"gid\":\"10.1.0.1\",\"name\":\"c1/eth0/net\",\"netns_ino\":1000},"
			    "{\"tenant\":1,\"gid\":\"10.1.0.2\",\"name\":\"c1/eth0/net\",\"netns_ino\":1001},"
			    "{\"tenant\":1,\"gid\":\"10.1.0.3\",\"name\":\"c1/net1/net\",\"netns_ino\":1000},"
			    "{\"tenant\":1,\"gid\":\"10.1.0.4\",\"name\":\"c1/eth0/other\",\"netns_ino\":1000},"
			    "{\"tenant\":2,\"gid\":\"10.1.0.1\",\"name\":\"oci:c1/all\",\"netns_ino\":1002},"
			    "{\"tenant\":2,\"gid\":\"10.1.0.2\",\"name\":\"an administrator's\",\"netns_ino\":1000}]", 0, NULL);
	return !kernel;
}

static int tear_down(void **state)
{
	(void)state;
	json_decref(kernel);
	return opened != 0;
}

/* Deletes an attachment's, and checks how many of the kernel's are gone then. */
static void assert_deletes(size_t count, const char *id, const char *ifname, const char *network, int netns_fd)
{
	cleanup_error struct vqp_error error = { 0 };
	const size_t before = json_array_size(kernel);

	assert_int_equal(vqp_direct_del(id, ifname, network, netns_fd, &error), 0);
	assert_int_equal(before - json_array_size(kernel), count);
}

static void del_takes_the_attachments_in_the_network_namespace(void **state)
{
	(void)state;
	assert_deletes(1, "c1", "eth0", "net", 7);
	unit_assert_string(json_array_get(kernel, 1), "gid", "10.1.0.2");
	assert_deletes(0, "c1", "eth0", "net", 7);
}

static void del_leaves_what_has_come_to_the_address_since(void **state)
{
	(void)state;
	newcomer = "c2/eth0/net";
	assert_deletes(0, "c1", "eth0", "net", 7);
}

static void del_without_a_network_namespace_takes_it_wherever_it_is(void **state)
{
	(void)state;
	assert_deletes(2, "c1", "eth0", "net", -1);
	assert_deletes(1, "oci:c1", "all", NULL, -1);
	assert_deletes(0, "oci:c1", "all", NULL, -1);
}

static void del_takes_nothing_by_a_name_that_vqpd_does_not_give(void **state)
{
	(void)state;
	assert_deletes(0, "oci:c1/all", "all", NULL, -1);
	assert_deletes(0, "c1", "eth0/net", NULL, -1);
	assert_deletes(0, "c2", "eth0", "net", -1);
}

static void without_the_module_there_is_nothing(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *list;

	(void)state;
	dump_error = -ENOPKG;
	assert_deletes(0, "c1", "eth0", "net", -1);
	assert_int_equal(vqp_direct_list(&list, &error), 0);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

/* Its family is not there, and it is. */
static void a_module_that_answers_elsewhere_is_told(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *list;

	(void)state;
	dump_error = -ENOPKG;
	is_loaded = true;
	assert_int_equal(vqp_direct_del("c1", "eth0", "net", -1, &error), -ENONET);
	assert_int_equal(vqp_direct_list(&list, &error), -ENONET);
	assert_non_null(strstr(vqp_error_text(&error), "start vqpd"));
}

static void what_another_deletes_meanwhile_is_no_failure(void **state)
{
	(void)state;
	del_error = -ENOENT;
	assert_deletes(0, "c1", "eth0", "net", -1);
}

static void the_kernels_failures_are_told(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *list;

	(void)state;
	del_error = -EPERM;
	assert_int_equal(vqp_direct_del("c1", "eth0", "net", -1, &error), -EPERM);
	assert_non_null(strstr(vqp_error_text(&error), "the kernel's reason"));
	dump_error = -ENOBUFS;
	assert_int_equal(vqp_direct_del("c1", "eth0", "net", -1, &error), -ENOBUFS);
	assert_int_equal(vqp_direct_list(&list, &error), -ENOBUFS);
}

static void the_list_names_attachments(void **state)
{
	cleanup_error struct vqp_error error = { 0 };
	json_t *list;

	(void)state;
	assert_int_equal(vqp_direct_list(&list, &error), 0);
	assert_int_equal(json_array_size(list), 7);
	unit_assert_string(json_array_get(list, 3), "id", "c1");
	unit_assert_string(json_array_get(list, 3), "ifname", "net1");
	unit_assert_string(json_array_get(list, 3), "network", "net");
	assert_null(json_object_get(json_array_get(list, 6), "id"));
	json_decref(list);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(del_takes_the_attachments_in_the_network_namespace),
		TEST(del_leaves_what_has_come_to_the_address_since),
		TEST(del_without_a_network_namespace_takes_it_wherever_it_is),
		TEST(del_takes_nothing_by_a_name_that_vqpd_does_not_give),
		TEST(without_the_module_there_is_nothing),
		TEST(a_module_that_answers_elsewhere_is_told),
		TEST(what_another_deletes_meanwhile_is_no_failure),
		TEST(the_kernels_failures_are_told),
		TEST(the_list_names_attachments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
