// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <arpa/inet.h>
#include <string.h>

#include "../common/address.h"
#include "../common/netns.h"
#include "result.h"

static int fail(struct vqp_error *error, const char *what)
{
	return vqp_error_set(error, VQP_CNI_ERROR_DECODE, "prevResult: %s", what);
}

/* Copies "10.1.0.2" of "10.1.0.2/24" (INET6_ADDRSTRLEN bytes). Returns the family, or 0. */
static int split_cidr(const char *cidr, char *address)
{
	const char *slash = strchr(cidr, '/');
	unsigned char bytes[sizeof(struct in6_addr)];
	unsigned int prefix = 0;
	int family;

	if (!slash || slash - cidr >= INET6_ADDRSTRLEN)
		return 0;
	memcpy(address, cidr, slash - cidr);
	address[slash - cidr] = '\0';
	family = strchr(address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, address, bytes) != 1)
		return 0;

	for (cidr = slash + 1; *cidr >= '0' && *cidr <= '9' && prefix <= 128; cidr++)
		prefix = prefix * 10 + *cidr - '0';
	if (cidr == slash + 1 || *cidr || prefix > (family == AF_INET ? 32 : 128))
		return 0;
	return family;
}

static int cidr_family(const char *cidr)
{
	char address[INET6_ADDRSTRLEN];

	return split_cidr(cidr, address);
}

static int check_interfaces(const json_t *interfaces, struct vqp_error *error)
{
	const json_t *interface;
	size_t i;

	if (interfaces && !json_is_array(interfaces))
		return fail(error, "\"interfaces\" must be an array");
	json_array_foreach(interfaces, i, interface) {
		const json_t *name = json_object_get(interface, "name"), *sandbox = json_object_get(interface, "sandbox");

		if (!json_is_object(interface))
			return fail(error, "an interface must be an object");
		if ((name && !json_is_string(name)) || (sandbox && !json_is_string(sandbox)))
			return fail(error, "\"name\" and \"sandbox\" of an interface must be strings");
	}
	return 0;
}

static int check_ips(const json_t *ips, struct vqp_error *error)
{
	const json_t *ip;
	size_t i;

	if (ips && !json_is_array(ips))
		return fail(error, "\"ips\" must be an array");
	json_array_foreach(ips, i, ip) {
		const json_t *index = json_object_get(ip, "interface");
		const char *address = json_string_value(json_object_get(ip, "address"));

		if (!address || !cidr_family(address))
			return fail(error, "\"address\" of an IP must be of the form 10.1.0.2/24 or fd00::2/64");
		if (index && !json_is_integer(index))
			return fail(error, "\"interface\" of an IP must be an index of \"interfaces\"");
	}
	return 0;
}

static int check_routes(const json_t *routes, struct vqp_error *error)
{
	const json_t *route;
	size_t i;

	if (routes && !json_is_array(routes))
		return fail(error, "\"routes\" must be an array");
	json_array_foreach(routes, i, route) {
		const char *dst = json_string_value(json_object_get(route, "dst"));

		if (!dst || !cidr_family(dst))
			return fail(error, "\"dst\" of a route must be of the form 0.0.0.0/0 or ::/0");
	}
	return 0;
}

/* Deletes the members that are null: plugins that are written in Go take them for missing. */
static void delete_nulls(json_t *object)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value)
		if (json_is_null(value))
			json_object_del(object, name);
}

static void delete_nulls_of_items(json_t *result)
{
	static const char *const lists[] = { "interfaces", "ips", "routes" };
	json_t *item;
	size_t i;

	for (size_t list = 0; list < sizeof(lists) / sizeof(*lists); list++)
		json_array_foreach(json_object_get(result, lists[list]), i, item)
			delete_nulls(item);
}

static void delete_keys(const json_t *array, const char *const *keys)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		for (const char *const *key = keys; *key; key++)
			json_object_del(item, *key);
}

/* Turns ip4 or ip6 of versions 0.1.0 and 0.2.0 into elements of ips and routes. */
static int lift_family(json_t *result, const char *family, struct vqp_error *error)
{
	json_auto_t *old = json_incref(json_object_get(result, family));
	json_t *ip, *routes;

	if (!old)
		return 0;
	json_object_del(result, family);
	if (!json_is_object(old))
		return fail(error, "\"ip4\" and \"ip6\" must be objects");
	delete_nulls(old);
	routes = json_object_get(old, "routes");
	if (check_routes(routes, error))
		return error->code;

	ip = json_pack("{s:O?, s:O*}", "address", json_object_get(old, "ip"),
		       "gateway", json_object_get(old, "gateway"));
	if (json_array_append_new(json_object_get(result, "ips"), ip) ||
	    (routes && json_array_extend(json_object_get(result, "routes"), routes)))
		return vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	return 0;
}

static int lift(json_t *result, struct vqp_error *error)
{
	json_object_set_new(result, "ips", json_array());
	json_object_set_new(result, "routes", json_array());
	if (lift_family(result, "ip4", error) || lift_family(result, "ip6", error))
		return error->code;
	return 0;
}

static int parse_version(const json_t *json, enum vqp_version *version, struct vqp_error *error)
{
	const json_t *value = json_object_get(json, "cniVersion");

	if (!value)
		return 0;
	if (!json_is_string(value))
		return fail(error, "\"cniVersion\" must be a string");
	*version = vqp_version_parse(json_string_value(value));
	if (*version == VQP_VERSION_COUNT)
		return vqp_error_set(error, VQP_CNI_ERROR_VERSION, "prevResult: cniVersion \"%s\" is not supported",
				     json_string_value(value));
	return 0;
}

json_t *vqp_result_parse(const json_t *json, enum vqp_version version, struct vqp_error *error)
{
	static const char *const ip_keys[] = { "version", NULL };
	json_auto_t *result = json_deep_copy(json);

	delete_nulls(result);
	if (parse_version(result, &version, error))
		return NULL;
	if (version < VQP_VERSION_0_3_0 && lift(result, error))
		return NULL;
	delete_nulls_of_items(result);

	if (check_interfaces(json_object_get(result, "interfaces"), error) ||
	    check_ips(json_object_get(result, "ips"), error) ||
	    check_routes(json_object_get(result, "routes"), error))
		return NULL;
	delete_keys(json_object_get(result, "ips"), ip_keys);
	return json_incref(result);
}

/* Returns the routes of one family, with the members that 0.2.0 has. */
static json_t *lower_routes(const json_t *result, int family)
{
	json_t *routes = json_array();
	const json_t *route;
	size_t i;

	json_array_foreach(json_object_get(result, "routes"), i, route) {
		const json_t *dst = json_object_get(route, "dst");

		if (cidr_family(json_string_value(dst)) == family)
			json_array_append_new(routes, json_pack("{s:O, s:O*}", "dst", dst,
								"gw", json_object_get(route, "gw")));
	}
	return routes;
}

/* Returns the first address of one family in the form of 0.2.0; NULL if there is none. */
static json_t *lower_family(const json_t *result, int family)
{
	const json_t *ip;
	size_t i;

	json_array_foreach(json_object_get(result, "ips"), i, ip) {
		const json_t *address = json_object_get(ip, "address");
		json_t *routes;

		if (cidr_family(json_string_value(address)) != family)
			continue;
		routes = lower_routes(result, family);
		if (!json_array_size(routes)) {
			json_decref(routes);
			routes = NULL;
		}
		return json_pack("{s:O, s:O*, s:o*}", "ip", address,
				 "gateway", json_object_get(ip, "gateway"), "routes", routes);
	}
	return NULL;
}

/* Versions 0.1.0 and 0.2.0 have one address of each family, and no interfaces. */
static json_t *lower(const json_t *result, struct vqp_error *error)
{
	json_t *ip4 = lower_family(result, AF_INET), *ip6 = lower_family(result, AF_INET6);

	if (!ip4 && !ip6)
		fail(error, "it has no address, so it cannot be written in this cniVersion");
	return json_pack("{s:o*, s:o*, s:O*}", "ip4", ip4, "ip6", ip6, "dns", json_object_get(result, "dns"));
}

static void set_ip_versions(const json_t *ips)
{
	json_t *ip;
	size_t i;

	json_array_foreach(ips, i, ip) {
		int family = cidr_family(json_string_value(json_object_get(ip, "address")));

		json_object_set_new(ip, "version", json_string(family == AF_INET ? "4" : "6"));
	}
}

json_t *vqp_result_format(const json_t *result, enum vqp_version version, struct vqp_error *error)
{
	static const char *const interface_keys_1_1[] = { "mtu", "socketPath", "pciID", NULL };
	static const char *const route_keys_1_1[] = { "mtu", "advmss", "priority", "table", "scope", NULL };
	json_auto_t *out = version < VQP_VERSION_0_3_0 ? lower(result, error) : json_deep_copy(result);

	if (version < VQP_VERSION_1_1_0) {
		delete_keys(json_object_get(out, "interfaces"), interface_keys_1_1);
		delete_keys(json_object_get(out, "routes"), route_keys_1_1);
	}
	if (version < VQP_VERSION_1_0_0)
		set_ip_versions(json_object_get(out, "ips"));
	if (!error->code && json_object_set_new(out, "cniVersion", json_string(vqp_version_text(version))))
		vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	return error->code ? NULL : json_incref(out);
}

/* Returns the interface that the previous plugin named for an address, or NULL. */
static const json_t *interface_of(const json_t *result, const json_t *ip)
{
	const json_t *index = json_object_get(ip, "interface");

	return index && json_integer_value(index) >= 0
		? json_array_get(json_object_get(result, "interfaces"), json_integer_value(index)) : NULL;
}

static int has_sandbox(const json_t *interface)
{
	const char *sandbox = json_string_value(json_object_get(interface, "sandbox"));

	return sandbox && *sandbox;
}

/* An address for which the previous plugin named no interface is taken to be the container's. */
static int is_of_interface(const json_t *result, const json_t *ip, const char *ifname)
{
	const json_t *interface = interface_of(result, ip);
	const char *name = json_string_value(json_object_get(interface, "name"));

	return !interface || (has_sandbox(interface) && name && !strcmp(name, ifname));
}

/*
 * Is an address that is said to be outside of any container in fact the container's? Some plugins
 * leave the sandbox out, or name the host's end of the link.
 */
static int is_found_inside(const json_t *result, const json_t *ip, const char *ifname, int netns_fd)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t gid[16];

	return netns_fd >= 0 && !has_sandbox(interface_of(result, ip)) &&
	       split_cidr(json_string_value(json_object_get(ip, "address")), text) &&
	       !vqp_address_parse(text, gid) && vqp_netns_has_address(netns_fd, ifname, gid) > 0;
}

static int is_same(const char *a, const char *b)
{
	uint8_t gid_a[16], gid_b[16];

	return !vqp_address_parse(a, gid_a) && !vqp_address_parse(b, gid_b) &&
	       !memcmp(gid_a, gid_b, sizeof(gid_a));
}

/*
 * Adds the addresses of the interface to the list: those that the result names for it or, if
 * netns_fd is not negative, those that the interface has although the result says otherwise.
 */
static int collect(json_t *list, const json_t *result, const char *ifname, int netns_fd)
{
	char text[INET6_ADDRSTRLEN];
	const json_t *ip;
	size_t i;

	json_array_foreach(json_object_get(result, "ips"), i, ip)
		if ((netns_fd < 0 ? is_of_interface(result, ip, ifname) : is_found_inside(result, ip, ifname, netns_fd)) &&
		    split_cidr(json_string_value(json_object_get(ip, "address")), text) &&
		    json_array_append_new(list, json_string(text)))
			return -1;
	return 0;
}

static int has_address(const json_t *list, const char *wanted)
{
	const json_t *address;
	size_t i;

	json_array_foreach(list, i, address)
		if (is_same(json_string_value(address), wanted))
			return 1;
	return 0;
}

json_t *vqp_result_addresses(const json_t *result, const char *ifname, const char *wanted, int netns_fd,
			     struct vqp_error *error)
{
	json_auto_t *list = json_array();
	int ret = list ? collect(list, result, ifname, -1) : -1;

	if (!ret && netns_fd >= 0 && (!json_array_size(list) || (wanted && !has_address(list, wanted))))
		ret = collect(list, result, ifname, netns_fd);
	if (ret)
		vqp_error_set(error, VQP_CNI_ERROR_IO, "out of memory");
	else if (wanted && !has_address(list, wanted))
		vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
			      "args ask for the address %s, which the container's interface %s does not have",
			      wanted, ifname);
	return error->code ? NULL : json_incref(list);
}
