// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <stdint.h>
#include <string.h>

#include "nlattr.h"

struct nlattr *vqp_nlattr_put(struct nlmsghdr *msg, size_t room, unsigned int type, const void *data, size_t bytes)
{
	const size_t at = NLMSG_ALIGN(msg->nlmsg_len), padded = NLA_HDRLEN + NLA_ALIGN(bytes);
	struct nlattr *attr = (struct nlattr *)((char *)msg + at);

	if (bytes > UINT16_MAX - NLA_HDRLEN || at > room || padded > room - at)
		return NULL;
	memset(attr, 0, padded);
	attr->nla_len = NLA_HDRLEN + bytes;
	attr->nla_type = type;
	if (bytes)
		memcpy((char *)attr + NLA_HDRLEN, data, bytes);
	msg->nlmsg_len = at + padded;
	return attr;
}

struct nlattr *vqp_nlattr_begin_nest(struct nlmsghdr *msg, size_t room, unsigned int type)
{
	return vqp_nlattr_put(msg, room, NLA_F_NESTED | type, NULL, 0);
}

bool vqp_nlattr_end_nest(const struct nlmsghdr *msg, struct nlattr *nest)
{
	const size_t bytes = (const char *)msg + msg->nlmsg_len - (const char *)nest;

	nest->nla_len = bytes;
	return bytes <= UINT16_MAX;
}

struct vqp_nlattrs vqp_nlattrs_of(const struct nlmsghdr *msg, size_t offset)
{
	const size_t start = NLMSG_HDRLEN + NLMSG_ALIGN(offset);

	if (msg->nlmsg_len <= start)
		return (struct vqp_nlattrs){ 0 };
	return (struct vqp_nlattrs){ (const char *)msg + start, msg->nlmsg_len - start };
}

struct vqp_nlattrs vqp_nlattrs_in(const struct vqp_nlattr *nest)
{
	return (struct vqp_nlattrs){ nest->data, nest->bytes };
}

bool vqp_nlattr_next(struct vqp_nlattrs *attrs, struct vqp_nlattr *attr)
{
	struct nlattr header;
	size_t padded;

	if (attrs->bytes < sizeof(header))
		return false;
	memcpy(&header, attrs->at, sizeof(header));
	if (header.nla_len < NLA_HDRLEN || header.nla_len > attrs->bytes)
		return false;
	*attr = (struct vqp_nlattr){ header.nla_type & NLA_TYPE_MASK, attrs->at + NLA_HDRLEN,
				     header.nla_len - NLA_HDRLEN };
	padded = NLA_ALIGN(header.nla_len);	/* The last one may be without its padding. */
	if (padded > attrs->bytes)
		padded = attrs->bytes;
	attrs->at += padded;
	attrs->bytes -= padded;
	return true;
}
