// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <errno.h>
#include <linux/vqp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sockets.h"

#define DIGITS	"0123456789"

enum { ONLY, EXCEPT, LISTS };

static const char *const names[LISTS] = { [ONLY] = VQP_SOCKETS_ONLY, [EXCEPT] = VQP_SOCKETS_EXCEPT };

/* The rules of a list; none if it is not there. */
struct set {
	struct vqp_sockets_rule rules[VQP_SOCKETS_RULES_MAX];
	size_t count;
};

/* ---- Rules ---- */

/* A rule is of ports or of peers. */
static bool is_of_ports(const struct vqp_sockets_rule *rule)
{
	return rule->port;
}

/* Returns what follows the port; NULL if there is none. */
static const char *take_port(const char *text, uint16_t *port)
{
	const size_t digits = strspn(text, DIGITS);
	const unsigned long value = strtoul(text, NULL, 10);

	*port = value;
	return digits && value && value <= UINT16_MAX ? text + digits : NULL;
}

static int parse_ports(struct vqp_sockets_rule *rule, const char *text)
{
	const char *end = take_port(text, &rule->port);

	rule->last = rule->port;
	if (end && *end == '-')
		end = take_port(end + 1, &rule->last);
	return end && !*end && rule->port <= rule->last ? 0 : -EINVAL;
}

int vqp_sockets_rule_parse(struct vqp_sockets_rule *rule, const char *text)
{
	*rule = (struct vqp_sockets_rule){ 0 };
	/* Each address has something else in it. */
	if (!text[strspn(text, DIGITS "-")])
		return parse_ports(rule, text);
	return vqp_subnet_parse(&rule->peers, text);
}

char *vqp_sockets_rule_format(const struct vqp_sockets_rule *rule, char text[VQP_SOCKETS_RULE_TEXT])
{
	if (!is_of_ports(rule))
		return vqp_subnet_format(&rule->peers, text);
	if (rule->port == rule->last)
		sprintf(text, "%u", rule->port);
	else
		sprintf(text, "%u-%u", rule->port, rule->last);
	return text;
}

/* Does the rule match whatever the other one does? */
static bool includes(const struct vqp_sockets_rule *rule, const struct vqp_sockets_rule *other)
{
	if (is_of_ports(rule) != is_of_ports(other))
		return false;
	if (!is_of_ports(rule))
		return vqp_subnet_includes(&rule->peers, &other->peers);
	return rule->port <= other->port && other->last <= rule->last;
}

/* Makes the rule match what the next one in the set matches, too, and nothing else. False if no rule does. */
static bool join(struct vqp_sockets_rule *rule, const struct vqp_sockets_rule *next)
{
	if (is_of_ports(rule) != is_of_ports(next))
		return false;
	if (!is_of_ports(rule))
		return vqp_subnet_join(&rule->peers, &next->peers);
	if (next->port > rule->last + 1)
		return false;
	if (next->last > rule->last)
		rule->last = next->last;
	return true;
}

/* ---- Sets of rules ---- */

/* Ports come before peers, and each in their order, a subnet before those that it includes. */
static int compare(const void *one, const void *other)
{
	const struct vqp_sockets_rule *a = one, *b = other;
	const int order = memcmp(a->peers.gid, b->peers.gid, sizeof(a->peers.gid));

	if (is_of_ports(a) != is_of_ports(b))
		return is_of_ports(a) ? -1 : 1;
	if (a->port != b->port)
		return a->port - b->port;
	return order ? order : (int)a->peers.bits - (int)b->peers.bits;
}

/* Sorts the rules, and makes one of each two that can be one, so that equal sets have the same rules. */
static void unify(struct set *set)
{
	const size_t count = set->count;

	qsort(set->rules, count, sizeof(*set->rules), compare);
	set->count = 0;
	for (size_t i = 0; i < count; i++) {
		set->rules[set->count++] = set->rules[i];
		while (set->count > 1 && join(&set->rules[set->count - 2], &set->rules[set->count - 1]))
			set->count--;
	}
}

/* Does a rule of the set include this one? */
static bool set_includes(const struct set *set, const struct vqp_sockets_rule *rule)
{
	for (size_t i = 0; i < set->count; i++)
		if (includes(&set->rules[i], rule))
			return true;
	return false;
}

/* Does the set have rules of ports, or of peers? */
static bool set_has_any(const struct set *set, bool ports)
{
	for (size_t i = 0; i < set->count; i++)
		if (is_of_ports(&set->rules[i]) == ports)
			return true;
	return false;
}

/* Is each rule of the other set included in one of the set? */
static bool set_includes_all(const struct set *set, const struct set *other)
{
	for (size_t i = 0; i < other->count; i++)
		if (!set_includes(set, &other->rules[i]))
			return false;
	return true;
}

/*
 * As "only", does the set let all ports, or all peers, that the other one lets? A set that has no rule
 * of ports lets all of them, and so with peers.
 */
static bool only_includes(const struct set *set, const struct set *other, bool ports)
{
	if (!set_has_any(set, ports))
		return true;
	if (!set_has_any(other, ports))
		return false;
	for (size_t i = 0; i < other->count; i++)
		if (is_of_ports(&other->rules[i]) == ports && !set_includes(set, &other->rules[i]))
			return false;
	return true;
}

/* ---- What is said in JSON ---- */

static int read_rule(struct vqp_sockets_rule *rule, const json_t *said, const char *name, struct vqp_error *error)
{
	const char *text = json_string_value(said);
	const int ret = text ? vqp_sockets_rule_parse(rule, text) : -EINVAL;

	if (ret == -ERANGE)
		return vqp_error_set(error, -EINVAL, "\"%s\" of \"sockets\": \"%s\" " VQP_SUBNET_HAS_V4, name, text);
	if (ret)
		return vqp_error_set(error, -EINVAL, "\"%s\" of \"sockets\" has strings, as \"80\", \"8000-8999\", \"10.1.0.0/16\" or "
				     "\"fd00::/64\"%s%s%s", name, text ? ", not \"" : "", text ? text : "", text ? "\"" : "");
	return 0;
}

/* Reads a list, which has no more rules than a set, into an empty set. 0 or -EINVAL. */
static int read_set(struct set *set, const json_t *list, const char *name, struct vqp_error *error)
{
	const json_t *said;
	size_t i;

	json_array_foreach(list, i, said)
		if (read_rule(&set->rules[set->count++], said, name, error))
			return error->code;
	/* An empty "only" could be meant as nothing, or as everything. */
	if (!set->count)
		return vqp_error_set(error, -EINVAL, "\"%s\" of \"sockets\" must be a list that is not empty", name);
	unify(set);
	return 0;
}

/* Checks that the object has lists, and nothing else, which have no more rules than may be. 0 or -EINVAL. */
static int check_lists(const json_t *said, struct vqp_error *error)
{
	size_t count = 0, members = 0;

	for (size_t i = 0; i < LISTS; i++) {
		members += json_object_get(said, names[i]) != NULL;
		count += json_array_size(json_object_get(said, names[i]));
	}
	if (!members || members != json_object_size(said))
		return vqp_error_set(error, -EINVAL, "\"sockets\" must be true, false, or an object of \"" VQP_SOCKETS_ONLY "\" and \""
				     VQP_SOCKETS_EXCEPT "\"");
	if (count > VQP_SOCKETS_RULES_MAX)
		return vqp_error_set(error, -EINVAL, "\"sockets\" has %zu ports and subnets, and at most %d can be: take larger ones",
				     count, VQP_SOCKETS_RULES_MAX);
	return 0;
}

static int read_sets(struct set sets[LISTS], const json_t *said, struct vqp_error *error)
{
	int ret = check_lists(said, error);

	for (size_t i = 0; !ret && i < LISTS; i++) {
		const json_t *list = json_object_get(said, names[i]);

		sets[i].count = 0;
		ret = list ? read_set(&sets[i], list, names[i], error) : 0;
	}
	return ret;
}

/* Returns the set as a list, a new value; NULL without memory. */
static json_t *say_set(const struct set *set)
{
	json_auto_t *list = json_array();
	char text[VQP_SOCKETS_RULE_TEXT];

	for (size_t i = 0; i < set->count; i++)
		if (json_array_append_new(list, json_string(vqp_sockets_rule_format(&set->rules[i], text))))
			return NULL;
	return json_incref(list);
}

static json_t *say_sets(const struct set sets[LISTS], struct vqp_error *error)
{
	json_auto_t *said = json_object();
	bool ok = said;

	for (size_t i = 0; ok && i < LISTS; i++)
		ok = !sets[i].count || !json_object_set_new(said, names[i], say_set(&sets[i]));
	if (ok)
		return json_incref(said);
	vqp_error_set(error, -ENOMEM, "out of memory");
	return NULL;
}

json_t *vqp_sockets_read(const json_t *said, struct vqp_error *error)
{
	struct set sets[LISTS];

	if (json_is_boolean(said))
		return json_boolean(json_is_true(said));
	return read_sets(sets, said, error) ? NULL : say_sets(sets, error);
}

/* ---- What is said in a text ---- */

/* Returns the list that the text names in front, which is made if need be, and skips the name; NULL if it names none. */
static json_t *find_list(json_t *said, const char **text)
{
	for (size_t i = 0; i < LISTS; i++) {
		const size_t length = strlen(names[i]);

		if (strncmp(*text, names[i], length) || (*text)[length] != ':')
			continue;
		*text += length + 1;
		if (!json_object_get(said, names[i]))
			json_object_set_new(said, names[i], json_array());
		return json_object_get(said, names[i]);
	}
	return NULL;
}

/* Splits a text of lists; what it has in them is not looked at. NULL if it has none. */
static json_t *split(const char *text)
{
	json_auto_t *said = json_object();
	json_t *list = NULL, *named;
	size_t length;

	do {
		named = find_list(said, &text);
		list = named ? named : list;
		length = strcspn(text, ",");
		if (!list || json_array_append_new(list, json_stringn(text, length)))
			return NULL;
		text += length;
	} while (*text++);
	return json_incref(said);
}

json_t *vqp_sockets_parse(const char *text, struct vqp_error *error)
{
	json_auto_t *said = NULL;

	if (!strcmp(text, "on") || !strcmp(text, "off"))
		return json_boolean(!strcmp(text, "on"));
	said = split(text);
	if (said)
		return vqp_sockets_read(said, error);
	vqp_error_set(error, -EINVAL, "sockets are \"on\", \"off\", or as \"" VQP_SOCKETS_ONLY ":80,10.1.0.0/16,"
		      VQP_SOCKETS_EXCEPT ":22\", not \"%s\"", text);
	return NULL;
}

char *vqp_sockets_format(const json_t *sockets)
{
	char *text = NULL;
	const json_t *item;
	size_t bytes, j;
	FILE *out;

	if (!json_is_object(sockets))
		return strdup(json_is_true(sockets) ? "on" : "off");
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	for (size_t i = 0; i < LISTS; i++)
		json_array_foreach(json_object_get(sockets, names[i]), j, item)
			fprintf(out, "%s%s%s%s", ftell(out) ? "," : "", j ? "" : names[i], j ? "" : ":", json_string_value(item));
	fclose(out);
	return text;
}

/* ---- What may be asked for ---- */

static bool sets_include(const struct set sets[LISTS], const struct set others[LISTS])
{
	return only_includes(&sets[ONLY], &others[ONLY], true) && only_includes(&sets[ONLY], &others[ONLY], false) &&
	       set_includes_all(&others[EXCEPT], &sets[EXCEPT]);
}

bool vqp_sockets_include(const json_t *sockets, const json_t *other)
{
	cleanup_error struct vqp_error error = { 0 };
	struct set sets[LISTS], others[LISTS];

	if (json_is_boolean(sockets) || json_is_boolean(other))
		return json_is_true(sockets) || json_is_false(other);
	return !read_sets(sets, sockets, &error) && !read_sets(others, other, &error) && sets_include(sets, others);
}

bool vqp_sockets_lower(json_t **granted, json_t *asked)
{
	if (json_is_true(asked))
		return !json_is_false(*granted);
	if (!vqp_sockets_include(*granted, asked))
		return false;
	json_decref(*granted);
	*granted = json_incref(asked);
	return true;
}
