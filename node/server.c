/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/address.h"
#include "../common/cleanup.h"
#include "reply.h"
#include "server.h"

static struct vqp_client *client_of(struct vqp_watch *watch)
{
	return (struct vqp_client *)((char *)watch - offsetof(struct vqp_client, watch));
}

static void go_on_accepting(struct vqp_server *server)
{
	if (!server->full || server->count == VQP_SERVER_CLIENTS_MAX)
		return;
	vqp_loop_change(server->loop, &server->watch, EPOLLIN);
	server->full = false;
}

static void drop(struct vqp_client *client)
{
	struct vqp_server *server = client->server;

	if (client->request && server->gone)
		server->gone(client);
	if (vqp_line_is_new(&client->line))
		server->handshakes_failed++;
	vqp_loop_remove(server->loop, &client->watch);
	vqp_line_exit(&client->line);
	json_decref(client->request);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	free(client);
	server->count--;
	go_on_accepting(server);
}

void vqp_server_tick(struct vqp_server *server)
{
	const uint64_t now = vqp_loop_now_ms();
	struct vqp_client *client, *next;

	for (client = server->clients; server->key && client; client = next) {
		next = client->next;
		if (vqp_line_is_new(&client->line) && now - client->since_ms > VQP_TLS_HANDSHAKE_MS)
			drop(client);
	}
	go_on_accepting(server);
}

/* Returns the events that the client waits for. A hangup is reported in any case. */
static uint32_t wanted_events(const struct vqp_client *client)
{
	if (vqp_line_is_new(&client->line))
		return vqp_line_events(&client->line, 0);
	if (vqp_line_unsent(&client->line))	/* A client that does not read answers sends nothing. */
		return EPOLLOUT;
	if (client->request)
		return 0;
	/* EPOLLOUT comes at once: the next request is served after the other clients' turn. */
	return vqp_line_complete(&client->line) ? EPOLLOUT : EPOLLIN;
}

/* Sends what is due. Returns false if the client has gone, and has been freed. */
static bool settle(struct vqp_client *client)
{
	bool sent = !vqp_line_flush(&client->line);

	if (!sent || (client->finished && !vqp_line_unsent(&client->line)))
		drop(client);
	else
		vqp_loop_change(client->server->loop, &client->watch, wanted_events(client));
	return sent;
}

bool vqp_server_answer(struct vqp_client *client, json_t *reply)
{
	const struct vqp_server *server = client->server;
	bool queued = reply && !vqp_line_queue(&client->line, reply);

	if (reply && server->refused && vqp_reply_text(reply))
		server->refused(client, reply);
	json_decref(client->request);
	client->request = NULL;
	client->finished |= !queued;
	json_decref(reply);
	return settle(client) && queued;
}

/* Passes the next request to its handler, if it is complete. */
static void serve(struct vqp_client *client)
{
	json_auto_t *request = NULL;
	int ret = vqp_line_next(&client->line, &request);

	if (ret == 1) {
		client->request = json_incref(request);
		vqp_loop_change(client->server->loop, &client->watch, wanted_events(client));
		client->server->request(client, request);
	} else if (ret == -EMSGSIZE) {
		vqp_server_answer(client, vqp_reply_error(ret, "a request has at most %zu bytes",
							  client->line.max));
	} else if (ret < 0) {
		vqp_server_answer(client, vqp_reply_error(ret, "a request is one JSON object on one line"));
	} else {
		settle(client);
	}
}

/* Ends a client that does not know the key, and tells it so if it understands that. */
static void refuse_stranger(struct vqp_client *client, int err)
{
	struct vqp_server *server = client->server;
	json_t *reply = vqp_reply_error(EKEYREJECTED, err == -ENOPROTOOPT
					? "a key is wanted here: copy " VQP_TLS_KEY_FILE " from the server to this node"
					: "the client has another key");

	client->finished = true;
	if (err == -ENOPROTOOPT) {
		server->handshakes_failed++;
		vqp_line_expose(&client->line);
		vqp_server_answer(client, reply);
		return;
	}
	if (reply && server->refused)
		server->refused(client, reply);
	json_decref(reply);
	drop(client);
}

/* Receives what a client has sent. */
static void receive(struct vqp_client *client)
{
	int ret = vqp_line_fill(&client->line);

	if (ret == 1)
		serve(client);
	else if (ret == -ENOPROTOOPT || ret == -EKEYREJECTED)
		refuse_stranger(client, ret);
	else
		drop(client);
}

static void client_ready(struct vqp_watch *watch, uint32_t events)
{
	struct vqp_client *client = client_of(watch);

	if (vqp_line_unsent(&client->line) || client->request) {
		if (events & (EPOLLHUP | EPOLLERR))
			drop(client);
		else
			settle(client);
	} else if (vqp_line_complete(&client->line)) {
		serve(client);
	} else {
		receive(client);
	}
}

/*
 * New clients wait in the backlog until a client leaves, or until the next tick if there is room.
 */
static void stop_accepting(struct vqp_server *server)
{
	server->full = true;
	vqp_loop_change(server->loop, &server->watch, 0);
}

/* Drops the oldest client that has not proved that it knows the key. Returns false if there is none. */
static bool drop_stranger(struct vqp_server *server)
{
	struct vqp_client *oldest = NULL;

	for (struct vqp_client *client = server->clients; client; client = client->next)
		if (vqp_line_is_new(&client->line))
			oldest = client;
	if (oldest)
		drop(oldest);
	return oldest;
}

static void accept_client(struct vqp_watch *watch, uint32_t events)
{
	struct vqp_server *server = (struct vqp_server *)((char *)watch - offsetof(struct vqp_server, watch));
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct vqp_client *client = fd < 0 ? NULL : calloc(1, sizeof(*client));

	(void)events;
	if (!client) {
		if (fd >= 0)
			close(fd);
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			stop_accepting(server);
		return;
	}
	client->server = server;
	client->watch = (struct vqp_watch){ .fd = fd, .ready = client_ready };
	client->since_ms = vqp_loop_now_ms();
	vqp_line_init(&client->line, fd, VQP_LINE_MAX);
	client->next = server->clients;
	client->link = &server->clients;
	if (client->next)
		client->next->link = &client->next;
	server->clients = client;
	if (++server->count == VQP_SERVER_CLIENTS_MAX && !drop_stranger(server))
		stop_accepting(server);
	if (vqp_line_secure(&client->line, server->key, true) || vqp_loop_add(server->loop, &client->watch, EPOLLIN))
		drop(client);
}

static int start(struct vqp_server *server, struct vqp_loop *loop, int fd)
{
	int ret;

	server->loop = loop;
	server->watch = (struct vqp_watch){ .fd = fd, .ready = accept_client };
	if (listen(fd, SOMAXCONN))
		ret = -errno;
	else
		ret = vqp_loop_add(loop, &server->watch, EPOLLIN);
	if (ret)
		close(fd);
	return ret;
}

/*
 * Removes the socket that a dead server left at `addr`. 0 if there is nothing, or nothing any more.
 */
static int clear_path(const struct sockaddr_un *addr)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 || errno == EAGAIN)
		return -EADDRINUSE;
	if (errno == ENOENT)
		return 0;
	if (errno != ECONNREFUSED || lstat(addr->sun_path, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode))	/* connect() has the same error for any file. */
		return -EEXIST;
	return unlink(addr->sun_path) ? -errno : 0;
}

static int make_directory(const char *path)
{
	cleanup_free char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	return mkdir(dirname(copy), 0755) && errno != EEXIST ? -errno : 0;
}

int vqp_server_listen_unix(struct vqp_server *server, struct vqp_loop *loop, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	ret = make_directory(path);
	if (!ret)
		ret = clear_path(&addr);
	if (ret)
		return ret;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	ret = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	umask(mask);
	if (!ret)
		return start(server, loop, fd);
	close(fd);
	return ret;
}

/* Is it a listening socket whose name is `path`, where a socket still is? */
static bool listens_at(int fd, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNSPEC };
	socklen_t bytes = sizeof(addr) - 1;	/* The name may have no NUL at its end. */
	struct stat st;
	int listens = 0;

	if (getsockname(fd, (struct sockaddr *)&addr, &bytes) || addr.sun_family != AF_UNIX || strcmp(addr.sun_path, path))
		return false;
	bytes = sizeof(listens);
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) && listens &&
	       !lstat(path, &st) && S_ISSOCK(st.st_mode);
}

int vqp_server_adopt_unix(struct vqp_server *server, struct vqp_loop *loop, int fd, const char *path)
{
	if (listens_at(fd, path))
		return start(server, loop, fd);
	close(fd);
	return -ESTALE;
}

/*
 * Clients send a request every second. If one is silent, its node may have died or become
 * unreachable. Keepalives of TCP free its place within a minute, which is a usual lease. Sockets of
 * accept() inherit the options of the listening socket.
 */
static void find_dead_peers(int fd)
{
	const int on = 1, idle_s = 30, interval_s = 10, probes = 3;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

/* Binds a socket also to an address that no interface has yet, as when a node starts. */
static int bind_socket(int fd, const struct addrinfo *info, bool v6_only)
{
	const int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (info->ai_family == AF_INET6 && v6_only)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one));
	else
		setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one));
	return bind(fd, info->ai_addr, info->ai_addrlen) ? -errno : 0;
}

int vqp_server_bind_tcp(const char *addr, const char *default_port, bool v6_only)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM,
	};
	cleanup_free char *host = NULL, *port = NULL;
	struct addrinfo *info;
	int fd, ret;

	ret = vqp_address_split(addr, default_port, &host, &port);
	if (ret)
		return ret;
	if (getaddrinfo(host, port, &hints, &info))
		return -EINVAL;
	fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = fd < 0 ? -errno : bind_socket(fd, info, v6_only);
	freeaddrinfo(info);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

int vqp_server_listen_tcp(struct vqp_server *server, struct vqp_loop *loop, const char *addr,
			  const char *default_port)
{
	int fd = vqp_server_bind_tcp(addr, default_port, false);

	if (fd < 0)
		return fd;
	find_dead_peers(fd);
	return start(server, loop, fd);
}

void vqp_server_exit(struct vqp_server *server)
{
	while (server->clients)
		drop(server->clients);
	vqp_loop_remove(server->loop, &server->watch);
	close(server->watch.fd);
}
