/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the commands of vqpctl share. */
#ifndef VQPCTL_CTL_H
#define VQPCTL_CTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "../netlink.h"

/* Command line of a command. Strings are NULL where not given. */
/* Instead of a limit: none was given; there is to be none. */
#define CTL_NOT_GIVEN	(-1)
#define CTL_UNLIMITED	(-2)

struct ctl_args {
	bool json, dry_run, remove, full;
	bool has_tenant;
	uint32_t tenant;
	uint32_t count;
	int64_t max_vqps, max_mrs, max_bytes, max_rate;	/* or CTL_NOT_GIVEN, CTL_UNLIMITED */
	uint8_t priority;	/* 0: not given */
	const char *netns, *address, *name, *socket, *device;
	char **words;		/* arguments that are no options */
	int nwords;
};

struct ctl_command {
	const char *noun, *verb;	/* verb: NULL if there is none */
	const char *options;		/* letters of those it takes, besides --json and --help */
	int min_words, max_words;
	const char *usage;		/* what follows noun and verb */
	const char *summary;
	int (*run)(const struct ctl_args *args);	/* the exit status */
};

/* Report a failure, as JSON too if wanted. Returns the exit status for `err`, an errno value of either sign. */
int ctl_fail(const struct ctl_args *args, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print an object or array as JSON and free it. Returns the exit status. */
int ctl_print_json(json_t *json);

/* One netlink request; failures are reported. 0 or the exit status. */
int ctl_do(const struct ctl_args *args, enum vqp_cmd cmd, const json_t *request, json_t **reply);
int ctl_dump(const struct ctl_args *args, enum vqp_cmd cmd, json_t **list);

/* {"tenant","gid"} of --tenant and --address into `object`. 0 or the exit status. */
int ctl_put_key(const struct ctl_args *args, json_t *object);

struct ctl_column {
	const char *key;	/* of the objects */
	const char *title;
};

/* An array of objects as a table, or as JSON; frees it. `columns` ends with a NULL key. Returns the exit status. */
int ctl_print_table(const struct ctl_args *args, json_t *list, const struct ctl_column *columns);

int ctl_status(const struct ctl_args *args);
int ctl_pool(const struct ctl_args *args);
/* --priority as the kernel has it; NULL: the end of those there are. */
extern const char *const ctl_priorities[];

int ctl_ns_list(const struct ctl_args *args);
int ctl_ns_add(const struct ctl_args *args);
int ctl_ns_set(const struct ctl_args *args);
int ctl_ns_del(const struct ctl_args *args);
int ctl_vqps(const struct ctl_args *args);
int ctl_peers(const struct ctl_args *args);
int ctl_meta_list(const struct ctl_args *args);
int ctl_meta_set(const struct ctl_args *args);
int ctl_cache_list(const struct ctl_args *args);
int ctl_cache_flush(const struct ctl_args *args);
int ctl_ping(const struct ctl_args *args);
int ctl_configure(const struct ctl_args *args);
int ctl_selftest(const struct ctl_args *args);
int ctl_cdi(const struct ctl_args *args);

#endif
