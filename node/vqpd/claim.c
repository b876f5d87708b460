/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/address.h"
#include "../policy_check.h"
#include "claim.h"

/* A container has a few. Each rule looks at all, and a refusal names them. */
#define ADDRESSES_MAX	64

static bool is_given(const json_t *value)
{
	return value && !json_is_null(value);
}

static int parse_addresses(struct vqp_claim *claim, const json_t *addresses, struct vqp_error *error)
{
	const size_t count = json_array_size(addresses);
	const json_t *address;
	size_t i;

	if (!json_is_array(addresses))
		return vqp_error_set(error, -EINVAL, "\"addresses\" of \"has\" must be a list");
	if (count > ADDRESSES_MAX)
		return vqp_error_set(error, -E2BIG, "the container has %zu addresses, of which \"has\" takes %d", count,
				     ADDRESSES_MAX);
	claim->gids = count ? calloc(count, sizeof(*claim->gids)) : NULL;
	if (count && !claim->gids)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	json_array_foreach(addresses, i, address) {
		const char *text = json_string_value(address);
		uint8_t *gid = claim->gids[claim->has.count];

		if (!text || vqp_address_parse(text, gid))
			return vqp_error_set(error, -EINVAL, "\"addresses\" of \"has\" must be the container's IPv4 and "
					     "IPv6 addresses, not \"%s\"", text ? text : "");
		/* An interface may have others beside those that count. */
		if (!vqp_address_parse_unicast(text, gid))
			claim->has.count++;
	}
	claim->has.gids = (const uint8_t (*)[16])claim->gids;
	return 0;
}

static int parse_has(struct vqp_claim *claim, const json_t *has, struct vqp_error *error)
{
	static const char *const known[] = { "network", "addresses", NULL };
	const json_t *network = json_object_get(has, "network");
	int ret;

	if (!has)
		return vqp_error_set(error, -EINVAL, "\"has\" is missing, by which the policy decides: is the client of "
				     "another version than vqpd?");
	ret = vqp_policy_check_members(has, "\"has\"", known, error);
	if (ret)
		return ret;
	if (is_given(network) && !json_string_length(network))
		return vqp_error_set(error, -EINVAL, "\"network\" of \"has\" must be the name of a CNI network list");
	claim->has.network = json_string_value(network);
	return parse_addresses(claim, json_object_get(has, "addresses"), error);
}

/* What the client wishes for and vqpd does not know, it would not get. */
static int parse_wish(struct vqp_claim *claim, const json_t *wish, struct vqp_error *error)
{
	static const char *const known[] = { "tenant", "address", "limits", "sockets", NULL };
	int ret = is_given(wish) ? vqp_policy_check_members(wish, "\"wish\"", known, error) : 0;

	if (ret || !is_given(wish))
		return ret;
	ret = vqp_terms_parse(&claim->wish, wish, error);
	return ret ? vqp_error_add_context(error, "\"wish\"") : 0;
}

int vqp_claim_parse(struct vqp_claim *claim, const json_t *request, struct vqp_error *error)
{
	int ret;

	*claim = (struct vqp_claim){ 0 };
	ret = parse_has(claim, json_object_get(request, "has"), error);
	return ret ? ret : parse_wish(claim, json_object_get(request, "wish"), error);
}

void vqp_claim_clear(struct vqp_claim *claim)
{
	free(claim->gids);
	vqp_terms_clear(&claim->wish);
	*claim = (struct vqp_claim){ 0 };
}
