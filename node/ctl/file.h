/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Configuration files of others, read and replaced as a whole. */
#ifndef VQPCTL_FILE_H
#define VQPCTL_FILE_H

#define CTL_FILE_MAX_BYTES	(4U << 20)

/* *text, to be freed; NULL: there is no such file. 0 or a negative errno value. */
int ctl_file_read(const char *path, char **text);

/*
 * At once, so that whoever reads sees either the old text or the new one. A link is
 * followed. Owner and mode are those of the file `model`, which may be this one; if
 * there is none it is root's, for all to read. Directories are made. Text NULL: remove
 * it. 0 or a negative errno value.
 */
int ctl_file_replace(const char *path, const char *model, const char *text);

#endif
