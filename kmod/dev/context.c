// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include "api/api.h"
#include "base/counters.h"
#include "dev/context.h"
#include "dev/ring.h"
#include "mem/arena.h"
#include "ns/namespace.h"

struct vqp_context *vqp_context_create(struct file *file)
{
	struct vqp_context *ctx = kmalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return NULL;
	vqp_owner_init(&ctx->owner);
	ctx->file = file;
	ctx->mapped = NULL;
	vqp_count_made(VQP_OBJ_CONTEXT);
	return ctx;
}

void vqp_context_destroy(struct vqp_context *ctx)
{
	vqp_close(&ctx->owner);
	if (ctx->mapped)
		fput(ctx->mapped);
	kfree(ctx);
	vqp_count_freed(VQP_OBJ_CONTEXT);
}

/*
 * Open the file of the context's mappings. This does not happen in mmap(), whose caller holds
 * mmap_lock: security modules and fanotify listeners may sleep for long in the opening.
 */
static int context_open_mapped(struct vqp_context *ctx)
{
	struct file *mapped;

	if (READ_ONCE(ctx->mapped))
		return 0;
	mapped = dentry_open(&ctx->file->f_path, O_RDWR, ctx->file->f_cred);
	if (IS_ERR(mapped))
		return PTR_ERR(mapped);
	/* Another thread may have opened it meanwhile. */
	if (cmpxchg(&ctx->mapped, NULL, mapped))
		fput(mapped);
	return 0;
}

/*
 * The host's own namespace is for those who may administer it. vqp_open() looks at the caller; but
 * who opened the device has the use of the context as well, and may have handed it to the caller.
 */
static bool context_may_open(const struct vqp_context *ctx, const struct net *net)
{
	return !net_eq(net, &init_net) ||
	       file_ns_capable(ctx->file, &init_user_ns, CAP_NET_ADMIN);
}

int vqp_context_attach(struct vqp_context *ctx, const u8 *gid)
{
	struct net *net = current->nsproxy->net_ns;
	int ret = 0;

	if (!vqp_owner_is_bound(&ctx->owner)) {
		if (!context_may_open(ctx, net))
			return -EPERM;
		ret = context_open_mapped(ctx) ?: vqp_open(&ctx->owner, net, gid);
		/* Another thread may have attached the context meanwhile. */
		if (ret == -EISCONN)
			ret = 0;
	}
	if (!ret && gid && memcmp(ctx->owner.ns->gid, gid, VQP_GID_BYTES))
		ret = -EISCONN;
	return ret ?: vqp_context_ready(ctx);
}

int vqp_context_ready(const struct vqp_context *ctx)
{
	if (unlikely(!vqp_owner_is_bound(&ctx->owner)))
		return -EUNATCH;
	return vqp_ns_alive(ctx->owner.ns) ? 0 : -ESHUTDOWN;
}

int vqp_context_mmap(struct vqp_context *ctx, struct vm_area_struct *vma)
{
	int ret = vqp_context_ready(ctx);

	if (ret)
		return ret;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	ret = vma->vm_pgoff ? vqp_ring_mmap(&ctx->owner, vma) : vqp_arena_mmap(&ctx->owner, vma);
	if (!ret)
		vma_set_file(vma, ctx->mapped);
	return ret;
}
