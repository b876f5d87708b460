/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses as people write them, and as GIDs. */
#ifndef VQP_COMMON_ADDRESS_H
#define VQP_COMMON_ADDRESS_H

#include <netinet/in.h>
#include <stdint.h>

#define VQP_ADDRESS_TEXT INET6_ADDRSTRLEN

/* Literal IPv4 (as ::ffff:a.b.c.d) or IPv6 address. 0 or -EINVAL. */
int vqp_address_parse(const char *text, uint8_t gid[16]);

/* The same, for the address of one container: not unspecified, loopback or multicast. */
int vqp_address_parse_unicast(const char *text, uint8_t gid[16]);

/* Returns `text`. */
char *vqp_address_format(const uint8_t gid[16], char text[VQP_ADDRESS_TEXT]);

/*
 * "HOST:PORT", "[V6]:PORT", "HOST" or ":PORT" in two strings for getaddrinfo(),
 * to be freed; *host is NULL if there is none. -EINVAL, -ENOMEM (both NULL).
 */
int vqp_address_split(const char *text, const char *default_port, char **host, char **port);

#endif
