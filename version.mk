# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The version of libvqp and of all programs.
VERSION	:= 0.1.0
