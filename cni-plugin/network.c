// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>

#include "ask.h"
#include "network.h"

/* Asks whether the policy gives containers of this network anything at all. */
static int ask_policy(const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s, s:s}", "op", "policy", "network", config->name), *reply = NULL;

	return vqp_ask(config, request, -1, &reply, "attach containers to", config->name, error);
}

/*
 * Says what makes an ADD fail, and no more: a runtime that hears of an error starts no container at
 * all, whether it needs vqp or not. Without an RDMA device ADD works, and containers reach those of
 * their own node until the device is back.
 */
int vqp_network_status(const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *request = json_pack("{s:s}", "op", "status"), *reply = NULL;

	if (vqp_ask(config, request, -1, &reply, "attach containers to", config->name, error))
		return error->code = VQP_CNI_ERROR_UNAVAILABLE;
	if (!json_is_true(json_object_get(reply, "module")))
		return vqp_error_set(error, VQP_CNI_ERROR_LIMITED, "the kernel module vqp is not loaded: modprobe vqp");
	return ask_policy(config, error) ? error->code = VQP_CNI_ERROR_UNAVAILABLE : 0;
}

/* Returns "ID/IFNAME", the key of an attachment, as a new string; NULL if one is no string. */
static json_t *key_of(const json_t *id, const json_t *ifname)
{
	if (!json_is_string(id) || !json_is_string(ifname))
		return NULL;
	return json_sprintf("%s/%s", json_string_value(id), json_string_value(ifname));
}

/*
 * Returns the attachments that are to stay, as the keys of a new object. They are listed under the
 * name of the specification, or under one that libcni once used for it. null is an empty list.
 */
static json_t *read_valid(const struct vqp_config *config, struct vqp_error *error)
{
	const json_t *list = json_object_get(config->json, "cni.dev/valid-attachments"), *item;
	json_auto_t *valid = json_object();
	size_t i;

	if (!list)
		list = json_object_get(config->json, "cni.dev/attachments");
	if (!list)
		vqp_error_set(error, VQP_CNI_ERROR_CONFIG,
			      "no \"cni.dev/valid-attachments\": without it all would have to go");
	else if (!json_is_array(list) && !json_is_null(list))
		vqp_error_set(error, VQP_CNI_ERROR_DECODE, "\"cni.dev/valid-attachments\" must be an array");
	json_array_foreach(list, i, item) {
		json_auto_t *key = key_of(json_object_get(item, "containerID"), json_object_get(item, "ifname"));

		if (!key)
			vqp_error_set(error, VQP_CNI_ERROR_DECODE,
				      "\"cni.dev/valid-attachments\" must have objects of \"containerID\" and \"ifname\"");
		else
			json_object_set_new(valid, json_string_value(key), json_true());
	}
	return error->code ? NULL : json_incref(valid);
}

/* Is the item of a list an attachment of this network that is not to stay? */
static bool is_leftover(const struct vqp_config *config, const json_t *item, const json_t *valid)
{
	const char *network = json_string_value(json_object_get(item, "network"));
	json_auto_t *key = key_of(json_object_get(item, "id"), json_object_get(item, "ifname"));

	return key && network && !strcmp(network, config->name) && !json_object_get(valid, json_string_value(key));
}

/* Deletes one attachment. A failure does not end GC, which reports the first one as *first. */
static void collect(const struct vqp_config *config, const json_t *item, bool *away, struct vqp_error *first)
{
	const char *id = json_string_value(json_object_get(item, "id"));
	const char *ifname = json_string_value(json_object_get(item, "ifname"));
	struct vqp_error error = { 0 };

	if (vqp_ask_del(config, id, ifname, -1, away, "delete the VQP namespace of", &error) && !first->code)
		*first = error;
	else
		vqp_error_clear(&error);
}

int vqp_network_gc(const struct vqp_config *config, struct vqp_error *error)
{
	json_auto_t *valid = read_valid(config, error), *list = NULL;
	const json_t *item;
	bool away = false;
	size_t i;

	if (!valid)
		return error->code;
	if (vqp_ask_list(config, &list, &away, "list the VQP namespaces of", config->name, error))
		return error->code;
	json_array_foreach(list, i, item)
		if (is_leftover(config, item, valid))
			collect(config, item, &away, error);
	return error->code;
}
