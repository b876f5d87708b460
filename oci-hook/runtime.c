// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vqp-runtime, an OCI runtime. It adds /dev/vqp and vqp-hook to the configuration of a container
 * that is about to be made, and then becomes runc or crun, with all arguments unchanged.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../common/cleanup.h"
#include "../common/config.h"
#include "../common/error.h"
#include "../include/uapi/linux/vqp.h"
#include "args.h"
#include "bundle.h"
#include "late.h"
#include "real.h"
#include "rootless.h"
#include "setting.h"

#define REAL_VARIABLE	"VQP_RUNTIME_REAL"
#define HOOK_NAME	"vqp-hook"
#define NETWORK_HOOK_NAME	"vqp-network"
#define NETWORK_OPTION	"--vqp-network="

static const char usage[] =
	"usage: vqp-runtime [--vqp-network=LIST] ARGUMENTS OF RUNC OR CRUN\n"
	"\n"
	"An OCI runtime whose containers have " VQP_DEVICE_PATH ": on create, run and restore it adds the\n"
	"device and " HOOK_NAME " (from its own directory) to the bundle's config.json, then becomes\n"
	"runc, else crun, or the runtime that " REAL_VARIABLE " in the environment or \"runtime\" in\n"
	VQP_CONFIG_FILE " names.\n"
	"With --vqp-network, containers without the annotation io.vqp.network have it, with that\n"
	"value: it is for engines that give containers no annotations.\n"
	"Any arguments but that and a lone --help go to that runtime unchanged.\n";

/* Finds one of the hooks that were installed together with this program. */
static int find_hook(const char *name, char hook[PATH_MAX], struct vqp_error *error)
{
	ssize_t bytes = readlink("/proc/self/exe", hook, PATH_MAX - 32);

	if (bytes < 0)
		return vqp_error_set(error, -errno, "cannot find %s: /proc/self/exe: %s", name, strerror(errno));
	hook[bytes] = '\0';
	strcpy(strrchr(hook, '/') + 1, name);
	if (access(hook, X_OK))
		return vqp_error_set(error, -errno, "cannot find %s: %s: %s", name, hook, strerror(errno));
	return 0;
}

static int grant(const struct vqp_args *args, const char *stage, const char *network, struct vqp_error *error)
{
	const bool may_be_late = !strcmp(args->command, "create") && vqp_late_may_be(args->id);
	char hook[PATH_MAX], network_hook[PATH_MAX];
	struct stat device;
	bool late = false;
	int ret;

	if (stat(VQP_DEVICE_PATH, &device))
		return vqp_error_set(error, -errno, VQP_DEVICE_PATH ": %s: is the vqp module loaded?",
				     strerror(errno));
	if (!S_ISCHR(device.st_mode))
		return vqp_error_set(error, -ENODEV, VQP_DEVICE_PATH " is no character device");
	ret = find_hook(HOOK_NAME, hook, error);
	if (!ret)
		ret = find_hook(NETWORK_HOOK_NAME, network_hook, error);
	if (ret)
		return ret;
	ret = vqp_bundle_grant(args->bundle, args->config,
			       &(struct vqp_grant){ .device = device.st_rdev, .hook = hook, .stage = stage,
						    .network_hook = network_hook, .network = network,
						    .late = may_be_late ? &late : NULL }, error);
	/* Without `late` an older note stays: if its container exists, this creation fails. */
	return !ret && late ? vqp_late_note(args->id, args->bundle, error) : ret;
}

/*
 * Writes to the runtime's log, in runc's form, where container engines look for the reasons of
 * failures. Returns false if there is no log.
 */
static bool write_log(const struct vqp_args *args, const char *level, const char *message)
{
	FILE *log = args->log ? fopen(args->log, "ae") : NULL;
	int json = args->log_format && !strcmp(args->log_format, "json");
	time_t now = time(NULL);
	char when[32];

	if (!log)
		return false;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	if (json) {
		json_object *entry = json_object_new_object();

		json_object_object_add(entry, "level", json_object_new_string(level));
		json_object_object_add(entry, "msg", json_object_new_string(message));
		json_object_object_add(entry, "time", json_object_new_string(when));
		fprintf(log, "%s\n", json_object_to_json_string_ext(entry, JSON_C_TO_STRING_PLAIN |
									JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(entry);
	} else {
		fprintf(log, "time=\"%s\" level=%s msg=\"%s\"\n", when, level, message);
	}
	fclose(log);
	return true;
}

static void print(const char *message)
{
	fprintf(stderr, "vqp-runtime: %s\n", message);
}

/* Warns by the log, or else on standard error: engines may parse both outputs of a command. */
static void warn(const struct vqp_args *args, const char *message)
{
	if (!write_log(args, "warning", message))
		print(message);
}

static int read_setting(struct vqp_setting *setting, struct vqp_error *error)
{
	cleanup_free char *text = NULL;
	size_t bytes;
	int ret = vqp_config_read(VQP_CONFIG_FILE, &text, &bytes, error);

	if (ret == -ENOENT) {
		vqp_error_clear(error);
		return vqp_setting_parse(setting, "{}", 2, error);
	}
	if (ret)
		return ret;
	ret = vqp_setting_parse(setting, text, bytes, error);
	return ret ? vqp_error_add_context(error, VQP_CONFIG_FILE) : 0;
}

/*
 * Reads the setting for a command. Commands about existing containers work even if the file is
 * wrong by now, with the runtime that the file names, if it does.
 */
static int read_setting_for(const struct vqp_args *args, struct vqp_setting *setting, struct vqp_error *error)
{
	int ret = read_setting(setting, error);

	if (!ret || args->creation)
		return ret;
	warn(args, vqp_error_text(error));
	vqp_error_clear(error);
	return 0;
}

/* Makes the VQP namespace of a container whose network has been set up since its creation. */
static int make_late(const struct vqp_args *args, char **argv, const char *real, struct vqp_error *error)
{
	cleanup_free char **state = calloc(args->globals + 3, sizeof(*state));
	char hook[PATH_MAX];
	int ret;

	if (!state)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	ret = find_hook(HOOK_NAME, hook, error);
	if (ret)
		return ret;
	memcpy(state, argv, args->globals * sizeof(*argv));
	state[0] = (char *)real;
	state[args->globals] = "state";
	state[args->globals + 1] = (char *)args->id;
	ret = vqp_late_make(state, hook, "createRuntime", error);
	if (!ret)
		vqp_late_forget(args->id);
	return ret;
}

/* Reads the setting, if the user may start containers with vqp at all. */
static int prepare(const struct vqp_args *args, struct vqp_setting *setting, struct vqp_error *error)
{
	int ret = vqp_rootless_refuse(error);

	if (!ret)
		return read_setting_for(args, setting, error);
	if (args->creation)
		return ret;
	vqp_error_clear(error);
	return 0;
}

/* Does vqp's part of a command. */
static int take_part(const struct vqp_args *args, char **argv, const char *stage, const char *network,
		     const char *real, struct vqp_error *error)
{
	if (args->creation)
		return grant(args, stage, network, error);
	if (!vqp_late_may_be(args->id) || !vqp_late_is_noted(args->id))
		return 0;
	if (!strcmp(args->command, "start"))
		return make_late(args, argv, real, error);
	vqp_late_forget(args->id);
	return 0;
}

/* Removes the option from the arguments if it is the first, and returns its value, or NULL. */
static const char *take_network(char ***argv)
{
	const char *option = (*argv)[0] ? (*argv)[1] : NULL;

	if (!option || strncmp(option, NETWORK_OPTION, strlen(NETWORK_OPTION)))
		return NULL;
	(*argv)[1] = (*argv)[0];
	++*argv;
	return option + strlen(NETWORK_OPTION);
}

int main(int argc, char **argv)
{
	const char *named = getenv(REAL_VARIABLE), *network;
	struct vqp_setting setting = { 0 };
	cleanup_error struct vqp_error error = { 0 };
	struct vqp_args args;
	char real[PATH_MAX];
	int ret;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	network = take_network(&argv);
	vqp_args_parse(&args, argv);
	ret = prepare(&args, &setting, &error);
	if (!ret)
		ret = vqp_real_find(named && *named ? named : setting.runtime, real, &error);
	if (!ret)
		ret = take_part(&args, argv, setting.stage, network, real, &error);
	if (!ret) {
		argv[0] = real;
		execv(real, argv);
		vqp_error_set(&error, -errno, "cannot run %s: %s", real, strerror(errno));
	}
	print(vqp_error_text(&error));
	write_log(&args, "error", vqp_error_text(&error));
	vqp_setting_clear(&setting);
	return 1;
}
