// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/netdevice.h>
#include <net/sock.h>
#include "base/compat.h"
#include "base/counters.h"
#include "sock/napi.h"

static struct net_device *napi_dev;	/* of no network; an instance must have one */
static struct napi_struct napi;

/*
 * One thread at a time polls the instance, and others look for events meanwhile. It is told by
 * napi_complete_done() whether this was its last poll.
 */
static int napi_poll(struct napi_struct *n, int budget)
{
	if (napi_complete_done(n, 0))
		vqp_count_event(VQP_EV_SOCK_POLLED);
	return 0;
}

int __init vqp_napi_init(void)
{
	napi_dev = alloc_netdev_dummy(0);
	if (!napi_dev)
		return -ENOMEM;
	netif_napi_add(napi_dev, &napi, napi_poll);
	napi_enable(&napi);
	return 0;
}

/* Programs may know the number yet, by which they find nothing when this has returned. */
void vqp_napi_exit(void)
{
	napi_disable(&napi);
	netif_napi_del(&napi);
	vqp_compat_free_netdev_dummy(napi_dev);
}

void vqp_napi_mark(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_napi_id, napi.napi_id);
#endif
}

void vqp_napi_unmark(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_napi_id, 0);
#endif
}
