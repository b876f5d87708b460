/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "../../common/tests/unit.h"

#include <stdlib.h>

#include "../ctl/redact.h"

static void becomes(char *(*redact)(const char *text), const char *text, const char *expected)
{
	char *redacted = redact(text);

	assert_non_null(redacted);
	assert_string_equal(redacted, expected);
	free(redacted);
}

/* No S3CRET is left, and what is to be kept is. */
static void hides(char *(*redact)(const char *text), const char *text, const char *kept)
{
	char *redacted = redact(text);

	assert_non_null(redacted);
	assert_null(strstr(redacted, "S3CRET"));
	if (!strstr(redacted, kept))
		fail_msg("no %s in %s", kept, redacted);
	free(redacted);
}

static void json_keeps_what_is_known(void **state)
{
	(void)state;
	hides(ctl_redact_json, "{\"bip\": \"10.7.1.1/24\", \"auths\": {\"r\": {\"auth\": \"S3CRET\"}}}", "10.7.1.1/24");
	hides(ctl_redact_json, "{\"runtimes\": {\"vqp\": {\"path\": \"/x/vqp-runtime\", \"runtimeArgs\": [\"S3CRET\"]}}}", "/x/vqp-runtime");
	hides(ctl_redact_json, "{\"proxies\": {\"http-proxy\": \"http://u:S3CRET@h\"}, \"name\": \"n\"}", "\"n\"");
	hides(ctl_redact_json, "{\"name\": \"http://u:S3CRET@h\", \"tenant\": 7}", "7");
	hides(ctl_redact_json, "{\"log-opts\": [[{\"x\": [\"S3CRET\"]}]], \"type\": \"vqp\"}", "vqp");
}

static void json_that_is_none_is_left_out(void **state)
{
	(void)state;
	hides(ctl_redact_json, "{\"password\": \"S3CRET\"", CTL_REDACTED);
	hides(ctl_redact_json, "S3CRET", CTL_REDACTED);
}

static void toml_keeps_what_is_known(void **state)
{
	(void)state;
	becomes(ctl_redact_toml, "version = 2\n# S3CRET\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r\".auth]\n"
		"  password = \"S3CRET\"\n[a.runtimes.vqp.options]\nBinaryName = \"/x/vqp-runtime\"\n",
		"version = 2\n[" CTL_REDACTED "]\n" CTL_REDACTED "\n"
		"[a.runtimes.vqp.options]\nBinaryName = \"/x/vqp-runtime\"\n");
	hides(ctl_redact_toml, "VQPD_OPTIONS=\"--meta 10.77.0.1\"\nHTTP_PROXY=http://u:S3CRET@h\n", "--meta 10.77.0.1");
	hides(ctl_redact_toml, "bin_dir = \"/x\" # S3CRET\nversion = 2\n", "version = 2");
}

static void toml_of_several_lines_is_left_out(void **state)
{
	(void)state;
	hides(ctl_redact_toml, "key = \"\"\"\nbin_dir = S3CRET\n[S3CRET]\n\"\"\"\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "key = [\n\"a=S3CRET\",\n\"S3CRET=b\",\n]\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "bin_dir = [\n\"S3CRET\",\n]\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "key = [\n'''\nbin_dir = S3CRET\n''',\n]\nversion = 2\n", "version = 2");
	/* what looks closed, and is not */
	hides(ctl_redact_toml, "key = [ \"]\",\n[\"S3CRET\"],\n\"S3CRET==\",\n]\nversion = 2\n", "version = 2");
}

static void json_s_names_may_be_secrets(void **state)
{
	(void)state;
	hides(ctl_redact_json, "{\"http://u:S3CRET@h\": 1, \"tenant\": 7}", "7");
	hides(ctl_redact_json, "{\"password\": {\"name\": \"S3CRET\"}, \"tenant\": 7}", "7");
	hides(ctl_redact_json, "{\"runtimes\": {\"auth\": [{\"path\": \"S3CRET\"}]}, \"tenant\": 7}", "7");
}

/* Of a known key, too, the value may have what is not known. */
static void toml_s_values_are_one_each(void **state)
{
	(void)state;
	hides(ctl_redact_toml, "vqp = { x = \"S3CRET\" }\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "imports = [ \"a\", { x = \"S3CRET\" } ]\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "imports = [ \"a\" ] S3CRET\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "vqp = { x = '}',\nname = \"S3CRET\",\n}\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "key = [ \"]\",\nname = S3CRET\n]\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "[a.auth]\nname = \"S3CRET\"\n[b]\nversion = 2\n", "version = 2");
	becomes(ctl_redact_toml, "imports = [\"/a/*.toml\", 'b']\r\nbin_dir = ''\n", "imports = [\"/a/*.toml\", 'b']\r\nbin_dir = ''\n");
	/* files for shells */
	hides(ctl_redact_toml, "VQPD_OPTIONS=\"a\" OTHER=S3CRET\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "VQPD_OPTIONS=\"a\"; OTHER='S3CRET'\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "VQPD_OPTIONS='a'S3CRET\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "VQPD_OPTIONS=a S3CRET\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "VQPD_OPTIONS=\"a\nname=S3CRET\n\"\nversion = 2\n", "version = 2");
	hides(ctl_redact_toml, "VQPD_OPTIONS=a\\\nname=S3CRET\nversion = 2\n", "version = 2");
}

static void words_of_secrets_are_known(void **state)
{
	static const char *const lines[] = {
		"X-Api-Key: S3CRET", "passphrase S3CRET", "Bearer S3CRET", "private_key=S3CRET", "\"auth\": \"S3CRET\"", "x_auth=S3CRET",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		becomes(ctl_redact_lines, lines[i], CTL_REDACTED "\n");
	becomes(ctl_redact_lines, "author: A\n", "author: A\n");
	becomes(ctl_redact_lines, "one\n-----BEGIN EC KEY-----\nS3CRET\nS3CRET\n-----END EC KEY-----\ntwo\n",
		"one\n" CTL_REDACTED "\n" CTL_REDACTED "\n" CTL_REDACTED "\n" CTL_REDACTED "\ntwo\n");
	hides(ctl_redact_json, "{\"name\": \"-----BEGIN EC KEY-----\\nS3CRET\", \"tenant\": 7}", "7");
}

static void what_vqpctl_says_may_quote_secrets(void **state)
{
	json_t *report = json_pack("{s:b, s:[{s:s, s:s}]}", "ok", 1, "findings", "id", "x", "seen", "http://u:S3CRET@h is no address");
	json_t *redacted = ctl_redact_strings(report), *expected = json_pack("{s:b, s:[{s:s, s:s}]}", "ok", 1, "findings", "id", "x", "seen", CTL_REDACTED);

	(void)state;
	assert_true(json_equal(redacted, expected));
	json_decref(report);
	json_decref(redacted);
	json_decref(expected);
}

static void lines_with_a_secret_s_word_are_left_out(void **state)
{
	(void)state;
	becomes(ctl_redact_lines, "one\nPassword: S3CRET\nhttp://u:S3CRET@h/\nhttp://h/\n",
		"one\n" CTL_REDACTED "\n" CTL_REDACTED "\nhttp://h/\n");
	becomes(ctl_redact_lines, "", "");
	becomes(ctl_redact_lines, "no newline", "no newline\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_keeps_what_is_known),
		cmocka_unit_test(json_that_is_none_is_left_out),
		cmocka_unit_test(toml_keeps_what_is_known),
		cmocka_unit_test(toml_of_several_lines_is_left_out),
		cmocka_unit_test(json_s_names_may_be_secrets),
		cmocka_unit_test(toml_s_values_are_one_each),
		cmocka_unit_test(words_of_secrets_are_known),
		cmocka_unit_test(what_vqpctl_says_may_quote_secrets),
		cmocka_unit_test(lines_with_a_secret_s_word_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
