/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../common/cleanup.h"
#include "redact.h"

/* Lines that begin and end a key in base64. */
#define KEY_BEGINS	"-----begin"
#define KEY_ENDS	"-----end"

/* vqpctl(8) has the same list. */
static const char *const kept_keys[] = {
	/* vqp's own */
	"tenant", "tenants", "address", "addresses", "limits", "max_vqps", "max_mrs", "max_bytes", "max_rate", "priority",
	"sockets", "only", "except",
	"vqpd", "subnet", "networks", "network", "by_annotation", "runtime", "stage", "VQPD_OPTIONS", "VQP_METAD_OPTIONS",
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
	"password", "passwd", "passphrase", "secret", "token", "authorization", "bearer", "credential",
	"private key", "private_key", "private-key", "privatekey", "api_key", "api-key", "apikey", KEY_BEGINS,
};

/* The same, as whole words: a module has an author. */
static const char *const whole_words[] = { "auth", "auths" };

static bool is_kept(const char *key, size_t bytes)
{
	for (unsigned int i = 0; i < sizeof(kept_keys) / sizeof(*kept_keys); i++)
		if (strlen(kept_keys[i]) == bytes && !strncmp(kept_keys[i], key, bytes))
			return true;
	return false;
}

static bool has_whole_word(const char *text, const char *word)
{
	for (const char *found = text; (found = strcasestr(found, word)); found++)
		if ((found == text || !isalpha((unsigned char)found[-1])) && !isalpha((unsigned char)found[strlen(word)]))
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
	for (unsigned int i = 0; i < sizeof(whole_words) / sizeof(*whole_words); i++)
		if (has_whole_word(text, whole_words[i]))
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
		json_object_foreach((json_t *)value, name, item) {
			/* A secret may be in the name itself, and in whatever is below it. */
			if (may_be_secret(name))
				json_object_set_new(result, CTL_REDACTED, json_string(CTL_REDACTED));
			else
				json_object_set_new(result, name, copy(name, item));
		}
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

json_t *ctl_redact_strings(const json_t *value)
{
	json_t *result, *item;
	const char *name;
	size_t i;

	if (json_is_object(value)) {
		result = json_object();
		json_object_foreach((json_t *)value, name, item)
			json_object_set_new(result, name, ctl_redact_strings(item));
		return result;
	}
	if (json_is_array(value)) {
		result = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(result, ctl_redact_strings(item));
		return result;
	}
	if (json_is_string(value) && may_be_secret(json_string_value(value)))
		return json_string(CTL_REDACTED);
	return json_deep_copy(value);
}

/* ---- TOML ---- */

/* Returns what is behind the string that begins here; NULL if it does not end in this line. */
static const char *behind_string(const char *text)
{
	char quote = *text;

	for (text++; *text && *text != quote; text++)
		if (quote == '"' && *text == '\\' && text[1])
			text++;
	return *text ? text + 1 : NULL;
}

/* The same of an array. One with a table inside is not understood: the table has keys of its own. */
static const char *behind_array(const char *text)
{
	int depth = 0;

	while (text && *text && !strchr("{#", *text)) {
		depth += (*text == '[') - (*text == ']');
		if (*text == '"' || *text == '\'')
			text = behind_string(text);
		else
			text++;
		if (!depth)
			return text;
	}
	return NULL;
}

/*
 * Is the text one string, one array or one word, and nothing else? Behind what ends a value, a shell
 * takes another.
 */
static bool is_one_value(const char *text)
{
	if (*text == '"' || *text == '\'')
		text = behind_string(text);
	else if (*text == '[')
		text = behind_array(text);
	else
		text += strcspn(text, " \t\r\"'\\`#$;&|<>()[]{}");
	return text && !text[strspn(text, " \t\r")];
}

/* What is open at the end of a line, and goes on in the next one. */
struct open {
	int depth;	/* of arrays and tables */
	char quote;	/* the one that will end a string, or 0 */
	bool three;	/* It takes three of them. */
	bool joined;	/* The line ends with a backslash, as of shells. */
};

static bool ends_here(const struct open *open, const char *text)
{
	return *text == open->quote && (!open->three || (text[1] == *text && text[2] == *text));
}

/* Reads a line on. What is malformed may stay open, and all that follows is left out. */
static void read_on(struct open *open, const char *line)
{
	open->joined = false;
	for (const char *c = line; *c; c++) {
		if (open->quote) {
			if (ends_here(open, c)) {
				c += open->three ? 2 : 0;
				open->quote = '\0';
			} else if (open->quote == '"' && *c == '\\' && c[1]) {
				c++;
			}
		} else if (*c == '"' || *c == '\'') {
			open->quote = *c;
			open->three = c[1] == *c && c[2] == *c;
			c += open->three ? 2 : 0;
		} else if (*c == '#' && (c == line || strchr(" \t,", c[-1]))) {
			return;
		} else {
			open->depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
			open->joined = *c == '\\' && !c[1];
		}
	}
}

static bool is_open(const struct open *open)
{
	return open->depth > 0 || open->quote || open->joined;
}

/* Is it the header of a table? An array in an array may look like one. */
static bool is_header(const char *line)
{
	const char *name = line + strspn(line, "[");

	return *line == '[' && name - line <= 2 && isalpha((unsigned char)*name) && !strpbrk(name, ",=#");
}

/* Is the line a known key with a value that can be judged? A key that is not known may be a part of a value. */
static bool is_pair(const char *line)
{
	const char *value = strchr(line, '=') + 1;

	value += strspn(value, " \t");
	return is_kept(line, strcspn(line, " \t=")) && !strchr(value, '#') && !may_be_secret(value) && is_one_value(value);
}

char *ctl_redact_toml(const char *text)
{
	cleanup_free char *lines = strdup(text);
	char *rest = lines, *result, *line;
	struct open open = { 0 };
	bool secret = false;	/* The table's name is, or may have one in it. */
	size_t bytes;
	FILE *out = lines ? open_memstream(&result, &bytes) : NULL;

	if (!out)
		return NULL;
	while ((line = strsep(&rest, "\n"))) {
		bool goes_on = is_open(&open);

		line += strspn(line, " \t");
		if (!goes_on && is_header(line)) {
			secret = may_be_secret(line);
			fprintf(out, "%s\n", secret ? "[" CTL_REDACTED "]" : line);
			continue;
		}
		if (!goes_on && *line != '#' && strchr(line, '='))
			fprintf(out, "%s\n", !secret && is_pair(line) ? line : CTL_REDACTED);
		read_on(&open, line);
	}
	return fclose(out) ? NULL : result;
}

/* ---- Lines ---- */

char *ctl_redact_lines(const char *text)
{
	cleanup_free char *lines = strdup(text);
	char *rest = lines, *result, *line;
	bool in_key = false;
	size_t bytes;
	FILE *out = lines ? open_memstream(&result, &bytes) : NULL;

	if (!out)
		return NULL;
	while ((line = strsep(&rest, "\n"))) {
		in_key |= strcasestr(line, KEY_BEGINS) != NULL;
		if (rest || *line)
			fprintf(out, "%s\n", in_key || may_be_secret(line) ? CTL_REDACTED : line);
		in_key &= !strcasestr(line, KEY_ENDS);
	}
	return fclose(out) ? NULL : result;
}
