// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kernel's gcov as a module, for kernels that were built without it, as
 * Debian's are. It shows the counters of modules that are compiled with
 * --coverage in /sys/kernel/debug/gcov, also after they were unloaded. It stays.
 */
#define pr_fmt(fmt) "gcov: " fmt
#include <linux/init.h>
#include <linux/module.h>
#include <linux/string.h>

#undef device_initcall
#define device_initcall(fn)	/* below */

#include "gcc_4_7.c"
#include "gcc_base.c"
#include "base.c"
#include "fs.c"

/*
 * Such a kernel does not call a module's constructors, which make its counters
 * known: GCC gives each object one of this name.
 */
static void call_constructors(const struct mod_kallsyms *symbols)
{
	unsigned int i;

	for (i = 0; i < symbols->num_symtab; i++) {
		const typeof(*symbols->symtab) *symbol = &symbols->symtab[i];

		if (!strcmp(symbols->strtab + symbol->st_name, "_sub_I_00100_0"))
			((void (*)(void))symbol->st_value)();
	}
}

static int module_event(struct notifier_block *nb, unsigned long event, void *module)
{
	const struct module *mod = module;

	if (event == MODULE_STATE_COMING)
		call_constructors(rcu_dereference_raw(mod->kallsyms));
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
};

static int __init gcov_module_init(void)
{
	int ret = gcov_init();

	if (!ret)
		ret = register_module_notifier(&module_notifier);
	return ret ?: gcov_fs_init();
}

module_init(gcov_module_init);
MODULE_DESCRIPTION("gcov for kernels without it");
MODULE_LICENSE("GPL");
