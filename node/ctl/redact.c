/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "redact.h"

/* vqpctl(8) has the same list. */
static const char *const kept_keys[] = {
	/* vqp's own */
	"tenant", "tenants", "address", "addresses", "limits", "max_vqps", "max_mrs", "max_bytes", "max_rate", "priority",
	"vqpd", "subnet", "networks", "runtime", "stage", "VQPD_OPTIONS", "VQP_METAD_OPTIONS",
	/* CNI */
	"cniVersion", "name", "type", "bridge", "master", "mtu", "gateway", "isGateway", "ipMasq", "rangeStart", "rangeEnd", "dst",
	/* CDI and hooks */
	"cdiVersion", "kind", "path", "hostPath", "containerPath", "permissions", "hookName", "timeout", "version", "stages",
	/* engines */
	"default-runtime", "bip", "cdi", "live-restore", "userns-remap", "default_runtime_name", "runtime_type", "runtime_path",
	"runtime_root", "pod_annotations", "BinaryName", "SystemdCgroup", "enable_cdi", "cdi_spec_dirs", "bin_dir", "conf_dir",
	"imports", "vqp",
	/* the kernel's meta servers, and findings */
	"node_gid", "epoch", "buckets",
};

/* A line with one of these is left out, in whatever case it is written. */
static const char *const secret_words[] = {
	"password", "passwd", "secret", "token", "authorization", "credential", "private key", "api_key", "apikey",
};

static bool is_kept(const char *key, size_t bytes)
{
	for (unsigned int i = 0; i < sizeof(kept_keys) / sizeof(*kept_keys); i++)
		if (strlen(kept_keys[i]) == bytes && !strncmp(kept_keys[i], key, bytes))
			return true;
	return false;
}

/* Has the text a secret's word, or a URL with a user in it? */
static bool may_be_secret(const char *text)
{
	const char *url = strstr(text, "://");

	for (unsigned int i = 0; i < sizeof(secret_words) / sizeof(*secret_words); i++)
		if (strcasestr(text, secret_words[i]))
			return true;
	return url && strchr(url, '@');
}

/* ---- JSON ---- */

/* Returns a copy; `key` is the member that the value is of, or that its array is of. */
static json_t *copy(const char *key, const json_t *value)
{
	const char *name;
	json_t *result, *item;
	size_t i;

	if (json_is_object(value)) {
		result = json_object();
		json_object_foreach((json_t *)value, name, item)
			json_object_set_new(result, name, copy(name, item));
		return result;
	}
	if (json_is_array(value)) {
		result = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(result, copy(key, item));
		return result;
	}
	if (is_kept(key, strlen(key)) && !(json_is_string(value) && may_be_secret(json_string_value(value))))
		return json_deep_copy(value);
	return json_string(CTL_REDACTED);
}

char *ctl_redact_json(const char *text)
{
	json_auto_t *json = json_loads(text, 0, NULL), *redacted = json ? copy("", json) : NULL;

	return redacted ? json_dumps(redacted, JSON_INDENT(2)) : strdup(CTL_REDACTED ": no JSON");
}

/* ---- TOML ---- */

/* Returns what ends the value if it goes on in the next line, or else NULL. */
static const char *end_of(const char *value)
{
	static const char *const quotes[] = { "\"\"\"", "'''" };

	for (unsigned int i = 0; i < 2; i++)
		if (!strncmp(value, quotes[i], strlen(quotes[i])) && !strstr(value + strlen(quotes[i]), quotes[i]))
			return quotes[i];
	return *value == '[' && !strchr(value, ']') ? "]" : *value == '{' && !strchr(value, '}') ? "}" : NULL;
}

/*
 * Writes a line of a table. Returns what ends its value, or NULL. A key that is not known is left
 * out, too, because it may be a part of a value.
 */
static const char *write_pair(FILE *out, const char *line)
{
	const char *value = strchr(line, '=');

	if (!value)
		return NULL;
	value += 1 + strspn(value + 1, " \t");
	if (is_kept(line, strcspn(line, " \t=")) && !strchr(value, '#') && !may_be_secret(value) && !end_of(value))
		fprintf(out, "%s\n", line);
	else
		fputs(CTL_REDACTED "\n", out);
	return end_of(value);
}

/* Is it the header of a table? An array in an array may look like one. */
static bool is_header(const char *line)
{
	const char *name = line + strspn(line, "[");

	return *line == '[' && name - line <= 2 && isalpha(*name) && !strpbrk(name, ",=#") && !may_be_secret(name);
}

char *ctl_redact_toml(const char *text)
{
	cleanup_free char *lines = strdup(text);
	char *rest = lines, *result, *line;
	const char *until = NULL;
	size_t bytes;
	FILE *out = lines ? open_memstream(&result, &bytes) : NULL;

	if (!out)
		return NULL;
	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (until)
			until = strstr(line, until) ? NULL : until;
		else if (is_header(line))
			fprintf(out, "%s\n", line);
		else if (*line != '#')
			until = write_pair(out, line);
	}
	return fclose(out) ? NULL : result;
}

/* ---- Lines ---- */

char *ctl_redact_lines(const char *text)
{
	cleanup_free char *lines = strdup(text);
	char *rest = lines, *result, *line;
	size_t bytes;
	FILE *out = lines ? open_memstream(&result, &bytes) : NULL;

	if (!out)
		return NULL;
	while ((line = strsep(&rest, "\n")))
		if (rest || *line)
			fprintf(out, "%s\n", may_be_secret(line) ? CTL_REDACTED : line);
	return fclose(out) ? NULL : result;
}
