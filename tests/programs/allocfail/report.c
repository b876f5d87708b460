// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "main.h"
#include "report.h"

static int kmsg_fd = -1;

void report_setup(void)
{
	kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg_fd < 0)
		die(errno, "/dev/kmsg");
}

void report_begin(void)
{
	if (lseek(kmsg_fd, 0, SEEK_END) < 0)
		die(errno, "/dev/kmsg");
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Of the injection itself, and of the allocators. */
static bool is_plumbing(const char *function)
{
	static const char *const prefixes[] = {
		"dump_stack", "should_fail", "__should_fail", "fail_", "kmem_cache_", "__kmem_cache_", "kmalloc",
		"__kmalloc", "krealloc", "kvmalloc", "__kvmalloc", "slab_", "__slab_", "___slab_", "new_slab",
		"allocate_slab", "alloc_pages", "__alloc_pages", "__get_free_pages", "get_zeroed_page", "prepare_alloc",
		"__vmalloc", "vmalloc", "pcpu_", "__alloc_percpu", "__alloc_skb", "kstrdup", "kmemdup",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (starts_with(function, prefixes[i]))
			return true;
	return false;
}

/* " function+0x1/0x2 [module]", innermost first. Those behind a question mark are leftovers on the stack. */
static void parse_frame(struct report *report, const char *frame)
{
	const int bytes = (int)strcspn(frame + 1, "+. ");
	const bool ours = strstr(frame, "[vqp]");
	char inner[sizeof(report->function) / 2];
	const char *at;

	if (*frame != ' ' || frame[1] == '?' || !strstr(frame, "+0x"))
		return;
	if (!*report->function && !is_plumbing(frame + 1)) {
		snprintf(report->function, sizeof(inner), "%.*s", bytes, frame + 1);
	} else if (ours && !report->in_module) {
		snprintf(inner, sizeof(inner), "%.*s", (int)sizeof(inner) - 1, report->function);
		snprintf(report->function, sizeof(report->function), "%.*s:%s", bytes, frame + 1, inner);
	}
	report->in_module |= ours;
	report->fallback |= starts_with(frame + 1, "allocate_slab") ||
			    /* word to udev, which device_add() does without */
			    starts_with(frame + 1, "kobject_uevent") ||
			    /* the name of its lock, for lockdep */
			    (starts_with(frame + 1, "alloc_workqueue") && starts_with(report->function, "kvasprintf")) ||
			    starts_with(frame + 1, "memcg_alloc_slab_cgroups") ||
			    (starts_with(frame + 1, "asm_exc_page_fault") && !report->in_module);
	for (at = frame; *at; at++)
		report->way = (report->way ^ (unsigned char)*at) * 0x100000001b3;
}

void report_read(struct report *report)
{
	char record[8192], *text;
	bool begun = false;
	ssize_t n;

	*report = (struct report){ .way = 0xcbf29ce484222325 };
	while ((n = read(kmsg_fd, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;	/* lines were lost; tests/lib/testbed.bash will say so */
		record[n] = '\0';
		record[strcspn(record, "\n")] = '\0';
		text = strchr(record, ';');
		if (!text)
			continue;
		text++;
		if (starts_with(text, "FAULT_INJECTION: forcing a failure")) {
			report->kind = strstr(text, "name fail_usercopy") ? REPORT_USERCOPY : REPORT_MEMORY;
			begun = true;
		} else if (begun) {
			parse_frame(report, text);
		}
		if (strstr(text, "</TASK>"))
			begun = false;
	}
}
