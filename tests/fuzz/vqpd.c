// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests to vqpd, one per line, before a kernel that is an array, meta servers that do as numbers between the
 * requests say, and a policy whose rules a list between them replaces. Every request has one answer, one that is
 * refused leaves the kernel as it was, and one that succeeds did what it says, as the policy lets it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>

#include "../../common/address.h"
#include "../../common/limits.h"
#include "../../common/name.h"
#include "../../common/netns.h"
#include "../../node/vqpd/add.h"
#include "../../node/vqpd/judge.h"
#include "../../node/vqpd/request.h"
#include "../../node/vqpd/watch.h"
#include "json.h"

#define NAMESPACES_MAX	8
#define CLIENTS		3
#define FD		1000	/* of the netns with number 0; no such file is open */

const char *const fuzz_words[] = {
	"op", "add", "del", "list", "policy", "status", "id", "ifname", "network", "netns", "tenant", "address",
	"has", "addresses", "wish", "subnet", "may_choose", "tenants", "any", "by_annotation",
	"c1", "c2", "eth0", "net1", "blue",
	"limits", "max_vqps", "max_mrs", "max_bytes", "max_rate", "priority", "unlimited", "sockets", "only", "except", "80", "10.1.0.0/16",
	"/", "/0", "/1", "/2", "/gone", "/file", "10.1.0.2", "10.1.0.3", "fd00::2", "127.0.0.1", "a/b", "", "..",
	"a-name-that-is-much-too-long-for-an-interface", NULL,
};

struct namespace {
	uint32_t ino, tenant;
	uint8_t gid[16];
	char name[VQP_NAME_MAX];
};

static struct {
	struct vqpd d;
	struct vqp_client clients[CLIENTS];
	const json_t *request[CLIENTS];	/* not yet answered */
	struct namespace asked[CLIENTS];	/* what it is about, if the policy let it be made */
	bool made[CLIENTS];		/* ... and the namespace that it asked for was made for it */
	struct namespace kernel[NAMESPACES_MAX];
	unsigned int count;
	char *policy;			/* the text of the file; NULL if there is none */
	bool no_module, no_parent;
	uint32_t epoch;
	uint64_t now_ms;
	const struct vqp_client *serving;	/* whose request is at hand; NULL when it is answered */
	bool refused;			/* ... at once */
	bool deaf;			/* the next answer finds its client gone */
	bool lost[CLIENTS];		/* was this one's */
} env;

/* ---- The policy ---- */

#define POLICY	"{\"rules\":[{\"subnet\":\"any\",\"tenant\":1,\"may_choose\":{\"tenants\":\"any\",\"addresses\":[\"any\"]}}]}"

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error)
{
	if (!env.policy || strcmp(path, VQP_POLICY_FILE))
		return vqp_error_set(error, -ENOENT, "it is not there");
	*text = strdup(env.policy);
	*bytes = strlen(*text);
	return 0;
}

static void set_policy(json_t *rules)
{
	json_auto_t *file = json_array_size(rules) ? json_pack("{s:O}", "rules", rules) : NULL;

	free(env.policy);
	env.policy = file ? json_dumps(file, 0) : NULL;
}

/* Finds what an add is about, if the policy lets it be made. */
static bool decide(const json_t *request, struct namespace *asked)
{
	cleanup_request struct vqp_request checked = { 0 };
	json_t *refusal = vqp_request_check_add(request, &checked);

	if (!refusal)
		refusal = vqp_judge_claim(&env.d, &checked.claim, &checked.terms, &checked.rule);
	if (refusal) {
		json_decref(refusal);
		return false;
	}
	fuzz_check(!vqp_address_parse(checked.terms.address, asked->gid));
	asked->tenant = checked.terms.tenant;
	return true;
}

/* ---- The kernel ---- */

static int kernel_find(uint32_t tenant, const uint8_t gid[16])
{
	for (unsigned int i = 0; i < env.count; i++)
		if (env.kernel[i].tenant == tenant && !memcmp(env.kernel[i].gid, gid, 16))
			return i;
	return -1;
}

/* All that a netns has are of one tenant. */
static bool kernel_has_other_tenant(const struct namespace *new)
{
	for (unsigned int i = 0; i < env.count; i++)
		if (env.kernel[i].ino == new->ino && env.kernel[i].tenant != new->tenant)
			return true;
	return false;
}

static void kernel_remove(unsigned int i)
{
	memmove(&env.kernel[i], &env.kernel[i + 1], (--env.count - i) * sizeof(env.kernel[0]));
}

static int kernel_add(const struct namespace *new, bool exclusive)
{
	int same = kernel_find(new->tenant, new->gid);

	if (kernel_has_other_tenant(new))
		return -EEXIST;
	if (same >= 0 && env.kernel[same].ino != new->ino)
		return -EADDRINUSE;
	if (same >= 0)
		return exclusive ? -EEXIST : 0;
	if (env.count == NAMESPACES_MAX)
		return -ENOSPC;
	env.kernel[env.count++] = *new;
	return 0;
}

static void parse_key(const json_t *attrs, struct namespace *key)
{
	key->tenant = json_integer_value(json_object_get(attrs, "tenant"));
	fuzz_check(key->tenant);
	fuzz_check(!vqp_address_parse(json_string_value(json_object_get(attrs, "gid")), key->gid));
}

/* Those limits among the attributes are what the kernel takes. */
static bool has_valid_limits(const json_t *attrs)
{
	json_auto_t *limits = json_object();
	struct vqp_error error = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)attrs, name, value)
		if (vqp_limits_has(name))
			json_object_set(limits, name, value);
	return !vqp_limits_check(limits, &error);
}

static int kernel_ns_add(const json_t *attrs, bool exclusive)
{
	struct namespace new = { .ino = json_integer_value(json_object_get(attrs, "netns_fd")) };
	const char *name = json_string_value(json_object_get(attrs, "name"));

	parse_key(attrs, &new);
	fuzz_check(new.ino >= FD && strlen(name) > 2 && strlen(name) < sizeof(new.name) && strchr(name, '/'));
	fuzz_check(has_valid_limits(attrs));
	fuzz_check(json_is_boolean(json_object_get(attrs, "sockets")) || json_is_object(json_object_get(attrs, "sockets")));
	strcpy(new.name, name);
	return kernel_add(&new, exclusive);
}

static int kernel_do(enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	if (env.no_module)
		return -ENOPKG;
	switch (cmd) {
	case VQP_CMD_NS_ADD:
		return kernel_ns_add(attrs, false);
	case VQP_CMD_STATUS_GET:
		*reply = json_pack("{s:s, s:I, s:i, s:[i]}", "node_gid", "fd00::1", "epoch", (json_int_t)env.epoch,
				   "qkey", 2, "lanes", 3);
		if (!env.no_parent)
			json_object_set_new(*reply, "parent", json_string("rxe0"));
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	int ret = kernel_do(cmd, attrs, reply);

	strcpy(netlink->error, ret ? "refused" : "");
	return ret;
}

int vqp_netlink_make(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs)
{
	int ret = env.no_module ? -ENOPKG : kernel_ns_add(attrs, true);

	fuzz_check(cmd == VQP_CMD_NS_ADD);
	strcpy(netlink->error, ret ? "refused" : "");
	return ret;
}

int vqp_netlink_delete(struct vqp_netlink *netlink, const json_t *item)
{
	struct namespace key = { 0 };
	int i;

	strcpy(netlink->error, "refused");
	if (env.no_module)
		return -ENOPKG;
	parse_key(item, &key);
	i = kernel_find(key.tenant, key.gid);
	if (i < 0 || env.kernel[i].ino != json_integer_value(json_object_get(item, "netns_ino")) ||
	    strcmp(env.kernel[i].name, json_string_value(json_object_get(item, "name"))))
		return -ENOENT;
	kernel_remove(i);
	return 0;
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	char gid[VQP_ADDRESS_TEXT];

	fuzz_check(cmd == VQP_CMD_NS_GET);
	strcpy(netlink->error, "refused");
	*list = NULL;
	if (env.no_module)
		return -ENOPKG;
	*list = json_array();
	json_array_append_new(*list, json_pack("{s:i, s:s, s:i}", "tenant", 0, "gid", "fd00::1", "netns_ino", 1));
	for (unsigned int i = 0; i < env.count; i++)
		json_array_append_new(*list, json_pack("{s:I, s:s, s:s, s:I}", "tenant", (json_int_t)env.kernel[i].tenant,
						       "gid", vqp_address_format(env.kernel[i].gid, gid),
						       "name", env.kernel[i].name,
						       "netns_ino", (json_int_t)env.kernel[i].ino));
	return 0;
}

const char *vqp_netlink_error(const struct vqp_netlink *netlink)
{
	return netlink->error;
}

/* What comes with a request, which names it: "/0" is a descriptor, and "/" and more a bad one. */
static int passed(const json_t *request)
{
	const char *text = json_string_value(json_object_get(request, "passed"));

	if (!text || text[0] != '/')
		return -ENOENT;
	if (strlen(text) == 2 && text[1] >= '0' && text[1] <= '9')
		return FD + text[1] - '0';
	return text[1] ? -EINVAL : -EMFILE;
}

uint32_t vqp_netns_inode(int fd)
{
	return fd;
}

/* ---- The rest of the daemon ---- */

/* What it logs would slow everything down. */
void vqp_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

uint64_t vqp_loop_now_ms(void)
{
	return env.now_ms;
}

void vqp_meta_run(struct vqp_meta *meta)
{
	fuzz_check(meta == &env.d.metas[0]);
}

void vqp_meta_withdraw(struct vqp_meta *meta, const struct vqp_entry *entry)
{
	fuzz_check(meta == &env.d.metas[0] && entry);
}

/* The namespace that a client's add is about. */
static bool is_there(unsigned int i)
{
	return env.asked[i].tenant && kernel_find(env.asked[i].tenant, env.asked[i].gid) >= 0;
}

static void check_limits(const json_t *request, const json_t *reply)
{
	const json_t *limits = json_object_get(reply, "limits");
	const json_t *wish = json_object_get(json_object_get(request, "wish"), "limits");
	struct vqp_error error = { 0 };
	const char *name;
	json_t *value;

	fuzz_check(json_object_size(limits) == 5 && !vqp_limits_check(limits, &error));
	json_object_foreach((json_t *)wish, name, value)
		fuzz_check(json_equal(json_object_get(limits, name), value));
}

static void check_added(unsigned int i, const json_t *reply, bool at_once)
{
	const json_t *request = env.request[i], *wish = json_object_get(json_object_get(request, "wish"), "tenant");
	char gid[VQP_ADDRESS_TEXT];

	fuzz_check(env.asked[i].tenant && passed(request) >= 0);
	fuzz_check(json_is_boolean(json_object_get(reply, "published")));
	fuzz_check(json_integer_value(json_object_get(reply, "tenant")) == env.asked[i].tenant);
	fuzz_check(!wish || json_equal(json_object_get(reply, "tenant"), wish));
	fuzz_check(!strcmp(json_string_value(json_object_get(reply, "gid")), vqp_address_format(env.asked[i].gid, gid)));
	fuzz_check(json_integer_value(json_object_get(json_object_get(reply, "rule"), "number")) > 0);
	check_limits(request, reply);
	fuzz_check(!at_once || is_there(i));
}

static void check_told(const json_t *request, const json_t *reply)
{
	struct namespace asked;

	if (!json_object_get(request, "has")) {
		fuzz_check(json_is_boolean(json_object_get(reply, "by_annotation")));
		return;
	}
	fuzz_check(json_integer_value(json_object_get(reply, "tenant")) > 0);
	fuzz_check(!vqp_address_parse(json_string_value(json_object_get(reply, "address")), asked.gid));
	check_limits(request, reply);
}

static void check_success(unsigned int i, const json_t *reply, bool at_once)
{
	const json_t *request = env.request[i];
	const char *op = json_string_value(json_object_get(request, "op"));
	struct vqp_request checked;
	json_t *answer;

	if (!strcmp(op, "add")) {
		check_added(i, reply, at_once);
	} else if (!strcmp(op, "policy")) {
		check_told(request, reply);
	} else if (!strcmp(op, "del")) {
		answer = vqp_request_check_del(request, &checked);
		fuzz_check(!answer || json_equal(answer, reply));
		for (unsigned int n = 0; n < env.count && !env.no_module && !answer; n++)
			fuzz_check(!vqp_name_same(env.kernel[n].name, checked.name) || passed(request) >= 0);
		fuzz_check(answer || passed(request) >= 0 || passed(request) == -ENOENT);
		json_decref(answer);
	} else if (!strcmp(op, "list")) {
		fuzz_check(json_array_size(json_object_get(reply, "namespaces")) == env.count + 1);
	} else {
		fuzz_check(!strcmp(op, "status") && json_is_integer(json_object_get(reply, "namespaces")));
	}
}

static bool is_same(unsigned int i, unsigned int j)
{
	return env.asked[i].tenant && env.asked[i].tenant == env.asked[j].tenant &&
	       !memcmp(env.asked[i].gid, env.asked[j].gid, sizeof(env.asked[i].gid));
}

/* An add has come to nothing: it is another's that waits for the same, or is not there any more. */
static void come_to_nothing(unsigned int i)
{
	bool waits = false;

	for (unsigned int j = 0; j < CLIENTS && env.made[i]; j++) {
		if (j != i && env.request[j] && !env.lost[j] && is_same(i, j))
			waits = env.made[j] = true;
	}
	fuzz_check(!env.made[i] || waits || !is_there(i));
	env.made[i] = false;
}

/* An add has succeeded: nobody undoes it. */
static void disown(unsigned int client)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (env.request[i] && is_same(client, i))
			env.made[i] = false;
}

static void forget(unsigned int i)
{
	json_decref((json_t *)env.request[i]);
	env.request[i] = NULL;
}

bool vqp_server_answer(struct vqp_client *client, json_t *reply)
{
	const unsigned int i = client - env.clients;
	const json_t **request = &env.request[i];
	const bool at_once = client == env.serving, refused = !json_is_true(json_object_get(reply, "ok"));

	fuzz_check(*request && !env.lost[i] && json_is_boolean(json_object_get(reply, "ok")));
	if (at_once) {
		env.serving = NULL;
		env.refused = refused;
	}
	if (refused) {
		come_to_nothing(i);
		fuzz_check(json_is_string(json_object_get(reply, "errno")));
		fuzz_check(json_string_length(json_object_get(reply, "error")));
	} else {
		check_success(i, reply, at_once);
	}
	json_decref(reply);
	env.lost[i] = env.deaf;
	env.deaf = false;
	if (env.lost[i])
		return false;
	if (!refused && !strcmp(json_string_value(json_object_get(*request, "op")), "add"))
		disown(i);
	forget(i);
	return true;
}

/* ---- Events ---- */

static void check_lost(void)
{
	for (unsigned int i = 0; i < CLIENTS; i++) {
		if (env.lost[i]) {
			come_to_nothing(i);
			forget(i);
		}
		env.lost[i] = false;
	}
}

/* Inputs of the corpus say "tenant", "address" and "limits" of the container, as requests once did. */
static void make_claim(json_t *request)
{
	json_t *address = json_object_get(request, "address");
	json_t *wish;

	if (json_object_get(request, "has") || !address)
		return;
	wish = json_pack("{s:O*, s:O*}", "tenant", json_object_get(request, "tenant"), "limits", json_object_get(request, "limits"));
	json_object_set_new(request, "has", json_pack("{s:[O]}", "addresses", address));
	json_object_set_new(request, "wish", wish);
}

static void ask(json_t *json)
{
	struct namespace before[NAMESPACES_MAX];
	const unsigned int count = env.count;
	unsigned int i = 0;
	bool was_there;

	while (i < CLIENTS && env.request[i])
		i++;
	if (i == CLIENTS)
		return;			/* all wait; vqpd reads on when it has answered */
	memcpy(before, env.kernel, sizeof(before));
	env.request[i] = json_incref(json);
	/* Inputs of the corpus say "netns" for it, as requests once did. */
	json_object_set(json, "passed", json_object_get(json, "netns"));
	json_object_del(json, "netns");
	make_claim(json);
	if (passed(json) != -ENOENT)
		json_object_set_new(json, "netns", json_true());
	if (!decide(json, &env.asked[i]))
		env.asked[i].tenant = 0;
	was_there = is_there(i);
	env.serving = &env.clients[i];
	env.refused = false;
	env.clients[i].line.line_fd = passed(json);
	vqp_request_serve(&env.clients[i], json);
	fuzz_check(!env.serving || env.d.adds);
	env.serving = NULL;
	env.made[i] = env.request[i] && !was_there && is_there(i);
	if (env.refused) {
		fuzz_check(env.count == count);
		fuzz_check(!memcmp(before, env.kernel, count * sizeof(before[0])));
	}
}

static void mark(uint32_t held, uint32_t refused)
{
	struct vqp_entry *entry = NULL;

	while ((entry = vqp_registry_next(&env.d.registry, entry))) {
		entry->held = held;
		entry->refused = refused;
		entry->refused_err = refused ? ENOSPC : 0;
	}
	vqp_add_settle(&env.d);
}

static void client_gone(unsigned int i)
{
	if (!env.request[i])
		return;
	vqp_request_gone(&env.clients[i]);
	come_to_nothing(i);
	forget(i);
}

static void happen(json_int_t what)
{
	struct vqp_meta *meta = &env.d.metas[0];

	switch (what & 15) {
	case 0:
		mark(1, 0);
		break;
	case 1:
		mark(0, 1);
		break;
	case 2:
		meta->state = meta->state == VQP_META_UP ? VQP_META_DOWN : VQP_META_UP;
		break;
	case 3:
		meta->state = VQP_META_CONNECTING;
		meta->error[0] = what & 16 ? 'e' : '\0';
		break;
	case 4:
		env.now_ms += what & 0xfff;
			vqp_add_settle(&env.d);
		break;
	case 5:
		if (env.count)
			kernel_remove((what >> 4 & 15) % env.count);
		break;
	case 6:
		env.no_module = what & 16;
		env.count = 0;
		break;
	case 7:
		env.no_parent = what & 16;
		break;
	case 8:
		env.epoch++;
		break;
	case 9:
		client_gone((what >> 4 & 15) % CLIENTS);
		break;
	case 10:
		env.deaf = true;
		break;
	default:
		vqp_watch_look(&env.d);
		break;
	}
}

static void check_registry(void)
{
	struct vqp_entry *entry = NULL;
	unsigned int n = 0;

	while ((entry = vqp_registry_next(&env.d.registry, entry)))
		n++;
	fuzz_check(n == env.d.registry.count && n <= NAMESPACES_MAX + 1 + CLIENTS);
}

static void tables_changed(struct vqp_meta_owner *owner)
{
	(void)owner;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	json_t *json;

	memset(&env, 0, sizeof(env));
	env.now_ms = 1000;
	env.policy = strdup(POLICY);
	env.d.server.owner = &env.d;
	env.d.nmetas = 1;
	env.d.metas[0] = (struct vqp_meta){ .owner = &env.d.meta_owner, .bit = 1, .name = "m:1", .state = VQP_META_UP };
	env.d.meta_owner.tables_changed = tables_changed;
	for (unsigned int i = 0; i < CLIENTS; i++)
		env.clients[i].server = &env.d.server;
	vqp_watch_look(&env.d);
	while (fuzz_line(&in, &json)) {
		if (json_is_object(json))
			ask(json);
		else if (json_is_integer(json))
			happen(json_integer_value(json));
		else if (json_is_array(json))
			set_policy(json);
		json_decref(json);
		check_lost();
		check_registry();
	}
	for (unsigned int i = 0; i < CLIENTS; i++)
		client_gone(i);
	fuzz_check(!env.d.adds);
	vqp_registry_exit(&env.d.registry);
	json_decref(env.d.status);
	json_decref(env.d.meta_owner.dct);
	free(env.policy);
	return 0;
}
