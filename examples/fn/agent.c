// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fn-agent plays the agent of an Fn node. It creates the functions' containers with fn-container,
 * waits for the socket of each to appear, and passes POST /invoke/NAME on to it as POST /call, one
 * call at a time. On SIGTERM it removes the containers.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "body.h"

#define AGENT_READY_MS		5000	/* Fn's own time limit for a socket to appear */
#define AGENT_CALL_SECONDS	10
#define AGENT_MAX_BODY_BYTES	(6U << 20)	/* what the functions take: contract_fn.c */
#define AGENT_RUN_DIR		"/run/fn"
#define AGENT_FUNCTIONS_MAX	16

struct function {
	const char *dir;	/* the function's bundle, as fn-container knows it */
	const char *name;	/* the last part of dir */
	char iofs[128];		/* the directory in which the socket appears */
	CURL *curl;		/* keeps the connection to the function */
	bool up;
};

struct agent {
	const char *container;	/* the path of fn-container */
	struct function functions[AGENT_FUNCTIONS_MAX];
	int count;
	int fd;
	unsigned long calls;
};

static volatile sig_atomic_t agent_stopped;

static void agent_stop(int signal_number)
{
	(void)signal_number;
	agent_stopped = 1;
}

static int agent_fail(const char *what, const char *why)
{
	fprintf(stderr, "fn-agent: %s: %s\n", what, why);
	return -1;
}

/* ---- Containers ---- */

static int agent_run_container(const struct agent *agent, const char *verb, const char *dir)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return agent_fail("fork", strerror(errno));
	if (!pid) {
		execlp(agent->container, agent->container, verb, dir, (char *)NULL);
		agent_fail(agent->container, strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return agent_fail("waitpid", strerror(errno));
	return status ? agent_fail(dir, "fn-container failed") : 0;
}

/* Makes the directory in which the function's socket will appear. */
static int agent_make_iofs(const struct function *function)
{
	char parent[sizeof(function->iofs)];

	snprintf(parent, sizeof(parent), AGENT_RUN_DIR "/%s", function->name);
	if ((mkdir(AGENT_RUN_DIR, 0755) && errno != EEXIST) || mkdir(parent, 0755) ||
	    mkdir(function->iofs, 0755))
		return agent_fail(function->iofs, strerror(errno));
	return 0;
}

/*
 * Waits for lsnr.sock to appear. The watch `fd` was placed before the container started, so that
 * the appearance cannot be missed.
 */
static int agent_await_socket(const struct function *function, int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };
	char path[sizeof(function->iofs) + sizeof("/lsnr.sock")];
	char events[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/lsnr.sock", function->iofs);
	while (stat(path, &st)) {
		if (poll(&event, 1, AGENT_READY_MS) <= 0)
			return agent_fail(path, "did not appear in time");
		if (read(fd, events, sizeof(events)) < 0)
			return agent_fail("inotify", strerror(errno));
	}
	return 0;
}

static int agent_start_function(struct agent *agent, struct function *function)
{
	int fd = inotify_init1(IN_CLOEXEC);
	int ret = -1;

	if (fd < 0)
		return agent_fail("inotify_init", strerror(errno));
	if (agent_make_iofs(function))
		goto out;
	function->up = true;	/* From here on there may be something to remove. */
	if (inotify_add_watch(fd, function->iofs, IN_CREATE) < 0) {
		agent_fail(function->iofs, strerror(errno));
		goto out;
	}
	if (!agent_run_container(agent, "create", function->dir))
		ret = agent_await_socket(function, fd);
out:
	close(fd);
	return ret;
}

static void agent_stop_functions(struct agent *agent)
{
	for (int i = 0; i < agent->count; i++) {
		struct function *function = &agent->functions[i];

		if (function->curl)
			curl_easy_cleanup(function->curl);
		if (function->up)
			agent_run_container(agent, "remove", function->dir);
	}
}

/* ---- Calls ---- */

static size_t agent_collect(char *data, size_t size, size_t count, void *arg)
{
	return fn_body_append(arg, data, size * count) ? size * count : 0;
}

static struct curl_slist *agent_headers(struct agent *agent)
{
	time_t deadline = time(NULL) + AGENT_CALL_SECONDS;
	struct curl_slist *headers;
	char text[64];
	struct tm tm;

	snprintf(text, sizeof(text), "Fn-Call-Id: %lu", ++agent->calls);
	headers = curl_slist_append(NULL, text);
	strftime(text, sizeof(text), "Fn-Deadline: %Y-%m-%dT%H:%M:%SZ", gmtime_r(&deadline, &tm));
	headers = curl_slist_append(headers, text);
	return curl_slist_append(headers, "Content-Type: application/json");
}

/* Answers with an error in place of what has come of the function's answer, which may have been too large. */
static void agent_replace(struct fn_body *answer, const char *text)
{
	fn_body_free(answer);
	answer->error = 0;
	fn_body_append(answer, text, strlen(text));
}

/* Calls the function. Returns its status and *answer, or 502 with an error. */
static long agent_call(struct agent *agent, struct function *function, const struct fn_body *body,
		       struct fn_body *answer)
{
	char path[sizeof(function->iofs) + sizeof("/lsnr.sock")];
	struct curl_slist *headers = agent_headers(agent);
	long status = MHD_HTTP_BAD_GATEWAY;
	CURLcode code;

	if (!function->curl)
		function->curl = curl_easy_init();
	snprintf(path, sizeof(path), "%s/lsnr.sock", function->iofs);
	curl_easy_setopt(function->curl, CURLOPT_UNIX_SOCKET_PATH, path);
	curl_easy_setopt(function->curl, CURLOPT_URL, "http://localhost/call");
	curl_easy_setopt(function->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(function->curl, CURLOPT_POSTFIELDS, body->data ? body->data : "");
	curl_easy_setopt(function->curl, CURLOPT_POSTFIELDSIZE, (long)body->bytes);
	curl_easy_setopt(function->curl, CURLOPT_WRITEFUNCTION, agent_collect);
	curl_easy_setopt(function->curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(function->curl, CURLOPT_TIMEOUT, (long)AGENT_CALL_SECONDS);
	curl_easy_setopt(function->curl, CURLOPT_NOSIGNAL, 1L);
	code = curl_easy_perform(function->curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(function->curl, CURLINFO_RESPONSE_CODE, &status);
	else
		agent_replace(answer, answer->error == E2BIG ? "the function's answer is too large" : curl_easy_strerror(code));
	curl_slist_free_all(headers);
	return status;
}

/* ---- HTTP ---- */

static enum MHD_Result agent_reply(struct MHD_Connection *connection, unsigned int status,
				   struct fn_body *answer)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(answer->bytes, answer->data, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(answer->data);
		return MHD_NO;
	}
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result agent_refuse_body(struct MHD_Connection *connection,
					 const struct fn_body *body)
{
	static const char too_large[] = "{\"message\":\"Request content too large\"}";
	struct fn_body answer = { .max_bytes = AGENT_MAX_BODY_BYTES };

	if (body->error != E2BIG || !fn_body_append(&answer, too_large, strlen(too_large)))
		return MHD_NO;
	return agent_reply(connection, MHD_HTTP_CONTENT_TOO_LARGE, &answer);
}

static struct function *agent_find(struct agent *agent, const char *url)
{
	if (strncmp(url, "/invoke/", strlen("/invoke/")))
		return NULL;
	for (int i = 0; i < agent->count; i++)
		if (!strcmp(url + strlen("/invoke/"), agent->functions[i].name))
			return &agent->functions[i];
	return NULL;
}

static enum MHD_Result agent_access(void *arg, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *data,
				    size_t *data_bytes, void **state)
{
	struct agent *agent = arg;
	struct function *function;
	struct fn_body answer = { .max_bytes = AGENT_MAX_BODY_BYTES };
	struct fn_body *body = *state;

	(void)version;
	if (!body) {
		body = calloc(1, sizeof(*body));
		if (!body)
			return MHD_NO;
		body->max_bytes = AGENT_MAX_BODY_BYTES;
		*state = body;
		return MHD_YES;
	}
	if (*data_bytes) {
		fn_body_append(body, data, *data_bytes);
		*data_bytes = 0;
		return MHD_YES;
	}
	if (body->error)
		return agent_refuse_body(connection, body);
	function = agent_find(agent, url);
	if (!function)
		return agent_reply(connection, MHD_HTTP_NOT_FOUND, &answer);
	if (strcmp(method, "POST"))
		return agent_reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &answer);
	return agent_reply(connection, agent_call(agent, function, body, &answer), &answer);
}

static void agent_completed(void *arg, struct MHD_Connection *connection, void **state,
			    enum MHD_RequestTerminationCode code)
{
	struct fn_body *body = *state;

	(void)arg;
	(void)connection;
	(void)code;
	if (!body)
		return;
	fn_body_free(body);
	free(body);
	*state = NULL;
}

static int agent_listen(struct agent *agent, char *listen_on)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	char *port = strchr(listen_on, ':');
	int one = 1;

	if (!port)
		return agent_fail(listen_on, "not ADDRESS:PORT");
	*port++ = 0;
	address.sin_port = htons(atoi(port));
	if (!inet_aton(listen_on, &address.sin_addr))
		return agent_fail(listen_on, "not an IPv4 address");
	setenv("FN_NODE_ADDRESS", listen_on, 1);	/* for fn-container */
	agent->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (agent->fd < 0)
		return agent_fail("socket", strerror(errno));
	setsockopt(agent->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(agent->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(agent->fd, SOMAXCONN))
		return agent_fail(listen_on, strerror(errno));
	return 0;
}

static int agent_serve(struct agent *agent)
{
	struct MHD_Daemon *daemon;

	daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, agent_access, agent,
				  MHD_OPTION_LISTEN_SOCKET, agent->fd,
				  MHD_OPTION_NOTIFY_COMPLETED, agent_completed, NULL,
				  MHD_OPTION_END);
	if (!daemon)
		return agent_fail("MHD_start_daemon", strerror(errno));
	while (!agent_stopped)
		MHD_run_wait(daemon, -1);
	MHD_stop_daemon(daemon);
	return 0;
}

/* Continues in the background. The caller gets the process id when all is ready. */
static int agent_detach(void)
{
	pid_t pid = fork();

	if (pid < 0)
		return agent_fail("fork", strerror(errno));
	if (pid) {
		printf("%d\n", pid);
		fflush(stdout);
		_exit(EXIT_SUCCESS);
	}
	setsid();
	if (!freopen("/dev/null", "r", stdin) || !freopen(AGENT_RUN_DIR "/agent.log", "a", stdout) ||
	    !freopen(AGENT_RUN_DIR "/agent.log", "a", stderr))
		return -1;
	return 0;
}

static void agent_help(void)
{
	puts("Usage: fn-agent --listen ADDRESS:PORT [--container PROGRAM] [--detach] DIR...\n"
	     "Run the functions whose bundles are in DIR... and serve POST /invoke/NAME, where\n"
	     "NAME is the last part of DIR.\n"
	     "  -l, --listen ADDRESS:PORT  serve HTTP here; ADDRESS is also that of the RDMA device\n"
	     "  -c, --container PROGRAM    the fn-container to use [fn-container]\n"
	     "  -d, --detach               when all functions are ready, print a process id and\n"
	     "                             go on in the background\n"
	     "  -h, --help                 show this text\n"
	     "Exit status: 0 stopped by a signal, 1 something failed, 2 wrong usage.");
}

static int agent_add(struct agent *agent, const char *dir)
{
	struct function *function = &agent->functions[agent->count];
	const char *slash = strrchr(dir, '/');

	if (agent->count == AGENT_FUNCTIONS_MAX)
		return agent_fail(dir, "too many functions");
	function->dir = dir;
	function->name = slash ? slash + 1 : dir;
	if (snprintf(function->iofs, sizeof(function->iofs), AGENT_RUN_DIR "/%s/iofs",
		     function->name) >= (int)sizeof(function->iofs))
		return agent_fail(dir, "name too long");
	agent->count++;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "container", required_argument, NULL, 'c' },
		{ "detach", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct sigaction stop = { .sa_handler = agent_stop };
	struct agent agent = { .container = "fn-container", .fd = -1 };
	char *listen_on = NULL;
	bool detach = false;
	int option, ret = -1;

	while ((option = getopt_long(argc, argv, "l:c:dh", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			listen_on = optarg;
			break;
		case 'c':
			agent.container = optarg;
			break;
		case 'd':
			detach = true;
			break;
		case 'h':
			agent_help();
			return EXIT_SUCCESS;
		default:
			return 2;
		}
	}
	if (!listen_on || optind == argc) {
		agent_fail("usage", "--listen and at least one DIR are needed; see --help");
		return 2;
	}
	for (int i = optind; i < argc; i++)
		if (agent_add(&agent, argv[i]))
			return 2;
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	if (agent_listen(&agent, listen_on))
		return EXIT_FAILURE;
	for (int i = 0; i < agent.count && !agent_stopped; i++)
		if (agent_start_function(&agent, &agent.functions[i]))
			goto out;
	if (detach && agent_detach())
		goto out;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	ret = agent_serve(&agent);
out:
	agent_stop_functions(&agent);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
