// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include "mem/copy.h"

#define COPY_WORD	8U

/* The bytes of the largest aligned word that begins at `at` and is at most `bytes` long. */
static u32 copy_word_bytes(const void *at, u32 bytes)
{
	u32 word = COPY_WORD;

	while (word > bytes || !IS_ALIGNED((unsigned long)at, word))
		word /= 2;
	return word;
}

/* Read a word that others write; the copy may lie anywhere. */
static void copy_word_from(void *dst, const void *shared, u32 word)
{
	union { u64 u64; u32 u32; u16 u16; u8 u8; } value;

	switch (word) {
	case 8:
		value.u64 = READ_ONCE(*(const u64 *)shared);
		memcpy(dst, &value.u64, 8);
		break;
	case 4:
		value.u32 = READ_ONCE(*(const u32 *)shared);
		memcpy(dst, &value.u32, 4);
		break;
	case 2:
		value.u16 = READ_ONCE(*(const u16 *)shared);
		memcpy(dst, &value.u16, 2);
		break;
	default:
		*(u8 *)dst = READ_ONCE(*(const u8 *)shared);
	}
}

/* Write a word that others read, from anywhere. An aligned source is read as one, too. */
static void copy_word_to(void *shared, const void *src, u32 word)
{
	union { u64 u64; u32 u32; u16 u16; u8 u8; } value;

	if (IS_ALIGNED((unsigned long)src, word))
		copy_word_from(&value, src, word);
	else
		memcpy(&value, src, word);
	switch (word) {
	case 8:
		WRITE_ONCE(*(u64 *)shared, value.u64);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)shared, value.u32);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)shared, value.u16);
		break;
	default:
		WRITE_ONCE(*(u8 *)shared, value.u8);
	}
}

static void copy_words_to(void *shared, const void *src, u32 bytes)
{
	u32 word;

	for (; bytes; bytes -= word, shared += word, src += word) {
		word = copy_word_bytes(shared, bytes);
		copy_word_to(shared, src, word);
	}
}

void vqp_copy_from(void *dst, const void *shared, u32 bytes)
{
	u32 word;

	if (bytes > VQP_COPY_WORDS_BYTES) {
		memcpy(dst, shared, bytes);
		return;
	}
	for (; bytes; bytes -= word, shared += word, dst += word) {
		word = copy_word_bytes(shared, bytes);
		copy_word_from(dst, shared, word);
	}
}

void vqp_copy_to(void *shared, const void *src, u32 bytes)
{
	const unsigned long end = (unsigned long)shared + bytes;
	const u32 last = min_t(u32, bytes, (end - 1) % COPY_WORD + 1);
	const u32 body = bytes - last;

	if (bytes > VQP_COPY_WORDS_BYTES)
		memcpy(shared, src, body);
	else
		copy_words_to(shared, src, body);
	smp_wmb();	/* The body is there when the last word is. */
	copy_words_to(shared + body, src + body, last);
}
