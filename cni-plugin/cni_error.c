// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <jansson.h>
#include <string.h>

#include "cni_error.h"

int vqp_cni_error_print(const struct vqp_error *error, const char *cni_version, FILE *out)
{
	const char *text = vqp_error_text(error), *details = error->reason ? vqp_error_reason(error) : NULL;
	const size_t bytes = details ? error->reason - strlen(": ") : strlen(text);
	json_auto_t *object = json_pack("{s:s, s:i, s:s%, s:s*}", "cniVersion", cni_version, "code", error->code,
					"msg", text, bytes, "details", details);

	/* jansson refuses a text that quotes bytes which are not UTF-8. */
	if (!object)
		object = json_pack("{s:s, s:i, s:s}", "cniVersion", cni_version, "code", error->code,
				   "msg", "the error quotes bytes that are not UTF-8");
	if (!object || json_dumpf(object, out, JSON_INDENT(4)) || fputc('\n', out) == EOF)
		return EOF;
	return fflush(out);
}
