/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CNI's own library, libcni, for programs in C, which attaches a container to a network list and
 * detaches it. Loading libvqpcni.so starts Go's runtime with its threads, which do not end, and the
 * library cannot be unloaded: a program should load it only when it needs it, and with no more
 * privileges than plugins may have.
 */
#ifndef VQPCNI_H
#define VQPCNI_H

/* The arguments of a call. They belong to the caller, and are read during the call only. */
struct vqpcni_attachment {
	const char *list;	/* the name of a network list, or of a single network */
	const char *container;	/* the container's id */
	/* The path of its network namespace; NULL or "" in del if that has gone. */
	const char *netns;
	const char *ifname;	/* the interface in the container */
	const char *conf_dir;	/* the directory of network lists */
	const char *bin_dirs;	/* the directories of plugins, separated by colons */
	const char *cache_dir;	/* the directory of records; NULL for libcni's own, /var/lib/cni */
	/* The time after which plugins are killed: for all together, but in del for each. */
	unsigned int timeout_s;
};

/*
 * Each function returns 0 and *text as described, or -1 and *text with the reason and what to do
 * about it. The caller frees *text in both cases. The environment of plugins has the system's PATH
 * and CNI's variables, and nothing else.
 */

/*
 * Attaches a container; *text is the result in JSON. If an attachment of these names is on record,
 * which a crash of the machine has left, it is deleted before. If a plugin fails, the whole list is
 * deleted again.
 */
int vqpcni_add(struct vqpcni_attachment *attachment, char **text);

/* Checks that the attachment is as add left it. *text is "". */
int vqpcni_check(struct vqpcni_attachment *attachment, char **text);

/*
 * Detaches a container, by the list as it was when add succeeded, if that is on record. A plugin
 * that fails or hangs does not keep the others from running. The record stays until all have
 * succeeded. *text is "".
 */
int vqpcni_del(struct vqpcni_attachment *attachment, char **text);

#endif
