/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel and the module. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../include/uapi/linux/vqp.h"
#include "../../common/cleanup.h"
#include "ctl.h"
#include "doctor.h"
#include "file.h"
#include "program.h"

/* The README's table has the same. */
#define OLDEST_MAJOR	6
#define OLDEST_MINOR	1
static const char *const tried[] = { "6.1.", "6.12.", "7.3." };

static bool is_tried(const char *release)
{
	for (unsigned int i = 0; i < sizeof(tried) / sizeof(*tried); i++)
		if (!strncmp(release, tried[i], strlen(tried[i])))
			return true;
	return false;
}

static void look_at_release(struct ctl_doctor *d)
{
	char path[PATH_MAX], release[128];
	int major = 0, minor = 0;

	ctl_file_read_line(ctl_doctor_path(d, "/proc/sys/kernel/osrelease", path), release, sizeof(release));
	if (sscanf(release, "%d.%d.", &major, &minor) != 2)
		ctl_doctor_find(d, CTL_UNTRIED, "kernel.release", NULL, "uname -r", "the kernel's release is not known");
	else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
		ctl_doctor_find(d, CTL_FAILS, "kernel.release", NULL, "boot Linux 6.1 or later",
				"Linux %s is older than vqp supports", release);
	else if (!is_tried(release))
		ctl_doctor_find(d, CTL_LIMITED, "kernel.release", NULL, "rather Linux 6.12; or try it: vqpctl selftest",
				"vqp was not tried with Linux %s", release);
	else
		ctl_doctor_find(d, CTL_OK, "kernel.release", NULL, NULL, "Linux %s", release);
}

/* Under lockdown, the kernel loads signed modules alone. */
static void look_at_lockdown(struct ctl_doctor *d)
{
	char path[PATH_MAX], text[128];

	ctl_file_read_line(ctl_doctor_path(d, "/sys/kernel/security/lockdown", path), text, sizeof(text));
	if (!*text || strstr(text, "[none]"))
		ctl_doctor_find(d, CTL_OK, "kernel.lockdown", NULL, NULL, "the kernel takes modules that are not signed");
	else if (!access(ctl_doctor_path(d, "/sys/module/vqp", path), F_OK))
		ctl_doctor_find(d, CTL_OK, "kernel.lockdown", NULL, NULL, "lockdown (%s), and the module is loaded", text);
	else
		ctl_doctor_find(d, CTL_FAILS, "kernel.lockdown", NULL,
				"sign vqp.ko with a key that this machine trusts (mokutil --import), or turn Secure Boot off",
				"lockdown (%s): the kernel takes signed modules alone", text);
}

/* Warnings about modules that are not of the kernel's tree come with each loading. */
static bool is_trouble(const char *line)
{
	return strstr(line, "vqp") && !strstr(line, "taint");
}

static void look_at_log(struct ctl_doctor *d)
{
	cleanup_free char *text = NULL;
	const char *last = NULL;
	unsigned int count = 0;

	if (ctl_program_run((const char *const[]){ "dmesg", "--level", "emerg,alert,crit,err,warn", NULL }, CTL_PROGRAM_LIMIT_MS,
			    &text, NULL)) {
		ctl_doctor_find(d, CTL_UNTRIED, "kernel.log", NULL, "run as root", "the kernel log cannot be read");
		return;
	}
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (!is_trouble(line))
			continue;
		count++;
		last = line;
	}
	if (count)
		ctl_doctor_find(d, CTL_LIMITED, "kernel.log", NULL, "dmesg | grep vqp; vqpctl doctor --bundle FILE.tar.gz",
				"%u warnings of vqp, the last: %s", count, last);
	else
		ctl_doctor_find(d, CTL_OK, "kernel.log", NULL, NULL, "no warnings of vqp");
}

void ctl_doctor_kernel(struct ctl_doctor *d)
{
	look_at_release(d);
	look_at_lockdown(d);
	look_at_log(d);
}

/* ---- The module ---- */

/* Is the module that is loaded the one that the next boot will load? */
static void look_at_version(struct ctl_doctor *d)
{
	static const char id[] = "module.version";
	char path[PATH_MAX], loaded[64];
	cleanup_free char *installed = NULL;
	int ret;

	ctl_file_read_line(ctl_doctor_path(d, "/sys/module/vqp/srcversion", path), loaded, sizeof(loaded));
	ret = ctl_program_run((const char *const[]){ "modinfo", "--field", "srcversion", "vqp", NULL },
			      CTL_PROGRAM_LIMIT_MS, &installed, NULL);
	if (installed)
		installed[strcspn(installed, "\n")] = '\0';
	else if (!ret)
		ret = -ENOMEM;
	if (ret > 0)
		ctl_doctor_find(d, CTL_LIMITED, id, NULL, "make -C kmod install",
				"no module is installed for this kernel: the next boot will have none");
	else if (ret || !*loaded || !*installed)
		ctl_doctor_find(d, CTL_UNTRIED, id, NULL, "modinfo vqp", "it is not known which source the module is of");
	else if (strcmp(loaded, installed))
		ctl_doctor_find(d, CTL_LIMITED, id, NULL, "when no container uses it: modprobe -r vqp && modprobe vqp",
				"the module that is loaded (%s) is another than the one installed (%s)", loaded, installed);
	else
		ctl_doctor_find(d, CTL_OK, id, NULL, NULL, "srcversion %s, as installed", loaded);
}

static void look_at_device(struct ctl_doctor *d)
{
	char path[PATH_MAX];

	if (access(ctl_doctor_path(d, VQP_DEVICE_PATH, path), F_OK))
		ctl_doctor_find(d, CTL_FAILS, "module.device", NULL, "mount devtmpfs, or have udev make it: udevadm trigger",
				VQP_DEVICE_PATH " is not there");
	else
		ctl_doctor_find(d, CTL_OK, "module.device", NULL, NULL, VQP_DEVICE_PATH);
}

/* The status is kept for later examinations. */
static void look_at_answer(struct ctl_doctor *d)
{
	cleanup_error struct vqp_error error = { 0 };
	int ret = ctl_ask_status(&d->status, &error);

	if (ret)
		ctl_doctor_find_error(d, ret == -EPERM ? CTL_UNTRIED : CTL_FAILS, "module.answers", NULL, vqp_error_text(&error));
	else if (!json_object_get(d->status, "epoch"))
		ctl_doctor_find(d, CTL_FAILS, "module.answers", NULL, "install module and programs of one version: make install",
				"the module's answer lacks what this vqpctl asks for");
	else
		ctl_doctor_find(d, CTL_OK, "module.answers", NULL, NULL, "the module answers");
}

void ctl_doctor_module(struct ctl_doctor *d)
{
	char path[PATH_MAX];

	if (access(ctl_doctor_path(d, "/sys/module/vqp", path), F_OK)) {
		ctl_doctor_find(d, CTL_FAILS, "module.loaded", NULL, "modprobe vqp; if there is none for this kernel: make -C kmod install",
				"the module vqp is not loaded");
		return;
	}
	ctl_doctor_find(d, CTL_OK, "module.loaded", NULL, NULL, "the module vqp is loaded");
	look_at_version(d);
	look_at_device(d);
	look_at_answer(d);
}
