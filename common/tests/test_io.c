/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../io.h"

#define MORE_THAN_A_PIPE_HOLDS	(1U << 20)

static void make_pipe(int ends[2])
{
	assert_int_equal(pipe(ends), 0);
}

static void what_comes_in_pieces_is_read_as_one(void **state)
{
	char text[16] = "";
	int ends[2];

	(void)state;
	make_pipe(ends);
	if (!fork()) {
		for (const char *c = "pieces"; *c; c++) {
			usleep(1000);
			if (write(ends[1], c, 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(vqp_io_read(ends[0], text, 4), 4);
	assert_memory_equal(text, "piec", 4);
	assert_int_equal(vqp_io_read(ends[0], text, sizeof(text)), 2);
	assert_memory_equal(text, "es", 2);
	assert_int_equal(vqp_io_read(ends[0], text, sizeof(text)), 0);
	close(ends[0]);
	assert_true(wait(NULL) > 0);
}

static void what_does_not_fit_at_once_is_written_whole(void **state)
{
	static char out[MORE_THAN_A_PIPE_HOLDS], in[MORE_THAN_A_PIPE_HOLDS];
	int ends[2], status;

	(void)state;
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7);
	make_pipe(ends);
	if (!fork())
		_exit(vqp_io_write(ends[1], out, sizeof(out)) ? 1 : 0);
	close(ends[1]);
	assert_int_equal(vqp_io_read(ends[0], in, sizeof(in)), sizeof(in));
	assert_memory_equal(in, out, sizeof(in));
	close(ends[0]);
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
}

static void errors_are_told(void **state)
{
	char byte = 0;

	(void)state;
	assert_int_equal(vqp_io_read(-1, &byte, 1), -EBADF);
	assert_int_equal(vqp_io_write(-1, &byte, 1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_in_pieces_is_read_as_one),
		cmocka_unit_test(what_does_not_fit_at_once_is_written_whole),
		cmocka_unit_test(errors_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
