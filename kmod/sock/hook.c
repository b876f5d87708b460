// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/in.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/workqueue.h>
#include "base/compat.h"
#include "ns/namespace.h"
#include "sock/hook.h"

static bool hook_wanted = true;
module_param_named(hook, hook_wanted, bool, 0644);
MODULE_PARM_DESC(hook, "give stream sockets of vqp to programs that ask for TCP (default: yes)");

static DEFINE_MUTEX(hook_mutex);	/* guards the probes and all below */
static enum vqp_hook hook_state;	/* read without */
static bool hook_follows;		/* The protocol is there. */
static bool hook_lists;			/* The probes stay: tasks may be listed. Read without. */

/* ---- The arguments of a function, at its first instruction ---- */

#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#define HOOK_IS_POSSIBLE	true
#define hook_argument		regs_get_kernel_argument
#else
#define HOOK_IS_POSSIBLE	false
#define hook_argument(regs, n)	0UL
#endif

static void hook_set_protocol(struct pt_regs *regs, int protocol)
{
#if defined(CONFIG_X86_64)
	regs->dx = protocol;
#elif defined(CONFIG_ARM64)
	regs->regs[2] = protocol;
#endif
}

/* Does a program mean TCP? It does with MPTCP, too, which Go's listeners ask for if it is there. */
static bool hook_is_tcp(int protocol)
{
	return protocol == IPPROTO_IP || protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP;
}

/* ---- Who asks: a kretprobe of what socket(2) and io_uring call, and no driver ---- */

#define HOOK_ASKERS_BITS	11
#define HOOK_ASKERS_NEAR	8	/* so many slots may have a task */
#define HOOK_ASKERS_MAX		1024	/* the most calls of each function at a time */

/*
 * The tasks that are in such a call, ask for TCP, and may have one of ours. Each has one of the few
 * slots from that on to which its address leads, and a reference on the module, so that what it
 * has been promised is there. A slot is taken, and given back, by its task alone.
 */
static struct task_struct *hook_askers[1 << HOOK_ASKERS_BITS];

/* The slot of the current task that has `task` in it, or NULL. */
static struct task_struct **hook_slot(const struct task_struct *task)
{
	const u32 first = hash_ptr(current, HOOK_ASKERS_BITS);
	u32 i, at;

	for (i = 0; i < HOOK_ASKERS_NEAR; i++) {
		at = (first + i) % ARRAY_SIZE(hook_askers);
		if (READ_ONCE(hook_askers[at]) == task)
			return &hook_askers[at];
	}
	return NULL;
}

NOKPROBE_SYMBOL(hook_slot);

bool vqp_hook_is_asked(void)
{
	return hook_slot(current);
}

NOKPROBE_SYMBOL(vqp_hook_is_asked);

/* False: too many others ask. */
static bool hook_list_asker(void)
{
	struct task_struct **slot;

	/* Another task may be faster. It has the slot then, so that this ends. */
	do {
		slot = hook_slot(NULL);
	} while (slot && cmpxchg(slot, NULL, current));
	return slot;
}

NOKPROBE_SYMBOL(hook_list_asker);

/*
 * Is it for a stream socket of TCP? The network namespace is looked at first, since most have
 * sockets off.
 */
static bool hook_asks(struct pt_regs *regs)
{
	const int family = hook_argument(regs, 0);

	return vqp_ns_sockets_on(current->nsproxy->net_ns) && READ_ONCE(hook_wanted) &&
	       READ_ONCE(hook_lists) && (family == AF_INET || family == AF_INET6) &&
	       (hook_argument(regs, 1) & SOCK_TYPE_MASK) == SOCK_STREAM &&
	       hook_is_tcp(hook_argument(regs, 2));
}

NOKPROBE_SYMBOL(hook_asks);

/*
 * At the first instruction of int __sys_socket(int family, int type, int protocol), or of
 * __sys_socket_file(), which has the same arguments. 0: hook_leave() is called when it returns.
 */
static int hook_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	/* A module that is being unloaded gives no more sockets. */
	if (!hook_asks(regs) || !try_module_get(THIS_MODULE))
		return 1;
	if (hook_list_asker())
		return 0;
	module_put(THIS_MODULE);
	return 1;
}

NOKPROBE_SYMBOL(hook_enter);

static int hook_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	WRITE_ONCE(*hook_slot(current), NULL);
	module_put(THIS_MODULE);
	return 0;
}

NOKPROBE_SYMBOL(hook_leave);

static bool hook_has_askers(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hook_askers); i++)
		if (READ_ONCE(hook_askers[i]))
			return true;
	return false;
}

/* ---- What they get: a kprobe of what makes a socket of the families ---- */

/*
 * At the first instruction of int inet_create(struct net *, struct socket *, int protocol, int
 * kern), or of inet6_create(). LSMs have been asked for TCP by now.
 */
static int hook_create(struct kprobe *probe, struct pt_regs *regs)
{
	const struct socket *sock = (const struct socket *)hook_argument(regs, 1);

	if (sock->type == SOCK_STREAM && hook_is_tcp(hook_argument(regs, 2)) &&
	    !hook_argument(regs, 3) && vqp_hook_is_asked())
		hook_set_protocol(regs, IPPROTO_VQP);
	return 0;
}

NOKPROBE_SYMBOL(hook_create);

/* ---- Setting up ---- */

static const char *const hook_makers[] = { "inet_create", "inet6_create" };
static const char *const hook_calls[] = { "__sys_socket", "__sys_socket_file" };
static struct kprobe hook_maker_probes[ARRAY_SIZE(hook_makers)];
static struct kretprobe hook_call_probes[ARRAY_SIZE(hook_calls)];

/* Those that were registered before have fields that must not be there again. */
static void hook_clear_probes(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hook_makers); i++)
		hook_maker_probes[i] = (struct kprobe) {
			.symbol_name = hook_makers[i],
			.pre_handler = hook_create,
		};
	for (i = 0; i < ARRAY_SIZE(hook_calls); i++)
		hook_call_probes[i] = (struct kretprobe) {
			.kp.symbol_name = hook_calls[i],
			.entry_handler = hook_enter,
			.handler = hook_leave,
			.maxactive = HOOK_ASKERS_MAX,
		};
}

static int hook_register(void)
{
	struct kretprobe *calls[] = { &hook_call_probes[0], &hook_call_probes[1] };
	struct kprobe *makers[] = { &hook_maker_probes[0], &hook_maker_probes[1] };
	int ret;

	if (!HOOK_IS_POSSIBLE)
		return -EOPNOTSUPP;
	hook_clear_probes();
	ret = register_kprobes(makers, ARRAY_SIZE(makers));
	if (ret)
		return ret;
	ret = register_kretprobes(calls, ARRAY_SIZE(calls));
	if (ret)
		unregister_kprobes(makers, ARRAY_SIZE(makers));
	return ret;
}

/* No task is listed, nor will be: its hook_leave() would not be called. */
static void hook_unregister(void)
{
	struct kretprobe *calls[] = { &hook_call_probes[0], &hook_call_probes[1] };
	struct kprobe *makers[] = { &hook_maker_probes[0], &hook_maker_probes[1] };

	unregister_kretprobes(calls, ARRAY_SIZE(calls));
	unregister_kprobes(makers, ARRAY_SIZE(makers));
}

static void hook_arm(void)
{
	int ret = 0;

	lockdep_assert_held(&hook_mutex);
	if (hook_state != VQP_HOOK_ARMED)
		ret = hook_register();
	WRITE_ONCE(hook_lists, !ret);
	/* It is tried again for each namespace that has sockets turned on: not a line for each. */
	if (ret && hook_state != VQP_HOOK_REFUSED)
		pr_warn("no hook of socket(2) here (error %d): programs get sockets of vqp by number or vqp-run alone\n",
			ret);
	WRITE_ONCE(hook_state, ret ? VQP_HOOK_REFUSED : VQP_HOOK_ARMED);
}

static void hook_disarm(void)
{
	lockdep_assert_held(&hook_mutex);
	if (hook_state == VQP_HOOK_ARMED)
		hook_unregister();
	WRITE_ONCE(hook_state, VQP_HOOK_IDLE);
}

/*
 * To change the kernel's code takes milliseconds, and to change it back some grace periods of RCU.
 * So it stays for a while after the last namespace with sockets on: another container may come.
 */
#define HOOK_IDLE_DELAY	(5 * HZ)

static void hook_idle_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(hook_idle, hook_idle_work);

/* Remove the probes, if no task is listed; else later. */
static void hook_try_disarm(void)
{
	lockdep_assert_held(&hook_mutex);
	/* Sockets may be turned on at any time, but hook_arm() waits for the mutex. */
	WRITE_ONCE(hook_lists, false);
	synchronize_rcu();	/* hook_enter() runs with preemption off. */
	if (hook_has_askers())
		queue_delayed_work(system_dfl_wq, &hook_idle, HOOK_IDLE_DELAY);
	else
		hook_disarm();
}

static void hook_idle_work(struct work_struct *work)
{
	mutex_lock(&hook_mutex);
	if (!vqp_ns_any_sockets())
		hook_try_disarm();
	mutex_unlock(&hook_mutex);
}

/* Some namespace may be the first with sockets on, or may have been the last. */
static void hook_follow(struct vqp_ns *ns)
{
	mutex_lock(&hook_mutex);
	if (hook_follows && vqp_ns_any_sockets())
		hook_arm();
	else if (hook_follows && hook_state != VQP_HOOK_IDLE)
		mod_delayed_work(system_dfl_wq, &hook_idle, HOOK_IDLE_DELAY);
	mutex_unlock(&hook_mutex);
}

struct vqp_ns_user vqp_hook_ns_user = {
	.sockets = hook_follow,
	.kill = hook_follow,
};

enum vqp_hook vqp_hook_state(void)
{
	return READ_ONCE(hook_wanted) ? READ_ONCE(hook_state) : VQP_HOOK_OFF;
}

static void hook_set_follows(bool follows)
{
	mutex_lock(&hook_mutex);
	hook_follows = follows;
	mutex_unlock(&hook_mutex);
}

void __init vqp_hook_init(void)
{
	hook_set_follows(true);
	hook_follow(NULL);
}

/* Nobody is listed, or would have a reference on the module. */
void vqp_hook_exit(void)
{
	hook_set_follows(false);
	cancel_delayed_work_sync(&hook_idle);
	mutex_lock(&hook_mutex);
	hook_disarm();
	mutex_unlock(&hook_mutex);
}
