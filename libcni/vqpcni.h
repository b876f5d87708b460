/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CNI's own library, libcni, for programs in C: attaches a container to a
 * network list and detaches it. Loading libvqpcni.so starts Go's runtime with
 * its threads, and nothing ends them: load it when it is needed, with no more
 * privileges than plugins are to have. It cannot be unloaded.
 */
#ifndef VQPCNI_H
#define VQPCNI_H

/* The caller's; strings are read during the call only. */
struct vqpcni_attachment {
	const char *list;	/* the name of a network list, or of a single network */
	const char *container;	/* the container's id */
	const char *netns;	/* path of its network namespace; NULL or "" in del if that is gone */
	const char *ifname;	/* of the interface in it */
	const char *conf_dir;	/* where network lists are */
	const char *bin_dirs;	/* where plugins are, separated by colons */
	const char *cache_dir;	/* what is attached is kept here; NULL: libcni's own /var/lib/cni */
	unsigned int timeout_s;	/* plugins that take longer are killed: in all, but in del each */
};

/*
 * Each returns 0 with *text what is described, or -1 with *text the reason and
 * what to do about it. *text is to be given to free() in both cases. Plugins
 * have the system's PATH and CNI's variables in their environment, and nothing
 * else.
 */

/*
 * Attach; *text is the result in JSON. What an earlier attachment of these
 * names left, of a machine that crashed, is deleted before. A list of which a
 * plugin fails is deleted again.
 */
int vqpcni_add(struct vqpcni_attachment *attachment, char **text);

/* Whether it is as add left it. *text is "". */
int vqpcni_check(struct vqpcni_attachment *attachment, char **text);

/*
 * Detach, by the list as it was when add succeeded, if that is known. A plugin
 * that fails or hangs does not keep the others; the list is known until all have
 * succeeded. *text is "".
 */
int vqpcni_del(struct vqpcni_attachment *attachment, char **text);

#endif
