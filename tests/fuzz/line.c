// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * JSON lines that come in pieces, against a plain split of the whole; and each
 * object sent back. The first byte of a piece says how long it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../node/line.h"
#include "json.h"

#define MAX	48		/* bytes of a line, so that longer ones are common */

const char *const fuzz_words[] = { "op", "a", "a-name-of-some-length", "", NULL };

static struct vqp_line line;
static int peer;

/* What vqp_line_next() is to say about the line at hand. */
static int expected(const uint8_t *text, size_t bytes)
{
	json_t *json;
	bool is_object;

	if (bytes > MAX)
		return -EMSGSIZE;
	json = json_loadb((const char *)text, bytes, JSON_REJECT_DUPLICATES, NULL);
	is_object = json_is_object(json);
	json_decref(json);
	return is_object ? 1 : -EBADMSG;
}

static void check_echo(const json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT), got[4 * MAX];
	ssize_t bytes;

	fuzz_check(!vqp_line_queue(&line, object));
	fuzz_check(vqp_line_unsent(&line));
	fuzz_check(!vqp_line_flush(&line));
	fuzz_check(!vqp_line_unsent(&line));
	bytes = recv(peer, got, sizeof(got), MSG_DONTWAIT);
	if (bytes < (ssize_t)sizeof(got)) {	/* escapes may make it longer */
		fuzz_check(bytes == (ssize_t)strlen(text) + 1 && got[bytes - 1] == '\n');
		fuzz_check(!memcmp(got, text, bytes - 1));
	}
	while (bytes == (ssize_t)sizeof(got))
		bytes = recv(peer, got, sizeof(got), MSG_DONTWAIT);
	free(text);
}

/* All that can be told of `whole` so far; `*told` bytes of it were before. */
static void check_lines(const uint8_t *whole, size_t bytes, size_t *told, bool *skipping)
{
	json_t *object = NULL;
	int ret;

	for (;;) {
		const uint8_t *at = whole + *told, *newline = memchr(at, '\n', bytes - *told);
		const size_t length = newline ? (size_t)(newline - at) : bytes - *told;
		const bool skipped = *skipping;

		if (!newline && (skipped || length <= MAX))
			break;
		if (newline)
			*told += length + 1;
		*skipping = !newline;
		if (skipped)
			continue;	/* it was told that this one is too long */
		ret = vqp_line_next(&line, &object);
		fuzz_check(ret == expected(at, length));
		if (ret != 1)
			continue;
		check_echo(object);
		json_decref(object);
	}
	fuzz_check(!vqp_line_next(&line, &object));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz in = { data, bytes };
	uint8_t *whole = malloc(bytes + 1);
	size_t sent = 0, told = 0;
	bool skipping = false;
	int fds[2];

	fuzz_check(whole && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
	vqp_line_init(&line, fds[0], MAX);
	peer = fds[1];
	while (in.left) {
		size_t piece = fuzz_byte(&in);

		if (!piece || piece > in.left)
			piece = in.left;
		if (!piece)
			break;
		memcpy(whole + sent, in.at, piece);
		fuzz_check(send(peer, in.at, piece, MSG_NOSIGNAL) == (ssize_t)piece);
		in.at += piece;
		in.left -= piece;
		sent += piece;
		fuzz_check(vqp_line_fill(&line) == 1);
		check_lines(whole, sent, &told, &skipping);
	}
	fuzz_check(vqp_line_fill(&line) == 1);	/* nothing more */
	/* close() is not enough: while others read /proc/PID/fd, the file stays open. */
	shutdown(peer, SHUT_RDWR);
	fuzz_check(vqp_line_fill(&line) == 0);
	close(peer);
	vqp_line_exit(&line);
	free(whole);
	return 0;
}
