/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef ALLOCFAIL_MODULE_H
#define ALLOCFAIL_MODULE_H

/*
 * Load the module, failing its allocations one at a time; unload it whenever it
 * loads. Of allocations in a loop, all alike, it fails the first ones and then
 * ever fewer. Returns 0, or exits.
 */
int module_run(const char *path, const char *params);

#endif
