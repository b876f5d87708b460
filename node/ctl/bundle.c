/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/cleanup.h"
#include "../../common/io.h"
#include "bundle.h"
#include "file.h"
#include "program.h"
#include "redact.h"

#define ARCHIVE		".tar.gz"
#define CONTENTS	"vqp-doctor"	/* the name of the directory in the archive */
#define LINES_MAX	500

/* What programs print. Lines with a secret's word are left out. */
static const struct {
	const char *file;
	const char *argv[10];	/* The first word "vqpctl" stands for this program. */
	bool kernel_log;	/* Of the lines, those about vqp and RDMA are kept. */
	bool json;
} outputs[] = {
	{ "uname", { "uname", "-srvm" }, false, false },
	{ "modinfo", { "modinfo", "vqp" }, false, false },
	{ "status", { "vqpctl", "status" }, false, false },
	{ "namespaces", { "vqpctl", "ns", "list" }, false, false },
	{ "vqps", { "vqpctl", "vqps" }, false, false },
	{ "peers", { "vqpctl", "peers" }, false, false },
	{ "cache", { "vqpctl", "cache", "list" }, false, false },
	/* Without the keys that the table can be read with. */
	{ "meta.json", { "vqpctl", "meta", "list", "--json" }, false, true },
	{ "rdma-link", { "rdma", "link" }, false, false },
	{ "rdma-dev", { "rdma", "dev" }, false, false },
	{ "ibv_devinfo", { "ibv_devinfo", "-v" }, false, false },
	{ "units", { "systemctl", "status", "--no-pager", "--full", "--lines=0", "vqpd", "vqp-metad" }, false, false },
	{ "journal", { "journalctl", "--no-pager", "--quiet", "--lines=500", "--unit=vqpd", "--unit=vqp-metad" }, false, false },
	{ "kernel-log", { "dmesg" }, true, false },
};

/* Files, as patterns of glob(3), with what takes their secrets out. */
static const struct {
	const char *pattern;
	char *(*redact)(const char *text);
} files[] = {
	{ "/sys/module/vqp/parameters/*", ctl_redact_lines },
	{ "/sys/module/vqp/srcversion", ctl_redact_lines },
	{ "/etc/default/vqp*", ctl_redact_toml },
	{ "/etc/vqp/*.json", ctl_redact_json },
	{ "/etc/docker/daemon.json", ctl_redact_json },
	{ "/etc/containerd/config.toml", ctl_redact_toml },
	{ "/etc/containers/containers.conf.d/*vqp.conf", ctl_redact_toml },
	{ "/etc/crio/crio.conf.d/*vqp.conf", ctl_redact_toml },
	{ "/usr/share/containers/oci/hooks.d/vqp-*.json", ctl_redact_json },
	{ "/etc/cdi/vqp.json", ctl_redact_json },
	{ "/etc/cni/net.d/*.{conf,conflist,json}", ctl_redact_json },
};

static int write_file(int directory, const char *name, const char *text)
{
	cleanup_close int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : vqp_io_write(fd, text, strlen(text));
}

/* ---- What programs print ---- */

static bool is_of_interest(const char *line)
{
	static const char *const words[] = { "vqp", "rdma", "rxe", "infiniband", "ib_", "mlx", "BUG", "WARNING", "Oops" };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* Keeps the last lines that are of interest. */
static void cut_log(char *text)
{
	char *lines[LINES_MAX], *to = text;
	cleanup_free char *copy = strdup(text);
	size_t count = 0;

	for (char *rest = copy, *line; (line = strsep(&rest, "\n")) && rest;)
		if (is_of_interest(line))
			lines[count++ % LINES_MAX] = line;
	for (size_t i = count > LINES_MAX ? count - LINES_MAX : 0; i < count; i++)
		to += sprintf(to, "%s\n", lines[i % LINES_MAX]);
	*to = '\0';
}

static int write_output(int directory, unsigned int i)
{
	cleanup_free char *text = NULL, *redacted = NULL;
	const char *argv[sizeof(outputs->argv) / sizeof(*outputs->argv)];
	char own[PATH_MAX], failure[64] = "";
	int ret;

	memcpy(argv, outputs[i].argv, sizeof(argv));
	if (!strcmp(*argv, "vqpctl") && realpath("/proc/self/exe", own))
		*argv = own;
	ret = ctl_program_run(argv, CTL_PROGRAM_LIMIT_MS, &text, outputs[i].json ? NULL : &text);
	if (text && outputs[i].kernel_log)
		cut_log(text);
	if (ret < 0)
		snprintf(failure, sizeof(failure), "%s: %s\n", *outputs[i].argv, strerror(-ret));
	redacted = (outputs[i].json ? ctl_redact_json : ctl_redact_lines)(text ? text : failure);
	return redacted ? write_file(directory, outputs[i].file, redacted) : -ENOMEM;
}

/* ---- Files ---- */

/* Writes a file's copy, whose name has its path with "-" for "/". One that cannot be read is left out. */
static int write_copy(int directory, const char *path, char *(*redact)(const char *text))
{
	cleanup_free char *text = NULL, *redacted = NULL, *name = strdup(path + 1);

	if (!name)
		return -ENOMEM;
	if (ctl_file_read(path, &text) || !text)
		return 0;
	for (char *slash = strchr(name, '/'); slash; slash = strchr(slash, '/'))
		*slash = '-';
	redacted = redact(text);
	return redacted ? write_file(directory, name, redacted) : -ENOMEM;
}

static int write_copies(int directory, unsigned int i)
{
	glob_t found;
	int ret = 0;

	if (glob(files[i].pattern, GLOB_BRACE, NULL, &found))
		return 0;
	for (size_t k = 0; k < found.gl_pathc && !ret; k++)
		ret = write_copy(directory, found.gl_pathv[k], files[i].redact);
	globfree(&found);
	return ret;
}

/* ---- The bundle ---- */

static int write_all(const char *path, const json_t *report)
{
	cleanup_close int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_auto_t *redacted = ctl_redact_strings(report);
	cleanup_free char *text = redacted ? json_dumps(redacted, JSON_INDENT(2)) : NULL;
	int ret;

	if (directory < 0 || !text)
		return directory < 0 ? -errno : -ENOMEM;
	ret = write_file(directory, "doctor.json", text);
	for (unsigned int i = 0; i < sizeof(outputs) / sizeof(*outputs) && !ret; i++)
		ret = write_output(directory, i);
	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files) && !ret; i++)
		ret = write_copies(directory, i);
	return ret;
}

static bool is_archive(const char *path)
{
	size_t bytes = strlen(path);

	return bytes >= strlen(ARCHIVE) && !strcmp(path + bytes - strlen(ARCHIVE), ARCHIVE);
}

static int pack(const char *work, const char *archive, struct vqp_error *error)
{
	cleanup_free char *said = NULL;
	int ret = ctl_program_run((const char *const[]){ "tar", "-C", work, "-czf", archive, CONTENTS, NULL }, CTL_PROGRAM_LIMIT_MS,
				  &said, &said);

	if (!ret)
		return 0;
	return vqp_error_set(error, ret < 0 ? ret : -EIO, "tar has failed: %s: name a directory instead, without " ARCHIVE,
			     ret < 0 ? strerror(-ret) : said);
}

/* Gives a file or a directory a name that nothing has yet, also where the file system cannot do that in one step. */
static int name_it(const char *made, const char *path)
{
	if (!renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (is_archive(path))
		return link(made, path) ? -errno : 0;
	/* A directory takes the place of an empty one. */
	if (mkdir(path, 0700))
		return -errno;
	if (!rename(made, path))
		return 0;
	rmdir(path);
	return -EIO;
}

/* Makes the bundle in the directory `work`, and gives it its name. */
static int make(const char *work, const char *path, const json_t *report, struct vqp_error *error)
{
	char contents[PATH_MAX], archive[PATH_MAX];
	int ret;

	snprintf(contents, sizeof(contents), "%s/" CONTENTS, work);
	snprintf(archive, sizeof(archive), "%s/archive", work);
	ret = mkdir(contents, 0700) ? -errno : write_all(contents, report);
	if (ret)
		return vqp_error_set(error, ret, "cannot write in %s: %s", work, strerror(-ret));
	if (is_archive(path)) {
		ret = pack(work, archive, error);
		if (ret)
			return ret;
	}
	ret = name_it(is_archive(path) ? archive : contents, path);
	return ret ? vqp_error_set(error, ret, "cannot make %s: %s", path, strerror(-ret)) : 0;
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *place)
{
	(void)file;
	(void)type;
	(void)place;
	return remove(path);
}

int ctl_bundle_write(const char *path, const json_t *report, struct vqp_error *error)
{
	cleanup_free char *work = NULL, *absolute = NULL;
	int ret;

	umask(0077);
	if (asprintf(&work, "%s.XXXXXX", path) < 0) {
		work = NULL;
		return vqp_error_set(error, -ENOMEM, "out of memory");
	}
	if (!access(path, F_OK))
		return vqp_error_set(error, -EEXIST, "%s is there already: name another file", path);
	if (!mkdtemp(work))
		return vqp_error_set(error, -errno, "cannot make a directory beside %s: %s", path, strerror(errno));
	/* tar takes a name with a colon for another machine's, unless a slash is before it. */
	absolute = realpath(work, NULL);
	ret = absolute ? make(absolute, path, report, error) :
			 vqp_error_set(error, -errno, "cannot find %s: %s", work, strerror(errno));
	nftw(work, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}
