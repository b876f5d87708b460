/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../common/cleanup.h"
#include "../common/io.h"
#include "tls.h"

#define KEY_MIN_BYTES	32
#define KEY_MAX_BYTES	1024
#define USER		"vqp"	/* the identity of the one key that there is */
/* Strangers choose among these groups: those that cost the server most are none of them. */
#define PRIORITY	"NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1"
#define TURNS_MAX	8	/* of a handshake, which takes one to four; each is a record of 16 KiB at most */
#define HANDSHAKE_RECORD 22	/* the first byte of a connection by TLS */

struct vqp_tls_key {
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	gnutls_priority_t priority;
	gnutls_datum_t bytes;
};

struct vqp_tls {
	gnutls_session_t session;
	int fd;
	bool is_server;
	bool is_tls;		/* The client of a server has begun by TLS. */
	bool is_established;	/* The other end has proved that it knows the key. */
	unsigned int turns;	/* of a server's handshake */
	bool is_sending;	/* GnuTLS has a record that the socket has not taken yet. */
};

static int check_file(const char *path, bool is_passed, const struct stat *file, struct vqp_error *error)
{
	if (!S_ISREG(file->st_mode))
		return vqp_error_set(error, -EINVAL, "%s is no regular file", path);
	/* What systemd passes may be the unit's user's by an access list, which shows as the group's. */
	if (file->st_mode & (S_IRWXG | S_IRWXO) & ~(is_passed ? S_IRGRP : 0))
		return vqp_error_set(error, -EPERM, "%s is open to others than its owner: chmod 600 %s", path, path);
	return 0;
}

/* Reads the file's text, without white space at its end, as the key's bytes, which the caller frees. */
static int read_bytes(const char *path, bool is_passed, gnutls_datum_t *bytes, struct vqp_error *error)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[KEY_MAX_BYTES + 2];
	struct stat file;
	ssize_t n;
	int ret;

	if (fd < 0 || fstat(fd, &file))
		return vqp_error_set(error, -errno, "cannot open %s: %s", path, strerror(errno));
	ret = check_file(path, is_passed, &file, error);
	if (ret)
		return ret;
	n = vqp_io_read(fd, text, sizeof(text));
	if (n < 0)
		return vqp_error_set(error, (int)n, "cannot read %s: %s", path, strerror((int)-n));
	while (n && text[n - 1] && strchr(" \t\r\n", text[n - 1]))
		n--;
	if (n < KEY_MIN_BYTES || n > KEY_MAX_BYTES)
		return vqp_error_set(error, -EINVAL, "%s must have %d to %d bytes: " VQP_TLS_KEY_HINT, path, KEY_MIN_BYTES,
				     KEY_MAX_BYTES);
	bytes->data = malloc(n);
	if (!bytes->data)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	memcpy(bytes->data, text, n);
	explicit_bzero(text, sizeof(text));
	bytes->size = n;
	return 0;
}

/* gnutls_psk_server_credentials_function: gives the key, for which GnuTLS asks by a user's name. */
static int give_key(gnutls_session_t session, const char *user, gnutls_datum_t *bytes)
{
	const struct vqp_tls_key *key = gnutls_session_get_ptr(session);

	if (strcmp(user, USER))
		return -1;
	bytes->data = gnutls_malloc(key->bytes.size);
	if (!bytes->data)
		return -1;
	memcpy(bytes->data, key->bytes.data, key->bytes.size);
	bytes->size = key->bytes.size;
	return 0;
}

/* Returns where the key is if `path` does not say, or NULL if there is none. */
static const char *find_file(const char *path, char passed[PATH_MAX])
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	struct stat file;

	if (path)
		return path;
	if (dir && snprintf(passed, PATH_MAX, "%s/" VQP_TLS_KEY_NAME, dir) < PATH_MAX && !stat(passed, &file))
		return passed;
	if (!stat(VQP_TLS_KEY_FILE, &file))
		return VQP_TLS_KEY_FILE;
	/* The directory is root's: the user of a unit relies on what is passed. */
	return errno == ENOENT || (dir && errno == EACCES) ? NULL : VQP_TLS_KEY_FILE;
}

int vqp_tls_key_read(struct vqp_tls_key **key, const char *path, struct vqp_error *error)
{
	char passed[PATH_MAX];
	int ret;

	*key = NULL;
	path = find_file(path, passed);
	if (!path)
		return 0;
	*key = calloc(1, sizeof(**key));
	if (!*key)
		return vqp_error_set(error, -ENOMEM, "out of memory");
	ret = read_bytes(path, path == passed, &(*key)->bytes, error);
	if (!ret && (gnutls_psk_allocate_client_credentials(&(*key)->client) ||
		     gnutls_psk_allocate_server_credentials(&(*key)->server) ||
		     gnutls_priority_init(&(*key)->priority, PRIORITY, NULL) ||
		     gnutls_psk_set_client_credentials((*key)->client, USER, &(*key)->bytes, GNUTLS_PSK_KEY_RAW)))
		ret = vqp_error_set(error, -ENOMEM, "out of memory");
	if (ret) {
		vqp_tls_key_free(*key);
		*key = NULL;
		return ret;
	}
	gnutls_psk_set_server_credentials_function((*key)->server, give_key);
	return 0;
}

void vqp_tls_key_free(struct vqp_tls_key *key)
{
	if (!key)
		return;
	if (key->client)
		gnutls_psk_free_client_credentials(key->client);
	if (key->server)
		gnutls_psk_free_server_credentials(key->server);
	if (key->priority)
		gnutls_priority_deinit(key->priority);
	if (key->bytes.data)
		explicit_bzero(key->bytes.data, key->bytes.size);
	free(key->bytes.data);
	free(key);
}

struct vqp_tls *vqp_tls_begin(const struct vqp_tls_key *key, int fd, bool is_server)
{
	const unsigned int flags = (is_server ? GNUTLS_SERVER | GNUTLS_NO_TICKETS : GNUTLS_CLIENT) |
				   GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
	void *credentials = is_server ? (void *)key->server : (void *)key->client;
	struct vqp_tls *tls = calloc(1, sizeof(*tls));

	if (!tls || gnutls_init(&tls->session, flags)) {
		free(tls);
		return NULL;
	}
	if (gnutls_priority_set(tls->session, key->priority) ||
	    gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK, credentials)) {
		vqp_tls_end(tls);
		return NULL;
	}
	gnutls_session_set_ptr(tls->session, (void *)key);
	gnutls_transport_set_int(tls->session, fd);
	tls->fd = fd;
	tls->is_server = is_server;
	return tls;
}

void vqp_tls_end(struct vqp_tls *tls)
{
	if (!tls)
		return;
	gnutls_deinit(tls->session);
	free(tls);
}

bool vqp_tls_is_new(const struct vqp_tls *tls)
{
	return !tls->is_established;
}

uint32_t vqp_tls_events(const struct vqp_tls *tls)
{
	return gnutls_record_get_direction(tls->session) ? EPOLLOUT : EPOLLIN;
}

bool vqp_tls_pending(const struct vqp_tls *tls)
{
	return gnutls_record_check_pending(tls->session);
}

static int error_of(ssize_t ret)
{
	switch (ret) {
	case GNUTLS_E_AGAIN:
	case GNUTLS_E_INTERRUPTED:
		return -EAGAIN;
	case GNUTLS_E_MEMORY_ERROR:
		return -ENOMEM;
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		return -ECONNRESET;
	default:
		return -EPROTO;
	}
}

/* Tells the other end why the connection ends, as well as its socket takes that at once. */
static int fail(struct vqp_tls *tls, int gnutls_error)
{
	int ret = error_of(gnutls_error);

	gnutls_alert_send_appropriate(tls->session, gnutls_error);
	/* Without the key, either end finds that the other's proof is wrong. */
	return ret == -EPROTO ? -EKEYREJECTED : ret;
}

static int shake_hands(struct vqp_tls *tls)
{
	int ret = gnutls_handshake(tls->session);

	/* GnuTLS keeps what has come of a message, which may say that it is long, and asks to go on. */
	if (ret && !gnutls_error_is_fatal(ret))
		return tls->is_server && ++tls->turns > TURNS_MAX ? -EPROTO : -EAGAIN;
	if (ret)
		return fail(tls, ret);
	tls->is_established = true;
	return 0;
}

/* Does a new client speak TLS? 0, -EAGAIN or -ENOPROTOOPT. */
static int check_first(struct vqp_tls *tls)
{
	unsigned char first = HANDSHAKE_RECORD;
	ssize_t n = recv(tls->fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	tls->is_tls = first == HANDSHAKE_RECORD;
	return tls->is_tls ? 0 : -ENOPROTOOPT;
}

ssize_t vqp_tls_recv(struct vqp_tls *tls, void *data, size_t bytes)
{
	int ret = tls->is_server && !tls->is_tls ? check_first(tls) : 0;
	ssize_t n;

	if (!ret && !tls->is_established)
		ret = shake_hands(tls);
	if (ret)
		return ret;
	n = gnutls_record_recv(tls->session, data, bytes);
	return n < 0 ? error_of(n) : n;
}

ssize_t vqp_tls_send(struct vqp_tls *tls, const void *data, size_t bytes)
{
	int ret = tls->is_established ? 0 : shake_hands(tls);
	ssize_t n;

	if (ret)
		return ret;
	/* What the socket has not taken yet is sent on by a call without data. */
	n = tls->is_sending ? gnutls_record_send(tls->session, NULL, 0) : gnutls_record_send(tls->session, data, bytes);
	tls->is_sending = n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED;
	return n < 0 ? error_of(n) : n;
}
