/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a daemon tells the service manager (systemd's, sd_notify(3)), and gets from it. Without one
 * there is nothing to tell, which is no error.
 */
#ifndef VQP_NODE_NOTIFY_H
#define VQP_NODE_NOTIFY_H

/*
 * Tells that the daemon is ready (Type=notify of systemd.service(5)); the service manager then
 * starts what is to be started after it. 0 or a negative errno value.
 */
int vqp_notify_ready(void);

/*
 * Has the service manager keep a duplicate of the descriptor by that name, in place of what it has
 * by it, for the next process of the unit (FileDescriptorStoreMax= of systemd.service(5)). 1 if it
 * was told, 0 if there is none, or a negative errno value.
 */
int vqp_notify_keep(int fd, const char *name);

/*
 * The descriptor that the last process of the unit had kept by that name, which is the caller's; or
 * -1. Others that came with it are closed. To be called once, while there is one thread.
 */
int vqp_notify_kept(const char *name);

#endif
