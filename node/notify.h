/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef VQP_NODE_NOTIFY_H
#define VQP_NODE_NOTIFY_H

/*
 * Tells the service manager that the daemon is ready (Type=notify of systemd.service(5)), which
 * then starts what is to be started after it. 0, also if no service manager wants to know; or a
 * negative errno value.
 */
int vqp_notify_ready(void);

#endif
