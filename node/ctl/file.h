/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Configuration files of other programs, which are read and replaced as a whole. */
#ifndef VQPCTL_FILE_H
#define VQPCTL_FILE_H

#include <sys/stat.h>

#define CTL_FILE_MAX_BYTES	(16U << 20)

/*
 * Reads a file to *text, which the caller frees; NULL if there is no file. 0 or a negative errno
 * value.
 */
int ctl_file_read(const char *path, char **text);

/* Reads the first line of a file, as of sysfs, without its newline; "" if it cannot be read. */
void ctl_file_read_line(const char *path, char *line, int bytes);

/*
 * Looks at owner and mode of a file. Without one they are those of a new file: it is root's, and
 * all may read it. 0 or a negative errno value.
 */
int ctl_file_look(const char *path, struct stat *its);

/*
 * Replaces the text of a file atomically, so that readers see either the old text or the new one,
 * and gives it owner and mode of `its`; extended attributes stay. Directories are made. If text is
 * NULL, the file is removed. A symbolic link stays, and what it names is replaced or removed, even
 * if it is not there yet. 0 or a negative errno value.
 */
int ctl_file_replace(const char *path, const struct stat *its, const char *text);

/*
 * Writes a text of the file at `path` to `backup`, with the file's owner, mode and extended
 * attributes: it may be a secret. 0 or a negative errno value.
 */
int ctl_file_back_up(const char *path, const char *backup, const char *text);

#endif
