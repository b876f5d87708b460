// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bad.h"

static const char *const wc_names[] = {
	"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR",
	"BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR",
};

static const struct bad_case *const tables[] = {
	bad_contexts, bad_maps, bad_calls, bad_posts, bad_strides, bad_wcs, bad_netlinks
};

#define FOR_EACH_CASE(table, c)						\
	for (table = 0; table < sizeof(tables) / sizeof(tables[0]); table++)	\
		for (c = tables[table]; c->name; c++)

int bad_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static struct vqpt_conn open_conn(const struct vqpt_options *options)
{
	struct vqpt_options o = *options;

	o.depth = BAD_WRS - 16;		/* vqpt_conn_open() adds those 16 */
	o.sges = 4;
	return vqpt_conn_open(&o, BAD_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

struct vqpt_conn bad_stranger(const struct bad *b)
{
	return open_conn(b->options);
}

int bad_completion(const struct bad *b, struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!ibv_poll_cq(cq, 1, &wc)) {
		n = vqp_cq_wait(cq, b->options->timeout_ms);
		if (n <= 0)
			return n ? -n : ETIMEDOUT;
	}
	return wc.status ? BAD_WC(wc.status) : 0;
}

static void print_result(int result)
{
	int status = result - BAD_WC(0);

	if (!result)
		printf("OK\n");
	else if (status >= 0 && status < (int)(sizeof(wc_names) / sizeof(wc_names[0])))
		printf("%s\n", wc_names[status]);
	else
		printf("%s\n", strerrorname_np(result));
}

static bool has_conn(const struct bad_case *c)
{
	return c->need == BAD_CONTEXT || c->need == BAD_LINK;
}

static int run_case(const struct bad_case *c, const struct vqpt_options *options, char **args)
{
	struct bad b = { .options = options, .fd = -1 };

	if (has_conn(c)) {
		b.conn = open_conn(options);
		b.fd = b.conn.context->cmd_fd;
	}
	if (c->need == BAD_LINK) {
		if (!args[0] || !args[1] || !args[2] || !args[3])
			vqpt_die(0, "case %s needs ADDRESS PORT KEY ADDR", c->name);
		b.rkey = (uint32_t)vqpt_number(args[2], UINT32_MAX);
		b.raddr = vqpt_number(args[3], UINT64_MAX);
		vqpt_conn_to(&b.conn, args[0], args[1]);
	}
	print_result(c->run(&b));
	if (has_conn(c))
		vqpt_conn_close(&b.conn);
	return 0;
}

/* In a process of its own, which takes what the case leaves and changes. */
static void run_apart(const struct bad_case *c, const struct vqpt_options *options, char **args)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		vqpt_die(errno, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_case(c, options, args);
		_exit(0);	/* what it has printed is of no interest */
	}
	if (waitpid(pid, &status, 0) != pid || status)
		vqpt_die(0, "case %s: status %d", c->name, status);
}

/* Whether a function can try it, and that again and again: until-shutdown waits for its namespace to go. */
static bool is_repeatable(const struct bad_case *c)
{
	return c->need != BAD_HOST && strcmp(c->name, "until-shutdown");
}

/* For ever. */
static void run_all(const struct vqpt_options *options, char **args)
{
	const struct bad_case *c;
	uint64_t round;
	size_t table;

	for (round = 0;; round++) {
		FOR_EACH_CASE(table, c) {
			if (is_repeatable(c))
				run_apart(c, options, args);
		}
		if (!round && options->background)
			vqpt_ready("pid=%d\n", getpid());
	}
}

int vqpt_bad_run(const struct vqpt_options *options, char **args)
{
	const struct bad_case *c;
	size_t table;

	if (!args[0])
		vqpt_die(0, "which case? 'vqpt bad list' names them");
	if (!strcmp(args[0], "all"))
		run_all(options, args + 1);
	FOR_EACH_CASE(table, c) {
		if (!strcmp(args[0], "list"))
			printf("%s\n", c->name);
		else if (!strcmp(args[0], c->name))
			return run_case(c, options, args + 1);
	}
	if (strcmp(args[0], "list"))
		vqpt_die(0, "no case '%s', see 'vqpt bad list'", args[0]);
	return 0;
}
