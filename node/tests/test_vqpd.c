/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests to vqpd over its socket, before a kernel that is an array and a meta server that is told what it says. */
#define _GNU_SOURCE
#include "../../common/tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../common/netns.h"
#include "../vqpd/add.h"
#include "../vqpd/judge.h"
#include "../vqpd/request.h"
#include "../vqpd/watch.h"
#include "turn.h"

#define INO	1000	/* of every netns that is asked for */
#define ADD	"{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[\"10.1.0.2\"]}}\n"
#define POLICY	"{\"rules\":[{\"network\":\"blue\",\"tenant\":7,\"by_annotation\":true},\n" \
		"{\"subnet\":\"10.1.0.0/16\",\"tenant\":1,\"limits\":{\"max_vqps\":10}}]}"

struct fixture {
	struct vqpd d;
	char directory[64], path[80];
};

/* ---- The node's files ---- */

static const char *policy_text, *old_text;	/* NULL if the file is not there */

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error);

int __wrap_vqp_config_read(const char *path, char **text, size_t *bytes, struct vqp_error *error)
{
	const char *found = !strcmp(path, VQP_POLICY_FILE) ? policy_text : old_text;

	assert_true(!strcmp(path, VQP_POLICY_FILE) || !strcmp(path, VQP_CONFIG_FILE));
	if (!found)
		return vqp_error_set(error, -ENOENT, "it is not there");
	*text = strdup(found);
	*bytes = strlen(found);
	return *text ? 0 : vqp_error_set(error, -ENOMEM, "out of memory");
}

/* ---- The kernel ---- */

static json_t *kernel;		/* its namespaces, as NS_GET lists them */
static unsigned int meta_sets, meta_set_failures;	/* that have been, that are to come */

/* Where a namespace is in the list; -1 if it is not. */
static int find(const json_t *attrs)
{
	for (size_t i = 0; i < json_array_size(kernel); i++)
		if (json_equal(json_object_get(json_array_get(kernel, i), "gid"), json_object_get(attrs, "gid")))
			return i;
	return -1;
}

static int ns_add(const json_t *attrs, bool exclusive)
{
	json_t *item;

	if (find(attrs) >= 0) {
		json_object_set(json_array_get(kernel, find(attrs)), "max_vqps", json_object_get(attrs, "max_vqps"));
		json_object_set(json_array_get(kernel, find(attrs)), "sockets", json_object_get(attrs, "sockets"));
		return exclusive ? -EEXIST : 0;
	}
	item = json_pack("{s:O, s:O, s:O, s:O*, s:O*, s:i}", "tenant", json_object_get(attrs, "tenant"),
			 "gid", json_object_get(attrs, "gid"), "name", json_object_get(attrs, "name"),
			 "max_vqps", json_object_get(attrs, "max_vqps"),
			 "sockets", json_object_get(attrs, "sockets"), "netns_ino", INO);
	return json_array_append_new(kernel, item);
}

int vqp_netlink_delete(struct vqp_netlink *netlink, const json_t *item)
{
	int i = find(item);

	(void)netlink;
	if (i < 0 || !json_equal(json_object_get(json_array_get(kernel, i), "name"), json_object_get(item, "name")) ||
	    !json_equal(json_object_get(json_array_get(kernel, i), "netns_ino"), json_object_get(item, "netns_ino")))
		return -ENOENT;
	return json_array_remove(kernel, i);
}

int vqp_netlink_do(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs, json_t **reply)
{
	(void)netlink;
	switch (cmd) {
	case VQP_CMD_NS_ADD:
		return ns_add(attrs, false);
	case VQP_CMD_STATUS_GET:
		*reply = unit_json("{\"parent\":\"rxe0\",\"node_gid\":\"fd00::1\",\"epoch\":1,\"qkey\":2,\"lanes\":[3]}");
		return 0;
	case VQP_CMD_META_SET:
		meta_sets++;
		return meta_set_failures ? meta_set_failures--, -ENOMEM : 0;
	default:
		return -EOPNOTSUPP;
	}
}

int vqp_netlink_make(struct vqp_netlink *netlink, enum vqp_cmd cmd, const json_t *attrs)
{
	(void)netlink;
	assert_int_equal(cmd, VQP_CMD_NS_ADD);
	return ns_add(attrs, true);
}

int vqp_netlink_dump(struct vqp_netlink *netlink, enum vqp_cmd cmd, json_t **list)
{
	(void)netlink;
	assert_int_equal(cmd, VQP_CMD_NS_GET);
	*list = json_deep_copy(kernel);
	return 0;
}

const char *vqp_netlink_error(const struct vqp_netlink *netlink)
{
	(void)netlink;
	return "the kernel refused";
}

/* What the descriptors of requests are: 0 for network namespaces, or -EINVAL. */
static int passed_kind;

int vqp_netns_check(int fd)
{
	assert_true(fcntl(fd, F_GETFD) >= 0);
	return passed_kind;
}

uint32_t vqp_netns_inode(int fd)
{
	(void)fd;
	return INO;
}

/* What vqpd logged last. */
static char logged[512];

void vqp_log(int level, const char *format, ...)
{
	va_list args;

	if (level == LOG_DEBUG)
		return;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
}

/* ---- The daemon and its clients ---- */

static void changed(struct vqp_meta_owner *owner)
{
	(void)owner;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct vqpd *d;

	assert_non_null(f);
	d = &f->d;
	strcpy(f->directory, "/tmp/vqp-test-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/sock", f->directory);
	kernel = json_array();
	policy_text = POLICY;
	old_text = NULL;
	logged[0] = '\0';
	d->server.owner = d;
	d->server.request = vqp_request_serve;
	d->server.gone = vqp_request_gone;
	d->server.refused = vqp_request_refused;
	d->meta_owner = (struct vqp_meta_owner){
		.loop = &d->loop, .registry = &d->registry, .tables_changed = changed, .entries_changed = changed,
	};
	assert_int_equal(vqp_loop_init(&d->loop), 0);
	assert_int_equal(vqp_meta_init(&d->metas[0], &d->meta_owner, 0, "127.0.0.1:7471"), 0);
	/* It is busy with something: what it says of entries is up to the test. */
	d->metas[0].state = VQP_META_UP;
	d->metas[0].info = json_object();
	d->metas[0].asked = json_object();
	d->nmetas = 1;
	vqp_watch_look(d);
	assert_int_equal(vqp_server_listen_unix(&d->server, &d->loop, f->path), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct vqpd *d = &f->d;

	vqp_server_exit(&d->server);
	assert_null(d->adds);
	vqp_line_init(&d->metas[0].line, -1, VQP_LINE_REPLY_MAX);
	vqp_meta_exit(&d->metas[0]);
	vqp_registry_exit(&d->registry);
	json_decref(d->meta_owner.dct);
	json_decref(d->status);
	json_decref(kernel);
	vqp_loop_exit(&d->loop);
	unlink(f->path);
	rmdir(f->directory);
	free(f);
	return 0;
}

static void turn(struct fixture *f)
{
	unit_turn(&f->d.loop, 0);
}

/* A client that has asked, with a network namespace, and whom nobody has heard yet. */
static int ask(struct fixture *f, const char *request)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	unit_send(fd, request, STDIN_FILENO, 1);
	return fd;
}

static int add(struct fixture *f)
{
	return ask(f, ADD);
}

static int add_now(struct fixture *f)
{
	int fd = add(f);

	turn(f);
	return fd;
}

static void leave(struct fixture *f, int fd)
{
	unit_hang_up(fd);
	turn(f);
}

/* What the meta server has said of all that there is. */
static void mark(struct fixture *f, uint32_t held, uint32_t refused)
{
	struct vqp_entry *entry = NULL;

	while ((entry = vqp_registry_next(&f->d.registry, entry))) {
		entry->held = held;
		entry->refused = refused;
		entry->refused_err = EADDRINUSE;
	}
	vqp_add_settle(&f->d);
}

/* A client's answer, after which it leaves. */
static json_t *answer_of(int fd)
{
	char text[1024];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(n > 0);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(fd);
	return unit_json(text);
}

/* `name` is "errno" of a refusal, or NULL. */
static void assert_answer(int fd, const char *name)
{
	json_t *answer = answer_of(fd);

	assert_int_equal(json_is_true(json_object_get(answer, "ok")), !name);
	if (name)
		unit_assert_string(answer, "errno", name);
	json_decref(answer);
}

/* The answer to a request is this, and for a refusal this part of its text. */
static void answers(struct fixture *f, const char *request, const char *expected, const char *part)
{
	int fd = ask(f, request);
	json_t *answer, *wanted = unit_json(expected);

	turn(f);
	answer = answer_of(fd);
	if (part)
		assert_non_null(strstr(json_string_value(json_object_get(answer, "error")), part));
	json_object_del(answer, "error");
	if (!json_equal(answer, wanted)) {
		json_dumpf(answer, stderr, JSON_SORT_KEYS);
		fail();
	}
	json_decref(answer);
	json_decref(wanted);
}

static size_t count(void)
{
	return json_array_size(kernel);
}

/* ---- Tests ---- */

static void a_network_namespace_comes_as_a_descriptor(void **state)
{
	struct fixture *f = *state;
	int fd = ask(f, "{\"op\":\"bogus\"}\n");	/* the descriptor goes with this one */

	turn(f);
	assert_answer(dup(fd), "EOPNOTSUPP");
	unit_send(fd, ADD, -1, 0);
	turn(f);
	assert_int_equal(count(), 0);
	assert_answer(fd, "EINVAL");
	fd = add_now(f);
	assert_int_equal(count(), 1);
	leave(f, fd);
}

static void an_add_that_is_undone_leaves_what_has_come_to_the_address(void **state)
{
	struct fixture *f = *state;
	int fd = add_now(f);

	json_object_set_new(json_array_get(kernel, 0), "name", json_string("c2/eth0"));
	leave(f, fd);
	assert_int_equal(count(), 1);
}

static void a_del_by_what_is_no_network_namespace_deletes_nothing(void **state)
{
	static const char *const del = "{\"op\":\"del\",\"id\":\"c1\",\"ifname\":\"eth0\",\"netns\":true}\n";
	struct fixture *f = *state;
	int fd;

	f->d.metas[0].state = VQP_META_DOWN;	/* so that the answer is given at once */
	assert_answer(add_now(f), NULL);
	passed_kind = -EINVAL;
	fd = ask(f, del);
	turn(f);
	assert_answer(fd, "EINVAL");
	passed_kind = 0;
	fd = ask(f, "{\"op\":\"list\"}\n");
	turn(f);
	assert_answer(dup(fd), NULL);
	unit_send(fd, del, -1, 0);		/* It says that it has a descriptor, which was lost. */
	turn(f);
	assert_answer(fd, "EINVAL");
	assert_int_equal(count(), 1);
	fd = ask(f, del);
	turn(f);
	assert_answer(fd, NULL);
	assert_int_equal(count(), 0);
}

static void who_leaves_before_the_answer_has_never_been(void **state)
{
	struct fixture *f = *state;
	int fd = add_now(f);

	assert_int_equal(count(), 1);
	leave(f, fd);
	assert_int_equal(count(), 0);
}

static void who_has_left_before_being_heard_has_never_been(void **state)
{
	struct fixture *f = *state;

	f->d.metas[0].state = VQP_META_DOWN;	/* so that the answer is given at once */
	leave(f, add(f));
	assert_int_equal(count(), 0);
	assert_answer(add_now(f), NULL);
	assert_int_equal(count(), 1);
	leave(f, add(f));
	assert_int_equal(count(), 1);
}

static void of_those_that_wait_for_the_same_the_last_undoes_it(void **state)
{
	struct fixture *f = *state;

	for (int newest_first = 0; newest_first < 2; newest_first++) {
		int fds[] = { add_now(f), add_now(f) };

		leave(f, fds[newest_first]);
		assert_int_equal(count(), 1);
		leave(f, fds[!newest_first]);
		assert_int_equal(count(), 0);
	}
}

static void of_those_that_wait_for_the_same_all_are_refused(void **state)
{
	struct fixture *f = *state;
	int fds[] = { add_now(f), add_now(f) };

	mark(f, 0, 1);
	assert_answer(fds[0], "EADDRINUSE");
	assert_answer(fds[1], "EADDRINUSE");
	assert_int_equal(count(), 0);
}

/* The first has waited for long enough, and is told that it is there. */
static void what_one_client_has_is_not_undone_with_another(void **state)
{
	struct fixture *f = *state;
	struct pollfd first = { .fd = add_now(f), .events = POLLIN };
	int second;

	usleep(50000);
	second = add_now(f);
	while (poll(&first, 1, 10) == 0)
		vqp_add_settle(&f->d);
	assert_answer(first.fd, NULL);
	leave(f, second);
	assert_int_equal(count(), 1);
}

static void what_is_refused_is_removed(void **state)
{
	struct fixture *f = *state;
	int fd = add_now(f);

	mark(f, 0, 1);
	assert_answer(fd, "EADDRINUSE");
	assert_int_equal(count(), 0);
}

/* An administrator makes what is asked for next, before vqpd has looked. */
static int add_what_is_there(struct fixture *f)
{
	json_t *attrs = unit_json("{\"tenant\":1,\"gid\":\"::ffff:10.1.0.2\",\"name\":\"mine\"}");

	assert_int_equal(ns_add(attrs, true), 0);
	json_decref(attrs);
	return add_now(f);
}

static void what_an_administrator_has_just_made_stays(void **state)
{
	struct fixture *f = *state;
	int fd = add_what_is_there(f);

	leave(f, fd);
	assert_int_equal(count(), 1);
	fd = add_now(f);
	mark(f, 0, 1);
	assert_answer(fd, "EADDRINUSE");
	assert_int_equal(count(), 1);
}

static void what_has_just_gone_is_made_anew(void **state)
{
	struct fixture *f = *state;
	int fd = add_now(f);

	mark(f, 1, 0);
	assert_answer(fd, NULL);
	json_array_clear(kernel);	/* with its netns, whose number the next one has */
	fd = add_now(f);
	mark(f, 0, 1);
	assert_answer(fd, "EADDRINUSE");
	assert_int_equal(count(), 0);
}

static void tables_that_the_kernel_did_not_take_are_given_again(void **state)
{
	struct fixture *f = *state;

	meta_sets = 0;
	meta_set_failures = 2;
	vqp_watch_set_tables(&f->d);
	for (int look = 0; look < 4; look++)
		vqp_watch_look(&f->d);
	assert_int_equal(meta_sets, 3);
}

static void an_add_waits_for_the_first_lookup_of_a_name(void **state)
{
	struct fixture *f = *state;
	struct vqp_meta *meta = &f->d.metas[0];
	int fd;

	meta->state = VQP_META_DOWN;
	meta->resolver.asked = true;
	fd = add_now(f);
	assert_non_null(f->d.adds);
	strcpy(meta->error, "its name is being looked up");	/* for long */
	vqp_add_settle(&f->d);
	turn(f);
	assert_answer(fd, NULL);
	meta->resolver.asked = false;
	assert_int_equal(count(), 1);
}

static void what_is_refused_is_logged(void **state)
{
	struct fixture *f = *state;
	int fd = add_now(f);

	mark(f, 0, 1);
	turn(f);
	assert_answer(fd, "EADDRINUSE");
	assert_string_equal(logged, "refused to add c1/eth0: another node has announced this address: "
			    "give every container its own");
	fd = ask(f, "{\"op\":\"bogus\"}\n");
	turn(f);
	assert_answer(fd, "EOPNOTSUPP");
	assert_string_equal(logged, "refused a request: bogus is none of add, del, list, policy, status");
}

#define UNLIMITED	"\"max_mrs\":\"unlimited\",\"max_bytes\":\"unlimited\",\"max_rate\":\"unlimited\",\"priority\":2"
#define EPERM_ANSWER	"{\"ok\":false,\"errno\":\"EPERM\"}"
#define NO_ADDRESS	"{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[]}}\n"

static json_int_t max_vqps(void)
{
	return json_integer_value(json_object_get(json_array_get(kernel, 0), "max_vqps"));
}

static void the_policy_decides_the_terms(void **state)
{
	struct fixture *f = *state;

	f->d.metas[0].state = VQP_META_DOWN;	/* so that the answer is given at once */
	answers(f, ADD, "{\"ok\":true,\"gid\":\"::ffff:10.1.0.2\",\"tenant\":1,\"published\":false,"
		"\"limits\":{\"max_vqps\":10," UNLIMITED "},\"sockets\":false,\"rule\":{\"number\":2,\"line\":2}}", NULL);
	assert_int_equal(max_vqps(), 10);
	answers(f, "{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[\"10.1.0.2\"]},"
		"\"wish\":{\"limits\":{\"max_vqps\":3}}}\n",
		"{\"ok\":true,\"gid\":\"::ffff:10.1.0.2\",\"tenant\":1,\"published\":false,"
		"\"limits\":{\"max_vqps\":3," UNLIMITED "},\"sockets\":false,\"rule\":{\"number\":2,\"line\":2}}", NULL);
	assert_int_equal(max_vqps(), 3);
}

static void the_policy_decides_about_sockets_and_the_kernel_is_told(void **state)
{
	struct fixture *f = *state;

	f->d.metas[0].state = VQP_META_DOWN;	/* as above */
	assert_answer(add_now(f), NULL);
	assert_true(json_is_false(json_object_get(json_array_get(kernel, 0), "sockets")));
	policy_text = "{\"rules\":[{\"subnet\":\"any\",\"tenant\":1,\"sockets\":{\"only\":[\"80\"]}}]}";
	answers(f, ADD, "{\"ok\":true,\"gid\":\"::ffff:10.1.0.2\",\"tenant\":1,\"published\":false,"
		"\"limits\":{\"max_vqps\":\"unlimited\"," UNLIMITED "},\"sockets\":{\"only\":[\"80\"]},\"rule\":{\"number\":1,\"line\":1}}", NULL);
	assert_true(json_is_object(json_object_get(json_array_get(kernel, 0), "sockets")));
	/* With the word in the policy they go, too. */
	policy_text = POLICY;
	assert_answer(add_now(f), NULL);
	assert_true(json_is_false(json_object_get(json_array_get(kernel, 0), "sockets")));
	answers(f, "{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[\"10.1.0.2\"]},"
		"\"wish\":{\"sockets\":true}}\n", EPERM_ANSWER, "rule 2 of /etc/vqp/policy.json (line 2): sockets are asked for");
}

static void the_policy_is_read_anew_for_each(void **state)
{
	struct fixture *f = *state;

	f->d.metas[0].state = VQP_META_DOWN;	/* as above */
	policy_text = NULL;
	answers(f, ADD, EPERM_ANSWER, "this node has no policy");
	policy_text = "{\"rules\":[]}";
	answers(f, ADD, EPERM_ANSWER, "no rule of /etc/vqp/policy.json is for a container of no CNI network");
	policy_text = "{\"rules\":[{}]}";
	answers(f, ADD, "{\"ok\":false,\"errno\":\"EINVAL\"}", "/etc/vqp/policy.json: rule 1 (line 1)");
	assert_int_equal(count(), 0);
	policy_text = POLICY;
	assert_answer(add_now(f), NULL);
	assert_int_equal(count(), 1);
	/* What has been made stays, but is not given once more. */
	policy_text = "{\"rules\":[{\"subnet\":\"any\",\"tenant\":2}]}";
	assert_answer(add_now(f), "EEXIST");
	policy_text = "{\"rules\":[{\"subnet\":\"any\",\"tenant\":1,\"limits\":{\"max_vqps\":20}}]}";
	assert_answer(add_now(f), NULL);
	assert_int_equal(max_vqps(), 20);
	assert_int_equal(count(), 1);
}

static void a_wish_beyond_the_policy_is_refused(void **state)
{
	struct fixture *f = *state;

	answers(f, "{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"has\":{\"addresses\":[\"10.1.0.2\"]},"
		"\"wish\":{\"tenant\":7}}\n", EPERM_ANSWER, "rule 2 of /etc/vqp/policy.json (line 2): tenant 7");
	assert_int_equal(count(), 0);
	assert_non_null(strstr(logged, "refused to add c1/eth0: rule 2 of"));
}

/* The hook lets a container start without network and without VQP namespace, on whatever node. */
static void without_an_address_there_is_nothing_to_decide(void **state)
{
	struct fixture *f = *state;

	answers(f, NO_ADDRESS, "{\"ok\":false,\"errno\":\"EADDRNOTAVAIL\"}", "has no address");
	policy_text = NULL;
	answers(f, NO_ADDRESS, "{\"ok\":false,\"errno\":\"EADDRNOTAVAIL\"}", "has no address");
}

static void a_client_of_another_version_is_refused(void **state)
{
	struct fixture *f = *state;

	answers(f, "{\"op\":\"add\",\"id\":\"c1\",\"ifname\":\"eth0\",\"tenant\":1,\"address\":\"10.1.0.2\"}\n",
		"{\"ok\":false,\"errno\":\"EINVAL\"}", "is the client of another version than vqpd?");
	assert_int_equal(count(), 0);
}

static void who_asks_is_told_what_an_add_would_get(void **state)
{
	struct fixture *f = *state;

	answers(f, "{\"op\":\"policy\",\"has\":{\"network\":\"blue\",\"addresses\":[\"fd00::2\"]}}\n",
		"{\"ok\":true,\"tenant\":7,\"address\":\"fd00::2\",\"limits\":{\"max_vqps\":\"unlimited\"," UNLIMITED
		"},\"sockets\":false,\"rule\":{\"number\":1,\"line\":1}}", NULL);
	answers(f, "{\"op\":\"policy\",\"has\":{\"addresses\":[\"fd00::2\"]}}\n", EPERM_ANSWER, "no rule of");
	answers(f, "{\"op\":\"policy\",\"has\":{\"addresses\":[\"10.1.0.2\"]},\"wish\":{\"tenant\":2}}\n", EPERM_ANSWER,
		"rule 2 of");
	answers(f, "{\"op\":\"policy\",\"has\":{\"addresses\":[]}}\n", "{\"ok\":false,\"errno\":\"EADDRNOTAVAIL\"}", NULL);
	answers(f, "{\"op\":\"policy\",\"has\":7}\n", "{\"ok\":false,\"errno\":\"EINVAL\"}", NULL);
	answers(f, "{\"op\":\"policy\"}\n", "{\"ok\":false,\"errno\":\"EINVAL\"}", "\"network\"");
	assert_int_equal(count(), 0);
	assert_string_equal(logged, "");	/* Nobody has been refused anything. */
}

static void who_asks_is_told_of_a_network_list(void **state)
{
	struct fixture *f = *state;

	answers(f, "{\"op\":\"policy\",\"network\":\"blue\"}\n", "{\"ok\":true,\"by_annotation\":true}", NULL);
	answers(f, "{\"op\":\"policy\",\"network\":\"green\"}\n", "{\"ok\":true,\"by_annotation\":false}", NULL);
	policy_text = "{\"rules\":[{\"network\":\"blue\",\"tenant\":7}]}";
	answers(f, "{\"op\":\"policy\",\"network\":\"green\"}\n", EPERM_ANSWER, "network green");
	policy_text = NULL;
	answers(f, "{\"op\":\"policy\",\"network\":\"blue\"}\n", EPERM_ANSWER, "no policy");
}

/* "policy" of the answer to status is this. */
static void tells(struct fixture *f, const char *expected)
{
	int fd = ask(f, "{\"op\":\"status\"}\n");
	json_t *answer, *wanted = unit_json(expected);

	turn(f);
	answer = answer_of(fd);
	assert_true(json_equal(json_object_get(answer, "policy"), wanted));
	json_decref(answer);
	json_decref(wanted);
}

static void status_tells_which_policy_there_is(void **state)
{
	struct fixture *f = *state;

	tells(f, "{\"file\":\"/etc/vqp/policy.json\",\"old\":false,\"rules\":2}");
	old_text = "{\"tenant\":3}";
	tells(f, "{\"file\":\"/etc/vqp/policy.json\",\"old\":false,\"rules\":2}");
	assert_string_equal(logged, "");
	policy_text = NULL;
	tells(f, "{\"file\":\"/etc/vqp/runtime.json\",\"old\":true,\"rules\":1}");
	old_text = "{\"tenant\":0}";
	tells(f, "{\"error\":\"/etc/vqp/runtime.json: \\\"tenant\\\" must be a number from 1 to 4294967295\"}");
}

static void an_old_policy_is_logged_when_it_begins(void **state)
{
	struct fixture *f = *state;

	f->d.metas[0].state = VQP_META_DOWN;	/* so that the answer is given at once */
	policy_text = NULL;
	vqp_judge_start(&f->d);
	assert_non_null(strstr(logged, "this node has no policy"));
	for (int round = 0; round < 2; round++) {
		old_text = "{\"tenant\":1}";
		assert_answer(add_now(f), NULL);
		assert_non_null(strstr(logged, "the policy is taken from /etc/vqp/runtime.json"));
		logged[0] = '\0';
		vqp_judge_start(&f->d);
		assert_string_equal(logged, "");
		policy_text = POLICY;
		vqp_judge_start(&f->d);
		policy_text = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_network_namespace_comes_as_a_descriptor),
		TEST(an_add_that_is_undone_leaves_what_has_come_to_the_address),
		TEST(a_del_by_what_is_no_network_namespace_deletes_nothing),
		TEST(who_leaves_before_the_answer_has_never_been),
		TEST(who_has_left_before_being_heard_has_never_been),
		TEST(of_those_that_wait_for_the_same_the_last_undoes_it),
		TEST(of_those_that_wait_for_the_same_all_are_refused),
		TEST(what_one_client_has_is_not_undone_with_another),
		TEST(what_is_refused_is_removed),
		TEST(what_is_refused_is_logged),
		TEST(an_add_waits_for_the_first_lookup_of_a_name),
		TEST(what_an_administrator_has_just_made_stays),
		TEST(what_has_just_gone_is_made_anew),
		TEST(the_policy_decides_the_terms),
		TEST(the_policy_decides_about_sockets_and_the_kernel_is_told),
		TEST(the_policy_is_read_anew_for_each),
		TEST(a_wish_beyond_the_policy_is_refused),
		TEST(without_an_address_there_is_nothing_to_decide),
		TEST(a_client_of_another_version_is_refused),
		TEST(who_asks_is_told_what_an_add_would_get),
		TEST(who_asks_is_told_of_a_network_list),
		TEST(status_tells_which_policy_there_is),
		TEST(an_old_policy_is_logged_when_it_begins),
		TEST(tables_that_the_kernel_did_not_take_are_given_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
