/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Macros of libraries, whose headers cppcheck does not read, that it cannot guess. */
#define json_array_foreach(array, index, value) \
	for ((index) = 0; ((value) = json_array_get(array, index)); (index)++)
#define json_object_foreach(object, key, value) \
	for (; ((key) = json_key(object)) && ((value) = json_value(key));)
