/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>

#include "../log.h"
#include "../reply.h"
#include "judge.h"

/* Loads the policy, and tells the log when it begins to be that of an old file. */
static int load(struct vqpd *d, struct vqp_policy *policy, struct vqp_error *error)
{
	int ret = vqp_policy_load(policy, VQP_CONFIG_DIR, error);

	if (!ret && policy->is_old && !d->told_old_policy)
		vqp_log(LOG_NOTICE, "the policy is taken from " VQP_CONFIG_FILE ", as before there was " VQP_POLICY_FILE
		      ": vqpctl policy init writes it there");
	d->told_old_policy = !ret && policy->is_old;
	return ret;
}

void vqp_judge_start(struct vqpd *d)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };

	if (load(d, &policy, &error))
		vqp_log(LOG_WARNING, "%s", vqp_error_text(&error));
}

static json_t *make_rule(const struct vqp_policy *policy, size_t rule)
{
	json_t *made = json_pack("{s:I}", "number", (json_int_t)rule + 1);
	const unsigned int line = vqp_policy_line(policy, rule);

	if (made && line)
		json_object_set_new(made, "line", json_integer(line));
	return made;
}

json_t *vqp_judge_claim(struct vqpd *d, const struct vqp_claim *claim, struct vqp_terms *terms, json_t **rule)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	size_t number;
	/* Without an address nothing is to be decided, on a node without a policy either. */
	int ret = vqp_policy_check_address(&claim->has, &claim->wish, &error);

	*terms = (struct vqp_terms){ 0 };
	*rule = NULL;
	if (!ret)
		ret = load(d, &policy, &error);
	if (!ret)
		ret = vqp_policy_decide(&policy, &claim->has, &claim->wish, terms, &number, &error);
	if (ret)
		return vqp_reply_error(ret, "%s", vqp_error_text(&error));
	*rule = make_rule(&policy, number);
	return NULL;
}

static json_t *answer_for_network(struct vqpd *d, const char *network)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	int ret = load(d, &policy, &error);

	if (ret)
		return vqp_reply_error(ret, "%s", vqp_error_text(&error));
	if (!vqp_policy_network(&policy, network)) {
		ret = vqp_policy_refuse_network(&policy, network, &error);
		return vqp_reply_error(ret, "%s", vqp_error_text(&error));
	}
	return json_pack("{s:b, s:b}", "ok", 1, "by_annotation", vqp_policy_lets_annotate(&policy, network));
}

static json_t *answer_for_container(struct vqpd *d, const json_t *request)
{
	cleanup_claim struct vqp_claim claim = { 0 };
	cleanup_terms struct vqp_terms terms = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	json_auto_t *rule = NULL;
	json_t *refusal;

	if (vqp_claim_parse(&claim, request, &error))
		return vqp_reply_error(error.code, "%s", vqp_error_text(&error));
	refusal = vqp_judge_claim(d, &claim, &terms, &rule);
	if (refusal)
		return refusal;
	return json_pack("{s:b, s:I, s:s, s:O, s:O, s:O}", "ok", 1, "tenant", (json_int_t)terms.tenant,
			 "address", terms.address, "limits", terms.limits, "sockets", terms.sockets, "rule", rule);
}

json_t *vqp_judge_answer(struct vqpd *d, const json_t *request)
{
	const json_t *network = json_object_get(request, "network");

	if (json_object_get(request, "has"))
		return answer_for_container(d, request);
	if (!json_string_length(network))
		return vqp_reply_error(EINVAL, "policy is about a container, which \"has\" describes, or about a "
				       "\"network\", a CNI network list");
	return answer_for_network(d, json_string_value(network));
}

json_t *vqp_judge_tell(struct vqpd *d)
{
	cleanup_policy struct vqp_policy policy = { 0 };
	cleanup_error struct vqp_error error = { 0 };

	if (load(d, &policy, &error))
		return json_pack("{s:s}", "error", vqp_error_text(&error));
	return json_pack("{s:s, s:b, s:I}", "file", vqp_policy_file(&policy), "old", policy.is_old,
			 "rules", (json_int_t)vqp_policy_count(&policy));
}
