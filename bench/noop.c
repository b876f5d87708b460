// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The container that does nothing, to time what surrounds it. */
int main(void)
{
	return 0;
}
