// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For nodes of several processors under QEMU's TCG, which before 8.1 may go on executing an int3
 * that the kernel's text patching has taken away again (mended upstream by deba78709ae8): nobody
 * knows of such a breakpoint any more, and the node dies of it ("Oops: int3"). Here the
 * instruction that is in its place is done, if it is one that is patched.
 */
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#define INSN_BYTES	5

/* 0: it is none. */
static u32 int3_nop_bytes(const u8 *insn)
{
	static const u8 nop2[] = { 0x66, 0x90 }, nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return !memcmp(insn, nop2, sizeof(nop2)) ? sizeof(nop2) :
	       !memcmp(insn, nop5, sizeof(nop5)) ? sizeof(nop5) : 0;
}

/* As poke_int3_handler() does what is about to be there. NMI context. */
static int int3_done(struct notifier_block *block, unsigned long what, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const unsigned long at = regs->ip - INT3_INSN_SIZE;
	u8 insn[INSN_BYTES];

	if (what != DIE_INT3 || user_mode(regs) ||
	    copy_from_kernel_nofault(insn, (void *)at, sizeof(insn)))
		return NOTIFY_DONE;
	if (int3_nop_bytes(insn))
		int3_emulate_jmp(regs, at + int3_nop_bytes(insn));
	else if (insn[0] == JMP8_INSN_OPCODE)
		int3_emulate_jmp(regs, at + JMP8_INSN_SIZE + (s8)insn[1]);
	else if (insn[0] == JMP32_INSN_OPCODE)
		int3_emulate_jmp(regs, at + JMP32_INSN_SIZE + *(s32 *)&insn[1]);
	else if (insn[0] == CALL_INSN_OPCODE)
		int3_emulate_call(regs, at + CALL_INSN_SIZE + *(s32 *)&insn[1]);
	else
		return NOTIFY_DONE;
	pr_info_ratelimited("int3: a breakpoint that is gone, at %pS\n", (void *)at);
	return NOTIFY_STOP;
}

static struct notifier_block int3_block = { .notifier_call = int3_done };

static int __init int3_init(void)
{
	return register_die_notifier(&int3_block);
}
module_init(int3_init);

static void __exit int3_exit(void)
{
	unregister_die_notifier(&int3_block);
}
module_exit(int3_exit);

MODULE_DESCRIPTION("Breakpoints that are gone");
MODULE_LICENSE("Dual BSD/GPL");
