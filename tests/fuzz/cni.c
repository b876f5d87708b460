// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Network configurations for the CNI plugin: a prevResult that is taken can be
 * answered with in every version or is refused with a reason, and an answer is itself a
 * result that says the same. args get nothing that the rest of the configuration forbids.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>

#include "../../cni-plugin/args.h"
#include "../../cni-plugin/config.h"
#include "../../cni-plugin/result.h"
#include "../../cni-plugin/wish.h"
#include "../../common/limits.h"
#include "json.h"

const char *const fuzz_words[] = {
	"cniVersion", "0.1.0", "0.2.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0", "name", "type", "tenant", "vqpd", "prevResult",
	"limits", "max_vqps", "max_rate", "priority", "unlimited", "sockets", "only", "except", "80", "runtimeConfig", "args", "cni", "vqp", "interfaces",
	"CNI_ARGS", "VQP_TENANT=7;VQP_MAX_VQPS=5", "VQP_ADDRESS=10.1.0.2;A=b;;C=d", "VQP_SOCKETS=only:80,except:10.1.0.0/16", "VQP_=", "A", "ips", "routes", "dns", "sandbox", "interface", "address", "gateway", "dst", "gw", "ip4", "ip6",
	"ip", "version", "mtu", "mac", "10.1.0.2/24", "fd00::2/64", "0.0.0.0/0", "::/0", "10.1.0.1", "10.1.0.2/33",
	"eth0", "/run/netns/x", "/vqpd.sock", "net", "..", "", NULL,
};

static FILE *null;

/* An error is one JSON object, whatever bytes it quotes. */
static void check_error(struct vqp_error *error)
{
	fuzz_check(error->code != VQP_CNI_ERROR_NONE && error->text);
	fuzz_check(vqp_cni_error_print(error, "1.0.0", null) == 0);
	vqp_error_clear(error);
}

/* Versions from 0.3.0 on have ips, and those before 1.0.0 say the family of each. */
static void check_ips(const json_t *out, enum vqp_version version)
{
	const json_t *ip;
	size_t i;

	fuzz_check(version >= VQP_VERSION_0_3_0 || !json_object_get(out, "ips"));
	json_array_foreach(json_object_get(out, "ips"), i, ip)
		fuzz_check((json_object_get(ip, "version") != NULL) == (version < VQP_VERSION_1_0_0));
}

/* A result as `version` writes it, read and written again. */
static void check_format(const json_t *result, enum vqp_version version)
{
	json_t *out, *parsed, *again;
	struct vqp_error error = { 0 };

	out = vqp_result_format(result, version, &error);
	fuzz_check((out != NULL) == (error.code == VQP_CNI_ERROR_NONE));
	if (!out) {
		check_error(&error);
		return;
	}
	fuzz_check(!strcmp(json_string_value(json_object_get(out, "cniVersion")), vqp_version_text(version)));
	check_ips(out, version);
	parsed = vqp_result_parse(out, VQP_VERSION_LATEST, &error);
	fuzz_check(parsed);
	again = vqp_result_format(parsed, version, &error);
	fuzz_check(again && json_equal(out, again));
	json_decref(again);
	json_decref(parsed);
	json_decref(out);
}

static void check_addresses(const json_t *result, const char *ifname)
{
	struct vqp_error error = { 0 };
	json_t *list = vqp_result_addresses(result, ifname, NULL, -1, &error), *address;
	uint8_t gid[16];
	size_t i;

	fuzz_check(list && error.code == VQP_CNI_ERROR_NONE);
	json_array_foreach(list, i, address)
		fuzz_check(!vqp_address_parse(json_string_value(address), gid));
	json_decref(list);
	list = vqp_result_addresses(result, ifname, "10.9.9.9", -1, &error);
	fuzz_check((list != NULL) == (error.code == VQP_CNI_ERROR_NONE));
	if (!list)
		check_error(&error);
	json_decref(list);
}

static void check_result(const struct vqp_config *config)
{
	json_t *before = json_deep_copy(config->prev_result), *result;
	struct vqp_error error = { 0 };

	result = vqp_result_parse(config->prev_result, config->version, &error);
	fuzz_check((result != NULL) == (error.code == VQP_CNI_ERROR_NONE));
	fuzz_check(json_equal(before, config->prev_result));
	if (result) {
		check_addresses(result, "eth0");
		for (int version = 0; version < VQP_VERSION_COUNT; version++)
			check_format(result, version);
	} else {
		check_error(&error);
	}
	json_decref(result);
	json_decref(before);
}

/* The tenant that the configuration, or its runtimeConfig, says; 0 if neither does. */
static uint32_t tenant_of(const json_t *config)
{
	const json_t *runtime = json_object_get(json_object_get(config, "runtimeConfig"), "vqp");
	const json_t *tenant = json_object_get(runtime, "tenant");

	if (!tenant)
		tenant = json_object_get(config, "tenant");
	return json_integer_value(tenant);
}

/* What the operator gives: the configuration, and what its runtimeConfig lets in. */
static json_t *given_limits(const json_t *config)
{
	const json_t *runtime = json_object_get(json_object_get(config, "runtimeConfig"), "vqp");
	json_t *given = json_object();

	json_object_update(given, json_object_get(config, "limits"));
	json_object_update(given, json_object_get(runtime, "limits"));
	return given;
}

/* Whatever args ask for, it is no more than that; about the others the policy decides. */
static void check_limits(const json_t *wished, const json_t *config)
{
	json_auto_t *given = given_limits(config);
	struct vqp_error error = { 0 };

	fuzz_check(!vqp_limits_check(wished, &error));
	json_object_update_missing(given, (json_t *)wished);
	fuzz_check(!vqp_limits_lower(given, wished, &error));
}

/* What CNI_ARGS says is in a member of that name. */
static void check_terms(const json_t *config)
{
	const char *text = json_string_value(json_object_get(config, "CNI_ARGS"));
	const struct vqp_args args = { .args = text ? text : "" };
	struct vqp_error error = { 0 };
	struct vqp_wish wish;
	uint8_t gid[16];
	json_t *asked = vqp_args_terms(&args, &error);

	fuzz_check((asked != NULL) == (error.code == VQP_CNI_ERROR_NONE));
	if (!asked || vqp_wish_read(&wish, config, asked, &error)) {
		check_error(&error);
		if (asked)
			vqp_wish_clear(&wish);
		json_decref(asked);
		return;
	}
	fuzz_check(!tenant_of(config) || wish.terms.tenant == tenant_of(config));
	fuzz_check(!*wish.terms.address || !vqp_address_parse_unicast(wish.terms.address, gid));
	fuzz_check(!wish.must_have_address || *wish.terms.address);
	fuzz_check(!wish.terms.limits || json_object_size(wish.terms.limits));
	check_limits(wish.terms.limits, config);
	vqp_wish_clear(&wish);
	json_decref(asked);
}

static void check_config(json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "name"));
	struct vqp_error error = { 0 };
	struct vqp_config config;

	if (vqp_config_parse(&config, json, &error)) {
		check_error(&error);
		fuzz_check(vqp_version_text(config.version));
	} else {
		const struct vqp_args args = { VQP_COMMAND_ADD, name, "/x", name, "" };

		fuzz_check(vqp_args_is_id(name) && config.name == name);
		fuzz_check(!config.vqpd || config.vqpd[0] == '/');
		if (vqp_args_check(&args, &error))
			check_error(&error);
		check_terms(json);
		if (config.prev_result)
			check_result(&config);
	}
	vqp_config_clear(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	json_t *json;

	if (!null)
		null = fopen("/dev/null", "w");
	fuzz_check(null);
	if (fuzz_line(&in, &json))
		check_config(json);
	return 0;
}
