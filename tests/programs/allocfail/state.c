// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "admin.h"
#include "main.h"
#include "state.h"

#define PATIENCE_S	20
#define STEP_US		20000

static void take_objects(json_t *state)
{
	json_t *status, *counter;
	size_t i;
	int err;

	err = admin_do(VQP_CMD_STATUS_GET, NULL, &status);
	if (err)
		die(err, "status");
	json_array_foreach(json_object_get(status, "counters"), i, counter) {
		const char *name = json_string_value(json_object_get(counter, "name"));
		json_t *made = json_object_get(counter, "made");

		if (!made || !strcmp(name, "peer") || !strcmp(name, "cache") || !strcmp(name, "deferred") ||
		    !strcmp(name, "held"))
			continue;
		json_object_set_new(state, name,
				    json_integer(json_integer_value(made) -
						 json_integer_value(json_object_get(counter, "freed"))));
	}
	json_decref(status);
}

/* What namespaces are charged, all together. */
static void take_charges(json_t *state)
{
	static const char *const names[] = { "vqps", "mrs", "pinned_bytes" };
	json_t *list, *item;
	json_int_t sum;
	size_t i, n;
	int err;

	err = admin_dump(VQP_CMD_NS_GET, &list);
	if (err)
		die(err, "NS_GET");
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		sum = 0;
		json_array_foreach(list, i, item)
			sum += json_integer_value(json_object_get(item, names[n]));
		json_object_set_new(state, names[n], json_integer(sum));
	}
	json_decref(list);
}

/* Lines of a file of /proc/self that contain text; number: the sum of the numbers that follow it. */
static json_int_t take_lines(const char *path, const char *text, bool number)
{
	FILE *file = fopen(path, "re");
	json_int_t sum = 0;
	char line[1024];
	const char *at;

	if (!file)
		die(errno, "%s", path);
	while (fgets(line, sizeof(line), file)) {
		at = strstr(line, text);
		if (at)
			sum += number ? atoll(at + strlen(text)) : 1;
	}
	fclose(file);
	return sum;
}

static json_int_t take_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	json_int_t n = 0;

	if (!dir)
		die(errno, "/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

json_t *state_take(void)
{
	json_t *state = json_object();

	take_objects(state);	/* first: it may open the netlink socket anew */
	take_charges(state);
	json_object_set_new(state, "descriptors", json_integer(take_descriptors()));
	json_object_set_new(state, "mappings", json_integer(take_lines("/proc/self/maps", "vqp", false)));
	json_object_set_new(state, "pinned KiB", json_integer(take_lines("/proc/self/status", "VmPin:", true)));
	return state;
}

bool state_returns(json_t *before)
{
	const time_t end = time(NULL) + PATIENCE_S;
	json_t *now = state_take();
	bool same;

	while (!(same = json_equal(before, now)) && time(NULL) < end) {
		usleep(STEP_US);
		json_decref(now);
		now = state_take();
	}
	if (!same) {
		fprintf(stderr, "before: %s\n", json_dumps(before, JSON_COMPACT));
		fprintf(stderr, "now:    %s\n", json_dumps(now, JSON_COMPACT));
	}
	json_decref(before);
	json_decref(now);
	return same;
}
