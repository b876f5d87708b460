/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../ctl/ctl.h"
#include "../ctl/doctor.h"
#include "../ctl/engine.h"
#include "../../common/client.h"
#include "tree.h"

/* what is answered on the node */
static const char *vqpd_status, *vqpd_list, *meta_hello, *meta_list;

int ctl_ask_status(json_t **status, struct vqp_error *error)
{
	*status = NULL;
	return vqp_error_set(error, -EPERM, "no right: run as root");
}

json_t *ctl_versions(void)
{
	return json_pack("{s:s}", "vqp", "0.1.0");
}

static int answer(const char *text, json_t **reply, struct vqp_error *error)
{
	*reply = text ? unit_json(text) : NULL;
	return text ? 0 : vqp_error_set(error, -ECONNREFUSED, "nobody answers: start it");
}

int vqpd_call(const char *socket_path, const json_t *request, int netns_fd, json_t **reply, struct vqp_error *error)
{
	assert_null(socket_path);
	assert_int_equal(netns_fd, -1);
	return answer(strcmp(json_string_value(json_object_get(request, "op")), "list") ? vqpd_status : vqpd_list, reply, error);
}

int ctl_meta_ask(const char *server, const char *op, json_t **reply, struct vqp_error *error)
{
	assert_string_equal(server, "m1");
	return answer(strcmp(op, "list") ? meta_hello : meta_list, reply, error);
}

/* ---- The tree ---- */

static int set_up(void **state)
{
	vqpd_status = vqpd_list = meta_hello = meta_list = NULL;
	return make_tree(state);
}

static void put_program(const char *path)
{
	char full[PATH_MAX];

	put(path, "#!/bin/sh\n");
	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(chmod(full, 0755), 0);
}

/* Writes an engine's files as vqpctl configure does. */
static void configure(const char *engine)
{
	const struct ctl_site site = {
		.programs = { "/opt/vqp/vqp-runtime", "/opt/vqp/vqp-hook" },
		.config = ctl_engine_find(engine)->config,
		.real = "/usr/bin/runc",
	};
	char path[PATH_MAX];

	for (const struct ctl_engine_file *file = ctl_engine_find(engine)->files; file->edit; file++) {
		struct vqp_error error = { 0 };
		char *text;

		if (!ctl_engine_file_find(file, &site, path))
			continue;
		assert_int_equal(file->edit(&(struct ctl_edit){ .site = &site }, &text, &error), 0);
		put(path, text);
		free(text);
	}
}

/* ---- Findings ---- */

static void finds(void (*examine)(struct ctl_doctor *d), const char *id, const char *state, const char *seen)
{
	struct ctl_doctor d = { .root = root, .findings = json_array() };
	const json_t *finding;
	bool found = false;
	size_t i;

	examine(&d);
	json_array_foreach(d.findings, i, finding) {
		if (strcmp(json_string_value(json_object_get(finding, "id")), id))
			continue;
		found |= !strcmp(json_string_value(json_object_get(finding, "state")), state) &&
			 strstr(json_string_value(json_object_get(finding, "seen")), seen);
		/* whoever reads that something is wrong reads what to do */
		assert_int_equal(!json_object_get(finding, "remedy"),
				 !strcmp(json_string_value(json_object_get(finding, "state")), "ok"));
	}
	if (!found)
		fail_msg("no %s of %s with \"%s\" in %s", state, id, seen, json_dumps(d.findings, 0));
	json_decref(d.findings);
}

static void finds_no(void (*examine)(struct ctl_doctor *d), const char *state)
{
	struct ctl_doctor d = { .root = root, .findings = json_array() };
	const json_t *finding;
	size_t i;

	examine(&d);
	json_array_foreach(d.findings, i, finding)
		assert_string_not_equal(json_string_value(json_object_get(finding, "state")), state);
	json_decref(d.findings);
}

static void old_and_untried_kernels_are_named(void **state)
{
	(void)state;
	finds(ctl_doctor_kernel, "kernel.release", "unknown", "not known");
	put("/proc/sys/kernel/osrelease", "5.10.0-1-amd64\n");
	finds(ctl_doctor_kernel, "kernel.release", "fault", "5.10.0");
	put("/proc/sys/kernel/osrelease", "6.10.3\n");
	finds(ctl_doctor_kernel, "kernel.release", "warning", "6.10.3");
	put("/proc/sys/kernel/osrelease", "6.1.0-48-amd64\n");
	finds(ctl_doctor_kernel, "kernel.release", "ok", "6.1.0");
}

static void lockdown_matters_while_the_module_is_not_loaded(void **state)
{
	(void)state;
	finds(ctl_doctor_kernel, "kernel.lockdown", "ok", "");
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	finds(ctl_doctor_kernel, "kernel.lockdown", "fault", "[integrity]");
	put("/sys/module/vqp/srcversion", "A\n");
	finds(ctl_doctor_kernel, "kernel.lockdown", "ok", "loaded");
}

static void the_module_and_its_device(void **state)
{
	(void)state;
	finds(ctl_doctor_module, "module.loaded", "fault", "not loaded");
	put("/sys/module/vqp/srcversion", "A\n");
	finds(ctl_doctor_module, "module.loaded", "ok", "");
	finds(ctl_doctor_module, "module.device", "fault", "/dev/vqp");
	finds(ctl_doctor_module, "module.answers", "unknown", "no right");
	put("/dev/vqp", "");
	finds(ctl_doctor_module, "module.device", "ok", "/dev/vqp");
}

static void an_engine_s_programs_are_there(void **state)
{
	static const char *const names[] = { "docker", "containerd", "podman", "crio" };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		char id[32];

		snprintf(id, sizeof(id), "engine.%s", names[i]);
		put("/opt/vqp/vqp-runtime", NULL);
		finds(ctl_doctor_engines, id, "ok", "not configured");
		configure(names[i]);
		finds(ctl_doctor_engines, id, "fault", "/opt/vqp/vqp-");
		put_program("/opt/vqp/vqp-runtime");
		put_program("/opt/vqp/vqp-hook");
		finds(ctl_doctor_engines, id, "ok", "configured, with");
		remove_tree(NULL);
		assert_int_equal(mkdir(root, 0755), 0);
	}
}

static void an_engine_s_other_files_are_there(void **state)
{
	(void)state;
	put_program("/opt/vqp/vqp-runtime");
	put_program("/opt/vqp/vqp-hook");
	configure("docker");
	put("/etc/cdi/vqp.json", NULL);
	finds(ctl_doctor_engines, "engine.docker", "fault", "is not there");
}

static void programs_are_found_in_texts(void **state)
{
	char path[PATH_MAX];
	const char *rest = "{\"a\": \"/dev/vqp-hook\", \"b\": \"/bin/sh\", \"c\": [\"/x/vqp-hook\"], \"/y/vqp-runtime\"";

	(void)state;
	rest = ctl_doctor_next_program(rest, path);
	assert_non_null(rest);
	assert_string_equal(path, "/x/vqp-hook");
	rest = ctl_doctor_next_program(rest, path);
	assert_non_null(rest);
	assert_string_equal(path, "/y/vqp-runtime");
	assert_null(ctl_doctor_next_program(rest, path));
	assert_null(ctl_doctor_next_program("\"/", path));
}

static void the_list_that_an_engine_uses_has_the_plugin(void **state)
{
	(void)state;
	put("/etc/cni/net.d/20-b.conflist", "{\"plugins\": [{\"type\": \"bridge\"}]}");
	finds(ctl_doctor_lists, "cni.list", "ok", "needs none");
	configure("containerd");
	finds(ctl_doctor_lists, "cni.list", "fault", "containerd uses it");
	/* a file before it counts instead */
	put("/etc/cni/net.d/10-a.conflist", "{\"plugins\": [{\"type\": \"bridge\"}, {\"type\": \"vqp\"}]}");
	finds(ctl_doctor_lists, "cni.list", "ok", "needs none");
	finds(ctl_doctor_lists, "cni.list", "ok", "has the plugin");
	finds(ctl_doctor_lists, "cni.plugin", "fault", "no directory");
	put_program("/usr/lib/cni/vqp");
	finds(ctl_doctor_lists, "cni.plugin", "ok", "/usr/lib/cni/vqp");
	put("/etc/cni/net.d/00-x.conf", "{\"type\": \"bridge\"}");
	finds(ctl_doctor_lists, "cni.list", "fault", "containerd uses it");
	put("/etc/cni/net.d/00-x.conf", "{\"plugins\":");
	finds(ctl_doctor_lists, "cni.list", "fault", "no CNI network");
	/* and before files of any kind */
	put("/etc/cni/net.d/00-a.conflist", "{\"plugins\": [{\"type\": \"vqp\"}]}");
	finds(ctl_doctor_lists, "cni.list", "warning", "no CNI network");
}

static void the_policy_is_checked(void **state)
{
	(void)state;
	finds(ctl_doctor_policy, "policy.file", "fault", "no policy");
	put("/etc/vqp/policy.json", "{\"rules\": []}");
	finds(ctl_doctor_policy, "policy.file", "warning", "no rule");
	put("/etc/vqp/policy.json", "{\"rules\": [{\"subnet\": \"any\", \"tenant\": 7}]}");
	finds(ctl_doctor_policy, "policy.file", "ok", "right");
	put("/etc/vqp/policy.json", "{\"rules\": [{\"subnet\": \"any\", \"tennant\": 7}]}");
	finds(ctl_doctor_policy, "policy.file", "fault", "tennant");
}

static void the_file_that_was_the_policy_is_told(void **state)
{
	(void)state;
	put("/etc/vqp/runtime.json", "{\"tennant\": 7}");
	finds(ctl_doctor_policy, "policy.file", "fault", "tennant");
	put("/etc/vqp/runtime.json", "{\"tenant\": 7}");
	finds(ctl_doctor_policy, "policy.file", "warning", "read as a policy");
	finds(ctl_doctor_policy, "policy.file", "ok", "right");
	put("/etc/vqp/policy.json", "{\"rules\": [{\"subnet\": \"any\", \"tenant\": 7}]}");
	finds(ctl_doctor_policy, "policy.file", "warning", "take them out once this node runs it");
	/* what is vqp-runtime's is no policy */
	put("/etc/vqp/runtime.json", "{\"stage\": \"prestart\"}");
	finds(ctl_doctor_policy, "policy.file", "ok", "right");
	finds_no(ctl_doctor_policy, "warning");
}

static void link_driver(const char *driver)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/sys/class/net/data0/device/driver", root);
	unlink(full);
	assert_int_equal(symlink(driver, full), 0);
}

static void soft_roce_may_hang(void **state)
{
	(void)state;
	put("/proc/sys/kernel/osrelease", "7.3.0-1-amd64\n");
	put("/sys/class/infiniband/rxe0/parent", "data0\n");
	put("/sys/class/net/data0/device/features", "1100010100000001100\n");
	link_driver("../../bus/virtio/drivers/virtio_net");
	finds(ctl_doctor_rxe, "device.hang", "warning", "for ever");
	link_driver("../../bus/pci/drivers/e1000e");
	finds(ctl_doctor_rxe, "device.hang", "ok", "");
	link_driver("../../bus/virtio/drivers/virtio_net");
	put("/sys/class/net/data0/device/features", "1100010100000000100\n");
	finds(ctl_doctor_rxe, "device.hang", "ok", "");
	put("/sys/class/net/data0/device/features", "1100010100000001100\n");
	put("/proc/sys/kernel/osrelease", "6.12.0-1-amd64\n");
	finds(ctl_doctor_rxe, "device.hang", "ok", "");
}

static const char *shown;
static bool needed;

static void judge_shown(struct ctl_doctor *d)
{
	ctl_doctor_judge_unit(d, "vqpd", needed, shown);
}

static void unit_is(bool is_needed, const char *text, const char *state, const char *seen)
{
	shown = text;
	needed = is_needed;
	finds(judge_shown, "unit.vqpd", state, seen);
}

static void units_are_judged(void **state)
{
	(void)state;
	unit_is(true, "ActiveState=active\nSubState=running\nUnitFileState=enabled\n", "ok", "runs");
	unit_is(true, "ActiveState=active\nSubState=running\nUnitFileState=disabled\n", "warning", "next boot");
	unit_is(true, "ActiveState=inactive\nSubState=dead\nUnitFileState=enabled\n", "fault", "does not run");
	unit_is(true, "ActiveState=failed\nSubState=failed\nUnitFileState=enabled\n", "fault", "failed");
	unit_is(true, "ActiveState=activating\nSubState=auto-restart\nUnitFileState=enabled\n", "fault", "failed");
	unit_is(true, "ActiveState=inactive\nSubState=dead\nUnitFileState=\n", "warning", "not enabled");
	unit_is(false, "ActiveState=inactive\nSubState=dead\nUnitFileState=\n", "ok", "not used");
}

/* vqpctl may read another file than vqpd can. */
static void the_policy_that_vqpd_has_is_told(void **state)
{
	(void)state;
	vqpd_status = "{\"node\": null, \"meta\": [], \"policy\": {\"error\": \"rule 1 (line 3): tennant\"}}";
	finds(ctl_doctor_vqpd, "policy.vqpd", "fault", "rule 1 (line 3): tennant");
	vqpd_status = "{\"node\": null, \"meta\": [], \"policy\": {\"file\": \"/etc/vqp/policy.json\", \"rules\": 1}}";
	finds(ctl_doctor_vqpd, "policy.vqpd", "ok", "/etc/vqp/policy.json");
}

static void meta_servers_are_asked(void **state)
{
	(void)state;
	finds(ctl_doctor_vqpd, "vqpd.answers", "fault", "nobody answers");
	vqpd_status = "{\"node\": {\"node_gid\": \"::1:1\"}, \"meta\": []}";
	finds(ctl_doctor_vqpd, "vqpd.answers", "ok", "");
	finds(ctl_doctor_vqpd, "meta.named", "warning", "no meta server");
	vqpd_status = "{\"node\": {\"node_gid\": \"::1:1\"}, \"meta\": [{\"server\": \"m1\", \"up\": true}]}";
	finds(ctl_doctor_vqpd, "meta.answers", "fault", "nobody answers");
	meta_hello = "{\"buckets\": 1}";
	meta_list = "{\"entries\": [{}, {}, {}, {}, {}]}";
	finds(ctl_doctor_vqpd, "meta.answers", "ok", "");
	finds(ctl_doctor_vqpd, "meta.room", "ok", "5 addresses in a table for 7");
	meta_list = "{\"entries\": [{}, {}, {}, {}, {}, {}]}";
	finds(ctl_doctor_vqpd, "meta.room", "warning", "6 addresses");
	vqpd_status = "{\"node\": null, \"meta\": [{\"server\": \"m1\", \"up\": false, \"error\": \"refused\"}]}";
	finds(ctl_doctor_vqpd, "meta.answers", "fault", "refused");
}

static void addresses_are_this_node_s(void **state)
{
	(void)state;
	vqpd_status = "{\"node\": {\"node_gid\": \"::1:1\"}, \"meta\": [{\"server\": \"m1\", \"up\": true}]}";
	meta_hello = "{\"buckets\": 64}";
	meta_list = "{\"entries\": [{\"tenant\": 3, \"gid\": \"::2\", \"node_gid\": \"::1:1\"},"
		    "{\"tenant\": 3, \"gid\": \"::3\", \"node_gid\": \"::1:9\"}]}";
	vqpd_list = "{\"namespaces\": [{\"tenant\": 0, \"gid\": \"::1:1\"}, {\"tenant\": 3, \"gid\": \"::2\", \"published\": true}]}";
	finds(ctl_doctor_vqpd, "address.count", "ok", "1 addresses");
	vqpd_list = "{\"namespaces\": [{\"tenant\": 3, \"gid\": \"::3\", \"published\": true}]}";
	finds(ctl_doctor_vqpd, "address.taken", "fault", "::1:9");
	vqpd_list = "{\"namespaces\": [{\"tenant\": 4, \"gid\": \"::3\", \"published\": false}]}";
	finds(ctl_doctor_vqpd, "address.announced", "warning", "tenant 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(old_and_untried_kernels_are_named, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(lockdown_matters_while_the_module_is_not_loaded, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(the_module_and_its_device, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(an_engine_s_programs_are_there, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(an_engine_s_other_files_are_there, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(the_list_that_an_engine_uses_has_the_plugin, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(the_policy_is_checked, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(the_file_that_was_the_policy_is_told, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(the_policy_that_vqpd_has_is_told, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(meta_servers_are_asked, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(addresses_are_this_node_s, set_up, remove_tree),
		cmocka_unit_test(programs_are_found_in_texts),
		cmocka_unit_test_setup_teardown(soft_roce_may_hang, set_up, remove_tree),
		cmocka_unit_test_setup_teardown(units_are_judged, set_up, remove_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
