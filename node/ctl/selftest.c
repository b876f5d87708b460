/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The command vqpctl selftest: tries whether vqp's assumptions hold for the RDMA device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../common/address.h"
#include "../../common/version.h"
#include "device.h"
#include "file.h"
#include "trial.h"
#include "verdict.h"


/* All waits have a time limit, but not those inside a driver. */
#define ALARM_SECONDS	120
#define ALARM_TEXT	"vqpctl: the device's driver does not return: dmesg\n"

static void alarmed(int signal)
{
	(void)signal;
	if (write(STDERR_FILENO, ALARM_TEXT, sizeof(ALARM_TEXT) - 1) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

static bool links_are_off(void)
{
	char text[16];

	ctl_file_read_line("/sys/module/vqp/parameters/rc_max", text, sizeof(text));
	return !strcmp(text, "0");
}

/* ---- What it was tried with ---- */

/* Finds the version of libibverbs, with which the name of its file ends. */
static void find_libibverbs(char *version, size_t bytes)
{
	char path[PATH_MAX];
	const char *found;
	Dl_info info;

	snprintf(version, bytes, "unknown");
	if (!dladdr((void *)ibv_get_device_list, &info) || !realpath(info.dli_fname, path))
		return;
	found = strstr(path, ".so.");
	if (found)
		snprintf(version, bytes, "%s", found + strlen(".so."));
}

json_t *ctl_versions(void)
{
	char libibverbs[32], module[64];
	struct utsname kernel;

	find_libibverbs(libibverbs, sizeof(libibverbs));
	ctl_file_read_line("/sys/module/vqp/srcversion", module, sizeof(module));
	if (uname(&kernel))
		strcpy(kernel.release, "unknown");
	return json_pack("{s:s, s:s*, s:s, s:s, s:s}", "vqp", vqp_version, "module", *module ? module : NULL,
			 "kernel", kernel.release, "machine", kernel.machine, "libibverbs", libibverbs);
}

/*
 * Returns a number, which is signed in JSON: some devices report 2^64 - 1 of what they do not
 * limit.
 */
static json_t *number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *attributes(const struct ctl_device *device)
{
	const struct ibv_device_attr *attr = &device->attr;
	const struct { const char *name; uint64_t value; } numbers[] = {
		{ "port", device->port_num },
		{ "ports", attr->phys_port_cnt },
		{ "port_state", device->port.state },
		{ "link_layer", device->port.link_layer },
		{ "active_mtu", 128U << device->port.active_mtu },
		{ "max_mtu", 128U << device->port.max_mtu },
		{ "active_width", device->port.active_width },
		{ "active_speed", device->port.active_speed },
		{ "max_msg_bytes", device->port.max_msg_sz },
		{ "gid_index", device->gid.gid_index },
		{ "gids_rocev2", device->gids },
		{ "vendor_id", attr->vendor_id },
		{ "vendor_part_id", attr->vendor_part_id },
		{ "hw_ver", attr->hw_ver },
		{ "device_cap_flags", attr->device_cap_flags },
		{ "max_qp", attr->max_qp },
		{ "max_qp_wr", attr->max_qp_wr },
		{ "max_cq", attr->max_cq },
		{ "max_cqe", attr->max_cqe },
		{ "max_sge", attr->max_sge },
		{ "max_sge_rd", attr->max_sge_rd },
		{ "max_mr", attr->max_mr },
		{ "max_mr_bytes", attr->max_mr_size },
		{ "max_ah", attr->max_ah },
		{ "max_qp_rd_atom", attr->max_qp_rd_atom },
		{ "max_qp_init_rd_atom", attr->max_qp_init_rd_atom },
		{ "atomic_cap", attr->atomic_cap },
	};
	json_t *object = json_object();

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(object, numbers[i].name, number(numbers[i].value));
	return object;
}

static void put_guid(json_t *object, const char *name, uint64_t guid)
{
	char text[sizeof("0123456789abcdef")];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)be64toh(guid));
	json_object_set_new(object, name, json_string(text));
}

/* Adds the members that identify the machine. */
static void put_identity(json_t *object, const struct ctl_device *device)
{
	char text[VQP_ADDRESS_TEXT];

	json_object_set_new(object, "gid", json_string(vqp_address_format(device->gid.gid.raw, text)));
	put_guid(object, "node_guid", device->attr.node_guid);
	put_guid(object, "sys_image_guid", device->attr.sys_image_guid);
}

static json_t *describe(const struct ctl_device *device, const struct ctl_finding *finding, bool full)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", finding->device, "driver", finding->driver,
				   "firmware", finding->firmware);
	json_t *numbers = attributes(device);

	json_object_update(object, numbers);
	json_decref(numbers);
	json_object_set_new(object, "max_inline_bytes", number(finding->inline_bytes));
	json_object_set_new(object, "registration_us", json_real(finding->registration_us));
	if (full)
		put_identity(object, device);
	return object;
}

/* ---- Checks ---- */

static json_t *judge(const struct ctl_finding *finding, unsigned int counts[])
{
	json_t *checks = json_array();

	for (const struct ctl_check *check = ctl_checks; check->key; check++) {
		struct ctl_verdict verdict = { .level = CTL_OK };

		check->judge(finding, &verdict);
		counts[verdict.level]++;
		json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s*, s:s*}", "key", check->key,
							"check", check->name, "found", verdict.found,
							"needed", check->need, "verdict", ctl_level_text(verdict.level),
							"follows", verdict.follows, "way_out", verdict.way_out));
	}
	return checks;
}

static const char *string(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void print_notes(const json_t *checks)
{
	const json_t *check;
	size_t i;

	json_array_foreach(checks, i, check)
		if (string(check, "follows"))
			printf("\n%s: %s.\n    The way out: %s.\n", string(check, "check"), string(check, "follows"),
			       string(check, "way_out"));
}

static void print_people(const struct ctl_args *args, const json_t *versions, json_t *checks, const unsigned int counts[])
{
	printf("vqp %s, Linux %s, libibverbs %s\n\n", string(versions, "vqp"), string(versions, "kernel"),
	       string(versions, "libibverbs"));
	ctl_print_table(args, json_incref(checks), (const struct ctl_column[]){
		{ "check", "CHECK" }, { "verdict", "VERDICT" }, { "found", "FOUND" }, { "needed", "NEEDED" }, { 0 },
	});
	print_notes(checks);
	printf("\n%u ok, %u limited, %u failed, %u not tried\n", counts[CTL_OK], counts[CTL_LIMITED], counts[CTL_FAILS],
	       counts[CTL_UNTRIED]);
}

static int report(const struct ctl_args *args, const struct ctl_device *device, const struct ctl_finding *finding)
{
	unsigned int counts[CTL_LEVELS] = { 0 };
	json_auto_t *checks = judge(finding, counts), *with = ctl_versions();
	int ret = 0;

	if (args->json)
		ret = ctl_print_json(json_pack("{s:b, s:O, s:o, s:O}", "ok", !counts[CTL_FAILS], "versions", with,
					       "device", describe(device, finding, args->full), "checks", checks));
	else
		print_people(args, with, checks, counts);
	return ret ? ret : counts[CTL_FAILS] ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void try_all(const struct ctl_device *device, struct ctl_finding *finding)
{
	ctl_trial_pool(device, finding);
	ctl_trial_memory(device, finding);
	if (!ctl_device_is_usable(device) || !finding->registration.done)
		return;
	if (finding->pool.done)
		ctl_trial_ud(device, finding);
	ctl_trial_rc(device, finding);
	ctl_trial_atomics(device, finding);
}

int ctl_selftest(const struct ctl_args *args)
{
	struct ctl_finding finding = { .rc_off = links_are_off() };
	cleanup_error struct vqp_error error = { 0 };
	struct ctl_device device;
	int ret;

	signal(SIGALRM, alarmed);
	alarm(ALARM_SECONDS);
	ret = ctl_device_open(args->device, &device, &error);
	if (ret) {
		ret = ctl_fail(args, ret, "%s", vqp_error_text(&error));
	} else {
		ctl_device_describe(&device, &finding);
		try_all(&device, &finding);
		ret = report(args, &device, &finding);
	}
	ctl_device_close(&device);
	return ret;
}
