/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts that the commands of vqpctl share. */
#ifndef VQPCTL_CTL_H
#define VQPCTL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../common/error.h"
#include "../../common/netlink.h"

/* The values of a limit in struct ctl_args that was not given, and of one that is "unlimited". */
#define CTL_NOT_GIVEN	(-1)
#define CTL_UNLIMITED	(-2)

#define CTL_ADDRESSES_MAX	64
#define CTL_ANNOTATIONS_MAX	64

/* The command line of a command. Strings that were not given are NULL. */
struct ctl_args {
	bool json, dry_run, remove, full, all, force, without_policy;
	bool has_tenant;
	uint32_t tenant;
	uint32_t count;
	int64_t max_vqps, max_mrs, max_bytes, max_rate;	/* or CTL_NOT_GIVEN, CTL_UNLIMITED */
	uint8_t priority;	/* 0 if it was not given */
	uint32_t pid;		/* likewise */
	const char *sockets;	/* as vqp_sockets_parse() takes it; NULL if it was not given */
	const char *netns, *address, *name, *socket, *device, *bundle, *config, *container, *network;
	const char *addresses[CTL_ADDRESSES_MAX];	/* each --address; `address` is the last one */
	unsigned int naddresses;
	const char *annotations[CTL_ANNOTATIONS_MAX];	/* each --annotation, as KEY=VALUE */
	unsigned int nannotations;
	char **words;		/* the arguments that are no options */
	int nwords;
};

struct ctl_command {
	const char *noun, *verb;	/* verb is NULL if there is none */
	const char *options;		/* the letters of its options, without --json and --help */
	int min_words, max_words;
	const char *usage;		/* the text behind noun and verb */
	const char *summary;
	int (*run)(const struct ctl_args *args);	/* returns the exit status */
};

/*
 * Reports a failure, with --json also as JSON. Returns the exit status for `err`, an errno value of
 * either sign.
 */
int ctl_fail(const struct ctl_args *args, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints an object or array as JSON, and consumes it. Returns the exit status. */
int ctl_print_json(json_t *json);

/* Makes a netlink request, and reports a failure. 0 or the exit status. */
int ctl_do(const struct ctl_args *args, enum vqp_cmd cmd, const json_t *request, json_t **reply);
int ctl_dump(const struct ctl_args *args, enum vqp_cmd cmd, json_t **list);

/* Asks for the module's status, and reports nothing. 0, or a negative errno value with *error set. */
int ctl_ask_status(json_t **status, struct vqp_error *error);

/*
 * Asks a meta server, HOST[:PORT]; the answer to "hello" is in the form of META_SET. 0, or a
 * negative errno value with *error set, and *answer is NULL.
 */
int ctl_meta_ask(const char *server, const char *op, json_t **answer, struct vqp_error *error);

/* Returns a member that is a string; "" if it is missing, or none. */
static inline const char *ctl_string(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* Adds the members tenant and gid, of --tenant and --address, to `object`. 0 or the exit status. */
int ctl_put_key(const struct ctl_args *args, json_t *object);

struct ctl_column {
	const char *key;	/* a member of each object */
	const char *title;
};

/*
 * Prints an array of objects as a table, or with --json as JSON, and consumes it. `columns` ends
 * with a NULL key. Returns the exit status.
 */
int ctl_print_table(const struct ctl_args *args, json_t *list, const struct ctl_column *columns);

/* Returns the versions of vqp, module, kernel and libibverbs as a new object. */
json_t *ctl_versions(void);

int ctl_status(const struct ctl_args *args);
int ctl_pool(const struct ctl_args *args);
/* The words of --priority by the kernel's value, with a NULL at the end. */
extern const char *const ctl_priorities[];

int ctl_ns_list(const struct ctl_args *args);
int ctl_ns_add(const struct ctl_args *args);
int ctl_ns_set(const struct ctl_args *args);
int ctl_ns_del(const struct ctl_args *args);
int ctl_vqps(const struct ctl_args *args);
int ctl_peers(const struct ctl_args *args);
int ctl_ss(const struct ctl_args *args);
int ctl_meta_list(const struct ctl_args *args);
int ctl_meta_set(const struct ctl_args *args);
int ctl_cache_list(const struct ctl_args *args);
int ctl_cache_flush(const struct ctl_args *args);
int ctl_ping(const struct ctl_args *args);
int ctl_configure(const struct ctl_args *args);
int ctl_selftest(const struct ctl_args *args);
int ctl_doctor(const struct ctl_args *args);
int ctl_cdi(const struct ctl_args *args);
int ctl_policy_init(const struct ctl_args *args);
int ctl_policy_check(const struct ctl_args *args);
int ctl_policy_explain(const struct ctl_args *args);

#endif
