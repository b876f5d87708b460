/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Configuration files of other programs, which are read and replaced as a whole. */
#ifndef VQPCTL_FILE_H
#define VQPCTL_FILE_H

#define CTL_FILE_MAX_BYTES	(4U << 20)

/*
 * Reads a file to *text, which the caller frees; NULL if there is no file. 0 or a negative errno
 * value.
 */
int ctl_file_read(const char *path, char **text);

/* Reads the first line of a file, as of sysfs, without its newline; "" if it cannot be read. */
void ctl_file_read_line(const char *path, char *line, int bytes);

/*
 * Replaces the text of a file atomically, so that readers see either the old text or the new one. A
 * symbolic link is followed. Owner and mode are those of the file `model`, which may be this one;
 * without a model the file is root's, and all may read it. Directories are made. If text is NULL,
 * the file is removed. 0 or a negative errno value.
 */
int ctl_file_replace(const char *path, const char *model, const char *text);

#endif
