// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Plugins are one script that writes down how it was called, and fails when a file says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vqpcni.h"

typedef int call_fn(struct vqpcni_attachment *attachment, char **text);

static call_fn *add, *check, *del;
static char top[] = "/tmp/vqpcni-XXXXXX";

static const char plugin[] =
	"#!/bin/sh\n"
	"name=${0##*/}\n"
	"cd ${0%/*}/..\n"
	"echo $name $CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME ${CNI_NETNS:-gone} >>log\n"
	"cat >$name.$CNI_COMMAND.in\n"
	"env | sort >env\n"
	"[ ! -e $name.$CNI_COMMAND.slow ] || exec sleep 1000\n"
	"if [ -e $name.$CNI_COMMAND.fails ]; then\n"
	"	echo '{\"cniVersion\": \"1.0.0\", \"code\": 100, \"msg\": \"'$name' was told to fail\"}'\n"
	"	exit 1\n"
	"fi\n"
	"if [ $CNI_COMMAND = ADD ]; then\n"
	"	echo '{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"10.1.0.2/24\"}]}'\n"
	"fi\n";

static const char list[] =
	"{\"cniVersion\": \"1.0.0\", \"name\": \"blue\", \"plugins\": [{\"type\": \"one\", \"x\": 1}, {\"type\": \"two\"}]}";

/* Of a name that is gone with the next call. */
static const char *path(const char *name)
{
	static char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s/%s", top, name);
	return text;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* "" if there is none; to be freed. */
static char *read_file(const char *name)
{
	char *text = calloc(1, 65536);
	int fd = open(path(name), O_RDONLY);

	assert_non_null(text);
	if (fd >= 0) {
		assert_true(read(fd, text, 65535) >= 0);
		close(fd);
	}
	return text;
}

static void file_is(const char *name, const char *expected)
{
	char *text = read_file(name);

	assert_string_equal(text, expected);
	free(text);
}

static void file_has(const char *name, const char *expected)
{
	char *text = read_file(name);

	if (!strstr(text, expected))
		fail_msg("%s: '%s' does not contain '%s'", name, text, expected);
	free(text);
}

/* Text of the last call. */
static char *answer;

static int call(call_fn *function, const char *name, const char *netns)
{
	char conf[PATH_MAX], bin[PATH_MAX + 16], cache[PATH_MAX];
	struct vqpcni_attachment attachment = {
		.list = name, .container = "c1", .netns = netns, .ifname = "eth0", .conf_dir = conf,
		.bin_dirs = bin, .cache_dir = cache, .timeout_s = 30,
	};

	strcpy(conf, path("net.d"));
	snprintf(bin, sizeof(bin), "/nowhere:%s", path("bin"));
	strcpy(cache, path("cache"));
	if (!access(path("hurry"), F_OK))
		attachment.timeout_s = 5;
	free(answer);
	return function(&attachment, &answer);
}

static void succeeds(call_fn *function, const char *netns)
{
	if (call(function, "blue", netns))
		fail_msg("%s", answer);
}

static void fails(call_fn *function, const char *name, const char *text)
{
	assert_int_equal(call(function, name, "/netns"), -1);
	if (!strstr(answer, text))
		fail_msg("'%s' does not contain '%s'", answer, text);
}

static void add_gives_the_result_and_del_takes_it_back(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	assert_non_null(strstr(answer, "\"10.1.0.2/24\""));
	file_has("two.ADD.in", "\"prevResult\"");
	file_has("two.ADD.in", "\"name\":\"blue\"");
	succeeds(check, "/netns");
	assert_string_equal(answer, "");
	succeeds(del, "/netns");
	assert_string_equal(answer, "");
	file_is("log", "one ADD c1 eth0 /netns\ntwo ADD c1 eth0 /netns\n"
		"one CHECK c1 eth0 /netns\ntwo CHECK c1 eth0 /netns\n"
		"two DEL c1 eth0 /netns\none DEL c1 eth0 /netns\n");
	fails(check, "blue", "is not attached");
}

static void del_again_and_without_a_network_namespace(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	succeeds(del, NULL);
	succeeds(del, "");
	file_is("log", "one ADD c1 eth0 /netns\ntwo ADD c1 eth0 /netns\n"
		"two DEL c1 eth0 gone\none DEL c1 eth0 gone\ntwo DEL c1 eth0 gone\none DEL c1 eth0 gone\n");
}

static void plugins_have_a_path_and_no_other_environment(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	file_has("env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n");
	file_has("env", "CNI_PATH=/nowhere:");
	char *env = read_file("env");

	assert_null(strstr(env, "VQPCNI_TEST"));
	free(env);
}

static void what_fails_is_undone(void **state)
{
	(void)state;
	write_file("two.ADD.fails", "", 0600);
	fails(add, "blue", "two was told to fail");
	file_is("log", "one ADD c1 eth0 /netns\ntwo ADD c1 eth0 /netns\n"
		"two DEL c1 eth0 /netns\none DEL c1 eth0 /netns\n");
	fails(check, "blue", "is not attached");
}

static void what_takes_too_long_is_killed_and_undone(void **state)
{
	(void)state;
	write_file("hurry", "", 0600);
	write_file("two.ADD.slow", "", 0600);
	fails(add, "blue", "not done within 5s");
	file_has("log", "two DEL c1 eth0 /netns\none DEL c1 eth0 /netns\n");
}

static void a_plugin_that_cannot_delete_does_not_keep_the_others(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	write_file("two.DEL.fails", "", 0600);
	fails(del, "blue", "two was told to fail");
	file_has("log", "one DEL c1 eth0 /netns\n");
	file_has("one.DEL.in", "\"prevResult\"");
}

static void a_plugin_that_hangs_does_not_keep_the_others(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	write_file("hurry", "", 0600);
	write_file("two.DEL.slow", "", 0600);
	fails(del, "blue", "not done within 5s");
	file_has("log", "one DEL c1 eth0 /netns\n");
}

static void what_is_not_deleted_yet_is_deleted_by_the_list_as_it_was(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	write_file("two.DEL.fails", "", 0600);
	fails(del, "blue", "two was told to fail");
	write_file("net.d/10-blue.conflist", "{\"cniVersion\": \"1.0.0\", \"name\": \"blue\", \"plugins\": [{\"type\": \"gone\"}]}", 0600);
	assert_int_equal(unlink(path("two.DEL.fails")), 0);
	succeeds(del, "/netns");
	file_has("log", "two DEL c1 eth0 /netns\none DEL c1 eth0 /netns\ntwo DEL c1 eth0 /netns\none DEL c1 eth0 /netns\n");
	file_has("two.DEL.in", "\"prevResult\"");
	fails(check, "blue", "is not attached");
}

static void del_goes_by_the_list_as_it_was(void **state)
{
	(void)state;
	succeeds(add, "/netns");
	write_file("net.d/10-blue.conflist", "{\"cniVersion\": \"1.0.0\", \"name\": \"blue\", \"plugins\": [{\"type\": \"gone\"}]}", 0600);
	succeeds(del, "/netns");
	file_has("log", "two DEL c1 eth0 /netns\none DEL c1 eth0 /netns\n");
	file_has("one.DEL.in", "\"x\":1");
}

static void what_a_crash_left_is_deleted_first(void **state)
{
	(void)state;
	succeeds(add, "/old");
	succeeds(add, "/new");
	file_is("log", "one ADD c1 eth0 /old\ntwo ADD c1 eth0 /old\n"
		"two DEL c1 eth0 gone\none DEL c1 eth0 gone\n"
		"one ADD c1 eth0 /new\ntwo ADD c1 eth0 /new\n");
}

static void what_a_crash_cut_short_does_not_count(void **state)
{
	static const char *const rests[] = { "", "{\"kind\": \"cniCacheV1\", \"con", "{\"kind\": \"cniCacheV1\", \"config\": \"e30=\"}" };

	(void)state;
	for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
		succeeds(add, "/old");
		write_file("cache/results/blue-c1-eth0", rests[i], 0600);
		unlink(path("log"));
		succeeds(add, "/new");
		file_is("log", "two DEL c1 eth0 gone\none DEL c1 eth0 gone\n"
			"one ADD c1 eth0 /new\ntwo ADD c1 eth0 /new\n");
		write_file("cache/results/blue-c1-eth0", rests[i], 0600);
		succeeds(del, "/new");
		fails(check, "blue", "is not attached");
	}
}

static void what_is_missing_is_named_with_the_way_out(void **state)
{
	char expected[PATH_MAX];

	(void)state;
	snprintf(expected, sizeof(expected), "there is no network list \"green\" in %s: write one, as %s/green.conflist",
		 path("net.d"), path("net.d"));
	fails(add, "green", expected);
	assert_int_equal(unlink(path("bin/two")), 0);
	fails(add, "blue", "failed to find plugin \"two\"");
	assert_non_null(strstr(answer, "install the plugin"));
	write_file("net.d/05-bad.conflist", "{", 0600);
	fails(add, "blue", "cannot read the network lists in");
	file_is("log", "");
}

static void names_that_are_none_are_refused(void **state)
{
	struct vqpcni_attachment attachment = { .netns = "/netns", .timeout_s = 10 };
	static const char *const names[][3] = {
		{ "blue", "../c1", "eth0" }, { "../blue", "c1", "eth0" }, { "blue", "c1", "eth/0" }, { NULL, NULL, NULL },
	};
	char conf[PATH_MAX], bin[PATH_MAX];

	(void)state;
	strcpy(conf, path("net.d"));
	strcpy(bin, path("bin"));
	attachment.conf_dir = conf;
	attachment.cache_dir = conf;
	attachment.bin_dirs = bin;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		attachment.list = names[i][0];
		attachment.container = names[i][1];
		attachment.ifname = names[i][2];
		free(answer);
		assert_int_equal(add(&attachment, &answer), -1);
		free(answer);
		assert_int_equal(del(&attachment, &answer), -1);
	}
	file_is("log", "");
}

static int set_up(void **state)
{
	(void)state;
	strcpy(strrchr(top, '-'), "-XXXXXX");
	if (!mkdtemp(top) || mkdir(path("net.d"), 0700) || mkdir(path("bin"), 0700))
		return -1;
	write_file("bin/one", plugin, 0700);
	write_file("bin/two", plugin, 0700);
	write_file("net.d/10-blue.conflist", list, 0600);
	return 0;
}

static int take_down(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	return system(command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, set_up, take_down)
		TEST(add_gives_the_result_and_del_takes_it_back),
		TEST(del_again_and_without_a_network_namespace),
		TEST(plugins_have_a_path_and_no_other_environment),
		TEST(what_fails_is_undone),
		TEST(what_takes_too_long_is_killed_and_undone),
		TEST(a_plugin_that_cannot_delete_does_not_keep_the_others),
		TEST(a_plugin_that_hangs_does_not_keep_the_others),
		TEST(what_is_not_deleted_yet_is_deleted_by_the_list_as_it_was),
		TEST(del_goes_by_the_list_as_it_was),
		TEST(what_a_crash_left_is_deleted_first),
		TEST(what_a_crash_cut_short_does_not_count),
		TEST(what_is_missing_is_named_with_the_way_out),
		TEST(names_that_are_none_are_refused),
	};
	void *library;

	setenv("VQPCNI_TEST", "1", 1);
	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		fprintf(stderr, "usage: test_vqpcni LIBRARY: %s\n", argc == 2 ? dlerror() : "");
		return 2;
	}
	*(void **)&add = dlsym(library, "vqpcni_add");
	*(void **)&check = dlsym(library, "vqpcni_check");
	*(void **)&del = dlsym(library, "vqpcni_del");
	return add && check && del ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
