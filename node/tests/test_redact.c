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
		"version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r\".auth]\n" CTL_REDACTED "\n"
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
		cmocka_unit_test(lines_with_a_secret_s_word_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
