// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/vqp.h>
#include "dev/calls.h"
#include "dev/context.h"
#include "dev/file.h"

static int file_open(struct inode *inode, struct file *file)
{
	struct vqp_context *ctx = vqp_context_create(file);

	if (!ctx)
		return -ENOMEM;
	file->private_data = ctx;
	return 0;
}

static int file_release(struct inode *inode, struct file *file)
{
	vqp_context_destroy(file->private_data);
	return 0;
}

static long file_ioctl(struct file *file, unsigned int cmd, unsigned long uaddr)
{
	return vqp_call(file->private_data, cmd, (void __user *)uaddr);
}

static int file_mmap(struct file *file, struct vm_area_struct *vma)
{
	return vqp_context_mmap(file->private_data, vma);
}

static const struct file_operations file_fops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = file_release,
	.unlocked_ioctl = file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = file_mmap,
};

static struct miscdevice file_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = VQP_DEVICE_NAME,
	.mode = 0666,
	.fops = &file_fops,
};

int __init vqp_file_init(void)
{
	return misc_register(&file_device);
}

void vqp_file_exit(void)
{
	misc_deregister(&file_device);
}
