/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses in text, and as GIDs. */
#ifndef VQP_COMMON_ADDRESS_H
#define VQP_COMMON_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>

#define VQP_ADDRESS_TEXT INET6_ADDRSTRLEN

/* Parses a literal IPv6 address, or an IPv4 address, which becomes ::ffff:a.b.c.d. 0 or -EINVAL. */
int vqp_address_parse(const char *text, uint8_t gid[16]);

/*
 * Does the same, but refuses addresses that no container can have: unspecified, loopback and
 * multicast ones.
 */
int vqp_address_parse_unicast(const char *text, uint8_t gid[16]);

/* The address of a socket address, as vqp_address_parse() has it. 0 or -EAFNOSUPPORT. */
int vqp_address_of(const struct sockaddr *from, uint8_t gid[16]);

/* Writes the address to `text`, and returns that. */
char *vqp_address_format(const uint8_t gid[16], char text[VQP_ADDRESS_TEXT]);

/*
 * Splits "HOST:PORT", "[V6]:PORT", "HOST" or ":PORT" into two strings for getaddrinfo(), which the
 * caller frees. *host is NULL if the text has none. 0, -EINVAL or -ENOMEM; after a failure both are
 * NULL.
 */
int vqp_address_split(const char *text, const char *default_port, char **host, char **port);

#endif
