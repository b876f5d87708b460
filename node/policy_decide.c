// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the policy decides about a container. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "../common/limits.h"
#include "../common/sockets.h"
#include "../common/subnet.h"
#include "policy.h"

/* What is at hand: a container, its wish, and the rule that is for it. */
struct matter {
	const struct vqp_policy *policy;
	const struct vqp_has *has;
	const struct vqp_terms *wish;
	const json_t *rule;
	size_t number;			/* its index */
};

static bool is_in(const json_t *subnet, const uint8_t gid[16])
{
	struct vqp_subnet parsed;

	return !vqp_subnet_parse(&parsed, json_string_value(subnet)) && vqp_subnet_has(&parsed, gid);
}

/* Is the address in the rule's subnet? A rule without one is for all addresses. */
static bool covers(const json_t *rule, const uint8_t gid[16])
{
	const json_t *subnet = json_object_get(rule, "subnet");

	return !subnet || is_in(subnet, gid);
}

/* Is the rule for containers that have no address? */
static bool covers_none(const json_t *rule)
{
	const char *subnet = json_string_value(json_object_get(rule, "subnet"));

	return !subnet || !strcmp(subnet, VQP_SUBNET_ANY);
}

/*
 * Does the rule match? Sets *own to the first of the container's addresses for which it does, NULL
 * if the container has none.
 */
static bool matches(const json_t *rule, const struct vqp_has *has, const uint8_t **own)
{
	const char *network = json_string_value(json_object_get(rule, "network"));

	*own = NULL;
	if (network && (!has->network || strcmp(network, has->network)))
		return false;
	for (size_t i = 0; i < has->count && !*own; i++)
		if (covers(rule, has->gids[i]))
			*own = has->gids[i];
	return *own || (!has->count && covers_none(rule));
}

/* Finds the rule. Returns false if none matches. */
static bool find_rule(struct matter *matter, const uint8_t **own)
{
	const json_t *rules = json_object_get(matter->policy->json, "rules"), *rule;
	size_t i;

	if (matter->has->network && !vqp_policy_network(matter->policy, matter->has->network))
		return false;
	json_array_foreach(rules, i, rule) {
		if (matches(rule, matter->has, own)) {
			matter->rule = rule;
			matter->number = i;
			return true;
		}
	}
	return false;
}

/* Returns the addresses as text, which the caller frees; NULL without memory. */
static char *list_addresses(const struct vqp_has *has, const char *between)
{
	char *text = malloc(has->count * (VQP_ADDRESS_TEXT + strlen(between)) + 1), *end = text;

	if (!text)
		return NULL;
	*end = '\0';
	for (size_t i = 0; i < has->count; i++) {
		if (i)
			end = stpcpy(end, between);
		end += strlen(vqp_address_format(has->gids[i], end));
	}
	return text;
}

/*
 * Returns what explains the refusal, which the caller frees; NULL without memory. By its addresses
 * even a container is explained that never ran.
 */
static char *name_remedy(const struct vqp_has *has)
{
	cleanup_free char *addresses = list_addresses(has, " --address ");
	char *text;

	if (!has->count)
		return strdup("vqp-policy.json(5)");
	if (!addresses || asprintf(&text, "vqpctl policy explain%s%s --address %s shows what decides",
				   has->network ? " --network " : "", has->network ? has->network : "", addresses) < 0)
		return NULL;
	return text;
}

static int refuse_unmatched(const struct matter *matter, struct vqp_error *error)
{
	const struct vqp_has *has = matter->has;
	cleanup_free char *addresses = list_addresses(has, ", "), *remedy = name_remedy(has);

	if (!addresses || !remedy)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	if (matter->policy->is_old && has->network)
		return vqp_policy_refuse_network(matter->policy, has->network, error);
	return vqp_error_set(error, -EPERM, "no rule of %s is for a container of %s%s with %s%s: %s",
			     vqp_policy_file(matter->policy),
			     has->network ? "network " : "no CNI network", has->network ? has->network : "",
			     has->count > 1 ? "addresses " : has->count ? "address " : "no address", addresses, remedy);
}

/* Puts the rule in front of the reason for which it refuses a wish. */
static int name_rule(const struct matter *matter, struct vqp_error *error)
{
	const unsigned int line = vqp_policy_line(matter->policy, matter->number);

	if (line)
		return vqp_error_add_context(error, "rule %zu of %s (line %u)", matter->number + 1,
					     vqp_policy_file(matter->policy), line);
	return vqp_error_add_context(error, "rule %zu of those made of %s", matter->number + 1, vqp_policy_file(matter->policy));
}

static const json_t *may_choose(const struct matter *matter, const char *what)
{
	return json_object_get(json_object_get(matter->rule, "may_choose"), what);
}

static bool allows_tenant(const struct matter *matter, uint32_t wanted)
{
	const json_t *tenants = may_choose(matter, "tenants"), *tenant;
	size_t i;

	if (json_is_string(tenants))	/* "any" */
		return true;
	json_array_foreach(tenants, i, tenant)
		if (json_integer_value(tenant) == wanted)
			return true;
	return false;
}

static int grant_tenant(const struct matter *matter, struct vqp_terms *terms, struct vqp_error *error)
{
	const uint32_t wanted = matter->wish->tenant;

	terms->tenant = json_integer_value(json_object_get(matter->rule, "tenant"));
	if (wanted && wanted != terms->tenant && !allows_tenant(matter, wanted))
		return vqp_error_set(error, -EPERM, "tenant %u is asked for, and tenant %u is given: "
				     "%u is not among \"tenants\" of \"may_choose\"", wanted, terms->tenant, wanted);
	if (wanted)
		terms->tenant = wanted;
	return 0;
}

/* Is it another of the container's own addresses, for which the rule would have matched too? */
static bool is_own(const struct matter *matter, const uint8_t gid[16])
{
	for (size_t i = 0; i < matter->has->count; i++)
		if (!memcmp(matter->has->gids[i], gid, 16))
			return covers(matter->rule, gid);
	return false;
}

static bool allows_address(const struct matter *matter, const uint8_t gid[16])
{
	const json_t *subnet;
	size_t i;

	json_array_foreach(may_choose(matter, "addresses"), i, subnet)
		if (is_in(subnet, gid))
			return true;
	return false;
}

static int grant_address(const struct matter *matter, const uint8_t *own, struct vqp_terms *terms, struct vqp_error *error)
{
	const char *wanted = matter->wish->address;
	uint8_t gid[16];

	if (own)
		vqp_address_format(own, terms->address);
	if (!*wanted)
		return 0;
	if (vqp_address_parse(wanted, gid))
		return vqp_error_set(error, -EINVAL, "\"%s\" is no address", wanted);
	if (!is_own(matter, gid) && !allows_address(matter, gid))
		return vqp_error_set(error, -EPERM, "address %s is asked for, which is none of the container's: "
				     "it is not within \"addresses\" of \"may_choose\"", wanted);
	vqp_address_format(gid, terms->address);
	return 0;
}

static int grant_limits(const struct matter *matter, struct vqp_terms *terms, struct vqp_error *error)
{
	json_t *limits = json_object_get(matter->rule, "limits");

	terms->limits = vqp_limits_default();
	if (!terms->limits || (limits && json_object_update(terms->limits, limits)))
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return vqp_limits_lower(terms->limits, matter->wish->limits, error);
}

/*
 * Gives what `said` says of sockets, and no more than is wished for. 0, also with terms->sockets not
 * set: the wish is more; -EINVAL or -ENOMEM.
 */
static int give_sockets(const json_t *said, const struct matter *matter, struct vqp_terms *terms, struct vqp_error *error)
{
	json_t *wanted = matter->wish->sockets;

	terms->sockets = vqp_sockets_read(said, error);
	if (!terms->sockets)
		return error->code;
	if (wanted && !vqp_sockets_lower(&terms->sockets, wanted)) {
		json_decref(terms->sockets);
		terms->sockets = NULL;
	}
	return 0;
}

static int refuse_sockets(const struct matter *matter, const json_t *given, struct vqp_error *error)
{
	cleanup_free char *wanted_text = vqp_sockets_format(matter->wish->sockets), *given_text = vqp_sockets_format(given);

	if (!wanted_text || !given_text)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	return vqp_error_set(error, -EPERM, "sockets are asked for (%s), and given so: %s; \"sockets\" of \"may_choose\" does "
			     "not let them be chosen%s", wanted_text, given_text, json_is_object(matter->wish->sockets) ?
			     ". Less is \"off\", or \"only\" within theirs with all that is in their \"except\"" : "");
}

/* Sockets that the rule is silent of are off: packet filters do not see what goes by them. */
static int grant_sockets(const struct matter *matter, struct vqp_terms *terms, struct vqp_error *error)
{
	const json_t *given = json_object_get(matter->rule, "sockets"), *choice = may_choose(matter, "sockets");
	int ret = give_sockets(given ? given : json_false(), matter, terms, error);

	if (!ret && !terms->sockets && choice)
		ret = give_sockets(choice, matter, terms, error);
	return ret || terms->sockets ? ret : refuse_sockets(matter, given ? given : json_false(), error);
}

int vqp_policy_check_address(const struct vqp_has *has, const struct vqp_terms *wish, struct vqp_error *error)
{
	if (has->count || *wish->address)
		return 0;
	return vqp_error_set(error, -EADDRNOTAVAIL, "the container's network namespace has no address");
}

int vqp_policy_decide(const struct vqp_policy *policy, const struct vqp_has *has, const struct vqp_terms *wish,
		      struct vqp_terms *terms, size_t *rule, struct vqp_error *error)
{
	struct matter matter = { .policy = policy, .has = has, .wish = wish, .number = VQP_POLICY_NO_RULE };
	const uint8_t *own;
	int ret = vqp_policy_check_address(has, wish, error);
	bool found;

	*terms = (struct vqp_terms){ 0 };
	found = find_rule(&matter, &own);
	*rule = matter.number;
	if (ret)
		return ret;
	if (!found)
		return refuse_unmatched(&matter, error);
	ret = grant_tenant(&matter, terms, error);
	if (!ret)
		ret = grant_address(&matter, own, terms, error);
	if (!ret)
		ret = grant_limits(&matter, terms, error);
	if (!ret)
		ret = grant_sockets(&matter, terms, error);
	return ret ? name_rule(&matter, error) : 0;
}
