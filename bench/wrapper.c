// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* vqp-runtime without what it is for: becomes runc. */
#include <err.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	argv[0] = "runc";
	execvp(argv[0], argv);
	err(1, "runc");
}
