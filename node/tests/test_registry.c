/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/address.h"
#include "../vqpd/registry.h"

static unsigned int gone_count;

static void gone(const struct vqp_entry *entry, void *data)
{
	(void)entry, (void)data;
	gone_count++;
}

static void refresh(struct vqp_registry *registry, const char *text, bool fresh)
{
	json_t *list = unit_json(text);

	gone_count = 0;
	assert_int_equal(vqp_registry_refresh(registry, list, fresh, gone, NULL), 0);
	json_decref(list);
}

static struct vqp_entry *find(struct vqp_registry *registry, uint32_t tenant, const char *address)
{
	uint8_t gid[16];

	assert_int_equal(vqp_address_parse(address, gid), 0);
	return vqp_registry_find(registry, tenant, gid);
}

#define A	"{\"tenant\":1,\"gid\":\"10.1.0.2\",\"name\":\"a/eth0\",\"netns_ino\":100}"
#define B	"{\"tenant\":2,\"gid\":\"10.1.0.2\",\"name\":\"b/eth0\",\"netns_ino\":101}"

static void what_comes_is_due_everywhere(void **state)
{
	struct vqp_registry registry = { 0 };
	struct vqp_entry *entry;

	(void)state;
	refresh(&registry, "[" A "," B "]", true);
	assert_int_equal(registry.count, 2);
	entry = find(&registry, 1, "10.1.0.2");
	assert_string_equal(entry->name, "a/eth0");
	assert_int_equal(entry->netns_ino, 100);
	assert_int_equal(entry->due, UINT32_MAX);
	assert_int_equal(entry->fresh, UINT32_MAX);
	assert_string_equal(find(&registry, 2, "10.1.0.2")->name, "b/eth0");
	assert_null(find(&registry, 3, "10.1.0.2"));
	vqp_registry_exit(&registry);
}

static void what_was_there_before_is_not_fresh(void **state)
{
	struct vqp_registry registry = { 0 };

	(void)state;
	refresh(&registry, "[" A "]", false);
	assert_int_equal(find(&registry, 1, "10.1.0.2")->due, UINT32_MAX);
	assert_int_equal(find(&registry, 1, "10.1.0.2")->fresh, 0);
	vqp_registry_exit(&registry);
}

static void what_stays_is_left_alone(void **state)
{
	struct vqp_registry registry = { 0 };
	struct vqp_entry *entry;

	(void)state;
	refresh(&registry, "[" A "]", true);
	entry = find(&registry, 1, "10.1.0.2");
	entry->due = entry->fresh = 0;
	entry->held = 1;
	refresh(&registry, "[" A "]", true);
	assert_int_equal(gone_count, 0);
	assert_int_equal(entry->due, 0);
	assert_int_equal(entry->held, 1);
	vqp_registry_exit(&registry);
}

static void what_goes_is_told(void **state)
{
	struct vqp_registry registry = { 0 };

	(void)state;
	refresh(&registry, "[" A "," B "]", true);
	refresh(&registry, "[" B "]", true);
	assert_int_equal(gone_count, 1);
	assert_null(find(&registry, 1, "10.1.0.2"));
	refresh(&registry, "[]", true);
	assert_int_equal(gone_count, 1);
	assert_int_equal(registry.count, 0);
}

static void the_same_address_in_another_netns_is_new(void **state)
{
	struct vqp_registry registry = { 0 };
	struct vqp_entry *entry;

	(void)state;
	refresh(&registry, "[" A "]", true);
	entry = find(&registry, 1, "10.1.0.2");
	entry->due = entry->fresh = 0;
	refresh(&registry, "[{\"tenant\":1,\"gid\":\"10.1.0.2\",\"name\":\"c/eth0\",\"netns_ino\":200}]", true);
	assert_int_equal(entry->due, UINT32_MAX);
	assert_int_equal(entry->fresh, UINT32_MAX);
	assert_string_equal(entry->name, "c/eth0");
	vqp_registry_exit(&registry);
}

static void nonsense_is_noticed(void **state)
{
	struct vqp_registry registry = { 0 };
	json_t *list = unit_json("[{\"tenant\":1}]");

	(void)state;
	assert_int_equal(vqp_registry_refresh(&registry, list, true, gone, NULL), -EBADMSG);
	json_decref(list);
	vqp_registry_exit(&registry);
}

static void all_are_walked_once(void **state)
{
	struct vqp_registry registry = { 0 };
	uint8_t gid[16] = { 0 };
	unsigned int seen = 0;

	(void)state;
	for (uint32_t i = 1; i <= 5000; i++) {
		gid[14] = i >> 8;
		gid[15] = i;
		assert_non_null(vqp_registry_add(&registry, i, gid));
	}
	for (struct vqp_entry *e = vqp_registry_next(&registry, NULL); e; e = vqp_registry_next(&registry, e)) {
		assert_int_equal(e->held, 0);
		e->held = 1;
		seen++;
	}
	assert_int_equal(seen, 5000);
	vqp_registry_exit(&registry);
	assert_int_equal(registry.count, 0);
}

static void a_key_finds_its_entry(void **state)
{
	struct vqp_registry registry = { 0 };
	json_t *key;

	(void)state;
	refresh(&registry, "[" A "]", true);
	key = vqp_entry_key(find(&registry, 1, "10.1.0.2"));
	assert_ptr_equal(vqp_registry_find_key(&registry, key), find(&registry, 1, "10.1.0.2"));
	json_object_set_new(key, "tenant", json_integer(9));
	assert_null(vqp_registry_find_key(&registry, key));
	json_decref(key);
	vqp_registry_exit(&registry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_is_due_everywhere),
		cmocka_unit_test(what_was_there_before_is_not_fresh),
		cmocka_unit_test(what_stays_is_left_alone),
		cmocka_unit_test(what_goes_is_told),
		cmocka_unit_test(the_same_address_in_another_netns_is_new),
		cmocka_unit_test(nonsense_is_noticed),
		cmocka_unit_test(all_are_walked_once),
		cmocka_unit_test(a_key_finds_its_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
