/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The differences between the kernels that vqp is built for. The module is written for the newest
 * kernel, and each entry here gives older ones a name of it. An entry begins with the version that
 * introduced the name. It defines a macro, since a stable kernel may introduce the name later.
 *
 * The oldest kernel is 6.1.0. Its min() and max() warn of two different unsigned types until
 * 6.1.101, against which no macro helps.
 */
#ifndef VQP_BASE_COMPAT_H
#define VQP_BASE_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/hrtimer.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/sock.h>

/* 6.2, and 6.1.158. No code arms a VQP's timer any more when it is shut down. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 158)
#define timer_shutdown_sync del_timer_sync
#endif

/*
 * 6.2: a page pinned for reading stays the page that the process writes to (no copy on write).
 * 6.5: a page of a file that is written back is not pinned for long to be written to, because the
 * file system is not told of the writing, and may have let go of what it needs to write it back.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
static inline bool vqp_compat_needs_dirty_tracking(const struct vm_area_struct *vma)
{
	if ((vma->vm_flags & (VM_SHARED | VM_WRITE)) != (VM_SHARED | VM_WRITE))
		return false;
	if (vma->vm_ops && (vma->vm_ops->page_mkwrite || vma->vm_ops->pfn_mkwrite))
		return true;
	return vma->vm_file && mapping_can_writeback(vma->vm_file->f_mapping);
}

/* The caller has mmap_lock. */
static inline bool vqp_compat_may_pin(unsigned long start, int nr_pages)
{
	const unsigned long end = start + ((unsigned long)nr_pages << PAGE_SHIFT);
	struct vm_area_struct *vma = find_vma(current->mm, start);

	for (; vma && vma->vm_start < end; vma = find_vma(current->mm, vma->vm_end))
		if (vqp_compat_needs_dirty_tracking(vma))
			return false;
	return true;
}

static inline int vqp_compat_pin_user_pages_fast(unsigned long start, int nr_pages,
						 unsigned int gup_flags, struct page **pages)
{
	int ret = -EFAULT;

	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) && !(gup_flags & FOLL_WRITE))
		gup_flags |= FOLL_WRITE | FOLL_FORCE;
	mmap_read_lock(current->mm);
	if (!(gup_flags & FOLL_WRITE) || vqp_compat_may_pin(start, nr_pages))
		ret = pin_user_pages(start, nr_pages, gup_flags, pages, NULL);
	mmap_read_unlock(current->mm);
	return ret;
}

#define pin_user_pages_fast vqp_compat_pin_user_pages_fast
#endif

/* 6.3, and stable kernels of 6.1 */
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE	51
#endif

/* 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vqp_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

#define vm_flags_set vqp_compat_vm_flags_set
#endif

/* 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline bool vqp_compat_mem_cgroup_tryget(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	return !memcg || css_tryget(&memcg->css);
#else
	return true;
#endif
}

#define mem_cgroup_tryget vqp_compat_mem_cgroup_tryget
#endif

/* 6.4, SOCK_CUSTOM_SOCKOPT: setsockopt(SOL_SOCKET) of such a socket comes to its operations. */
#ifdef SOCK_CUSTOM_SOCKOPT
#define VQP_COMPAT_HEARS_SOL_SOCKET	true
#define vqp_compat_hear_sol_socket(sock)	set_bit(SOCK_CUSTOM_SOCKOPT, &(sock)->flags)
#else
#define VQP_COMPAT_HEARS_SOL_SOCKET	false
#define vqp_compat_hear_sol_socket(sock)	do { } while (0)
#endif

/* 6.6: where a protocol's sockets have their IPv6 part. It is at their end before that. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define VQP_COMPAT_PINFO_OFFSET(offset)
#else
#define VQP_COMPAT_PINFO_OFFSET(offset)	.ipv6_pinfo_offset = (offset),
#endif

/* 6.9: TCP has SO_PEEK_OFF. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define VQP_COMPAT_SET_PEEK_OFF
#else
#define VQP_COMPAT_SET_PEEK_OFF	.set_peek_off = sk_set_peek_off,
#endif

/* 6.10: proto_ops.accept has one argument for all but the sockets. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
struct proto_accept_arg {
	int flags;
	int err;
	int is_empty;
	bool kern;
};

#define VQP_COMPAT_ACCEPT(name)							\
static int name##_op(struct socket *sock, struct socket *newsock, int flags,	\
		     bool kern)							\
{										\
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };		\
										\
	return name(sock, newsock, &arg);					\
}

static inline int vqp_compat_accept(struct socket *sock, struct socket *newsock,
				    struct proto_accept_arg *arg)
{
	return sock->ops->accept(sock, newsock, arg->flags, arg->kern);
}
#else
#define VQP_COMPAT_ACCEPT(name)							\
static int name##_op(struct socket *sock, struct socket *newsock,		\
		     struct proto_accept_arg *arg)				\
{										\
	return name(sock, newsock, arg);					\
}

static inline int vqp_compat_accept(struct socket *sock, struct socket *newsock,
				    struct proto_accept_arg *arg)
{
	return sock->ops->accept(sock, newsock, arg);
}
#endif

/* 6.10. A device that is allocated otherwise is no such one to free_netdev(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline struct net_device *vqp_compat_alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *dev = kzalloc(sizeof(*dev) + sizeof_priv, GFP_KERNEL);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
}

#define alloc_netdev_dummy vqp_compat_alloc_netdev_dummy
#define vqp_compat_free_netdev_dummy kfree
#else
#define vqp_compat_free_netdev_dummy free_netdev
#endif

/* 6.12. From 6.2 on the kernel's own sockets, which have no reference, are tracked, too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
static inline void vqp_compat_sk_net_refcnt_upgrade(struct sock *sk)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	__netns_tracker_free(sock_net(sk), &sk->ns_tracker, false);
#endif
	sk->sk_net_refcnt = 1;
	get_net_track(sock_net(sk), &sk->ns_tracker, GFP_KERNEL);
	sock_inuse_add(sock_net(sk), 1);
}

#define sk_net_refcnt_upgrade vqp_compat_sk_net_refcnt_upgrade
#endif

/* 6.13; 6.15 has no hrtimer_init(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void vqp_compat_hrtimer_setup(struct hrtimer *timer,
					    enum hrtimer_restart (*function)(struct hrtimer *),
					    clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}

#define hrtimer_setup vqp_compat_hrtimer_setup
#endif

/* 6.16, which renames from_timer(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0) && !defined(timer_container_of)
#define timer_container_of from_timer
#endif

/* 6.18, which has a flag in sk_memcg. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
static inline struct mem_cgroup *vqp_compat_mem_cgroup_from_sk(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	return sk->sk_memcg;
#else
	return NULL;
#endif
}

#define mem_cgroup_from_sk vqp_compat_mem_cgroup_from_sk
#endif

/* 6.19 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define sockaddr_unsized sockaddr
#endif

/* 6.17; 7.2 warns of system_unbound_wq. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_dfl_wq system_unbound_wq
#endif

#endif
