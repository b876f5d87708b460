#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# bats file_tags=long,budget:150
# The static checks can fail: each is given a tree in which it finds nothing, and then a defect.

bats_require_minimum_version 1.5.0
load ../lib/expect

setup()
{
	top=$(realpath "$BATS_TEST_DIRNAME/../..")
	export VQP_CACHE=${VQP_CACHE:-$top/build/cache} O=$BATS_TEST_TMPDIR/build
	# in what the checks look at it would be a file like others
	mkdir "$BATS_TEST_TMPDIR/tree"
	cd "$BATS_TEST_TMPDIR/tree" || return
	git init -q
	copy .clang-tidy .shellcheckrc tests/check tests/static
}

# copy FILE...: from this tree to the one that is checked
copy()
{
	(cd "$top" && git ls-files -co --exclude-standard -- "$@" | tar -c -T - -f -) | tar -x -f -
}

# clean CHECK: it finds nothing
clean()
{
	run tests/check "$1"
	echo "$output"
	[ "$status" -eq 0 ]
}

# caught CHECK TEXT: it fails and says so
caught()
{
	run tests/check "$1"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"FAIL  $1"*"$2"*"0 passed, 1 failed" ]]
}

spdx='SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause'

# source FILE: what comes in, below a licence line
source_file()
{
	mkdir -p "$(dirname "$1")"
	{ echo "// $spdx"; cat; } >"$1"
}

# program: what comes in is a program in user space with a makefile
program()
{
	source_file program/main.c
	printf '# %s\nall:\n\t$(CC) -std=c11 -o $(O)/main main.c\n' "$spdx" >program/Makefile
}

@test "a check that there is not" {
	run tests/check nonsense
	[ "$status" -eq 2 ]
}

@test "every check is run" {
	run tests/check --help
	for check in tests/static/*; do
		[[ ! -x $check || " ${lines[*]} " == *" ${check##*/} "* ]]
	done
}

@test "licence" {
	clean licence
	echo 'int main(void) {}' >main.c
	caught licence 'main.c: no licence line'
}

@test "prose: lines, paragraphs and links of documents" {
	long=$(printf '%.0sééééééééé ' {1..10})
	paragraph=$(printf '%.0sword\n' {1..120})
	mkdir docs
	# what may be long: tables, headings, code, references; a paragraph beside another
	cat >docs/page.md <<-END
		# $long$long
		| $long$long |

		    $long$long

		\`\`\`
		$long$long [not a link](nowhere.md)
		\`\`\`

		$long
		[here](page.md#top), [there](https://example.com/nowhere), \`[code](nowhere.md)\`

		$paragraph

		- $paragraph
	END
	clean prose
	printf '\nA\n%s.\n' "${long}e" >>docs/page.md
	caught prose "docs/page.md:$(wc -l <docs/page.md): a line of 102 columns"
	sed -i '$d' docs/page.md
	clean prose
	printf '%s\nmore\n' "$paragraph" >docs/other.md
	caught prose 'docs/other.md:1: a paragraph of 121 words'
	printf '1. one\n\n       %s more\n2. two\n' "${paragraph//$'\n'/ }" >docs/other.md
	caught prose 'docs/other.md:3: a line of 611 columns'
	[[ $output == *'docs/other.md:3: a paragraph of 121 words'* ]]
	printf '[gone](page.md) [gone](../gone.md#part "title")\n' >docs/other.md
	caught prose 'docs/other.md:1: no file ../gone.md#part'
	printf 'A [page].\n\n[page]: pages.md\n' >docs/other.md
	caught prose 'docs/other.md:3: no file pages.md'
}

@test "layers: an include that points up, a folder that Kbuild does not list" {
	mkdir kmod
	printf 'vqp-y := main.o\nvqp-y += high/a.o high/b.o\nvqp-y += low/c.o\n' >kmod/Kbuild
	source_file kmod/main.c <<<'#include "high/a.h"'
	source_file kmod/high/a.h <<<$'#include <linux/list.h>\n#include "high/b.h"\n#include "low/c.h"'
	source_file kmod/high/b.c <<<'#include "b.h"'
	source_file kmod/high/b.h </dev/null
	source_file kmod/low/c.h </dev/null
	source_file kmod/low/c.c <<<'#include "c.h"'
	clean layers
	source_file kmod/low/c.h <<<'#include "high/b.h"'
	caught layers 'kmod/low/c.h: high/b.h is above'
	source_file kmod/low/c.h <<<'#include "main.h"'
	caught layers 'kmod/low/c.h: main.h is above'
	source_file kmod/low/c.h <<<'#include "lower/d.h"'
	caught layers 'kmod/low/c.h: lower/d.h is in no folder of kmod/Kbuild'
	source_file kmod/low/c.h </dev/null
	source_file kmod/lower/d.h </dev/null
	source_file kmod/lower/d.c <<<'#include "d.h"'
	caught layers 'kmod/lower/d.c: kmod/Kbuild has no folder lower'
}

@test "layers: includes of a folder that lead back to where they began" {
	mkdir kmod
	printf 'vqp-y := main.o\nvqp-y += low/a.o low/b.o low/c.o\n' >kmod/Kbuild
	source_file kmod/low/a.c <<<$'#include "low/a.h"\n#include "low/b.h"'
	source_file kmod/low/a.h </dev/null
	source_file kmod/low/b.c <<<$'#include "b.h"\n#include "low/c.h"'
	source_file kmod/low/b.h </dev/null
	source_file kmod/low/c.h </dev/null
	clean layers
	source_file kmod/low/c.c <<<'#include "low/a.h"'
	caught layers 'kmod/low/a: is in a loop of includes'
	# of those that know each other it is no wonder
	sed -i 's/^knots=.*/knots=" low "/' tests/static/layers
	clean layers
}

@test "shellcheck" {
	clean shellcheck
	printf '#!/bin/sh\n# %s\nrm $1/*\n' "$spdx" >script
	caught shellcheck 'SC2086'
}

@test "checkpatch" {
	sed -i '/^[^#]/d' tests/static/checkpatch.allowed
	source_file kmod/main.c <<<'int vqp_main;'
	clean checkpatch
	source_file kmod/main.c <<<'int  vqp_main ;'
	caught checkpatch 'kmod/main.c:2: WARNING:SPACING'
	echo 'kmod/main.c SPACING' >>tests/static/checkpatch.allowed
	clean checkpatch
	source_file kmod/main.c <<<'int vqp_main;'
	caught checkpatch 'not needed: kmod/main.c SPACING'
}

@test "sparse: what the network's bytes are taken for" {
	copy kmod/Makefile testbed
	echo 'obj-m := vqp.o' >kmod/Kbuild
	source_file kmod/vqp.c <<-'END'
		#include <linux/module.h>

		MODULE_DESCRIPTION("one field");
		MODULE_LICENSE("Dual BSD/GPL");

		__be32 vqp_field(u32 value);
		__be32 vqp_field(u32 value)
		{
			return cpu_to_be32(value);
		}
	END
	clean sparse
	sed -i 's/cpu_to_be32(value)/value/' kmod/vqp.c
	caught sparse 'different base types'
}

@test "sparse: the compiler's warnings are errors" {
	copy kmod/Makefile testbed
	echo 'obj-m := vqp.o' >kmod/Kbuild
	source_file kmod/vqp.c <<-'END'
		#include <linux/module.h>

		int vqp_undeclared(void)
		{
			return 0;
		}
	END
	caught sparse 'no previous prototype'
}

# module TEXT: a module with that in it
module()
{
	source_file kmod/vqp.c <<-END
		#include <linux/minmax.h>
		#include <linux/module.h>
		#include <linux/timer.h>
		#include <linux/version.h>

		MODULE_DESCRIPTION("what differs");
		MODULE_LICENSE("Dual BSD/GPL");

		$1
	END
}

@test "builds: what is wrong for arm64, for the oldest 6.1 and for the first alone" {
	copy kmod/Makefile testbed
	echo 'obj-m := vqp.o' >kmod/Kbuild
	module ''
	clean builds
	module $'#ifdef CONFIG_ARM64\nint vqp_undeclared(void) { return 0; }\n#endif'
	caught builds 'no previous prototype'
	module $'#ifndef CONFIG_ARM64\nint vqp_undeclared(void) { return 0; }\n#endif'
	caught builds 'no previous prototype'
	module '#if LINUX_VERSION_CODE <= KERNEL_VERSION(6, 1, 0)
		#error of its own version
		#endif
		static inline u64 vqp_least(u64 a, u32 b) { return min(a, b); }
		static inline void vqp_end(struct timer_list *t) { timer_shutdown_sync(t); }'
	caught builds 'on headers like those of 6.1.0'
	[[ $output == *'#error of its own version'*'distinct pointer types'*'implicit declaration'* ]]
}

@test "coccinelle" {
	# one patch of many, for they take long to start
	scripts=$(bash -c 'source tests/static/lib.bash && kernel_scripts')
	export VQP_CACHE=$BATS_TEST_TMPDIR/cache
	mkdir -p "$VQP_CACHE/${scripts##*/}/coccinelle"
	cp "$scripts/coccinelle/free/kfree.cocci" "$VQP_CACHE/${scripts##*/}/coccinelle"
	source_file kmod/main.c <<-'END'
		void vqp_free(void *p)
		{
			kfree(p);
		}
	END
	clean coccinelle
	source_file kmod/main.c <<-'END'
		int vqp_free(struct vqp *p)
		{
			kfree(p);
			return p->number;
		}
	END
	caught coccinelle 'ERROR: reference preceded by free'
}

@test "tidy" {
	program <<-'END'
		#include <string.h>

		void clear(char *buf, int bytes)
		{
			memset(buf, 0, bytes);
		}
	END
	clean tidy
	sed -i 's/0, bytes/bytes, 0/' program/main.c
	caught tidy 'bugprone-suspicious-memset-usage'
}

@test "tidy: a file that is never compiled" {
	program <<<'int clean;'
	source_file program/forgotten.c <<<'int forgotten;'
	caught tidy 'program/forgotten.c: no makefile compiles it'
}

@test "analyzer" {
	program <<-'END'
		#include <stdlib.h>

		void use(char *p);
		int leak(int n);
		int leak(int n)
		{
			char *p = malloc(10);

			if (!p)
				return -1;
			use(p);
			if (!n)
				goto end;
			n = 2;
		end:
			free(p);
			return n;
		}
	END
	clean analyzer
	sed -i 's/goto end/return 1/; s/^end://; s/^use(p);//' program/main.c
	caught analyzer "leak of 'p'"
}

@test "cppcheck" {
	program <<-'END'
		int last(void);
		int last(void)
		{
			const int numbers[4] = { 1, 2, 3, 4 };

			return numbers[3];
		}
	END
	clean cppcheck
	sed -i 's/numbers\[3\]/numbers[4]/' program/main.c
	caught cppcheck 'arrayIndexOutOfBounds'
}

@test "headers: each on its own, in C and C++, for 64 and for 32 bit" {
	source_file include/uapi/linux/vqp.h <<<'struct vqp { int number; };'
	clean headers
	source_file include/uapi/linux/vqp.h <<<'struct vqp { uint32_t number; };'
	caught headers 'vqp.h: gcc -m64 -std=c99'
	source_file include/uapi/linux/vqp.h <<<'struct vqp { int class; };'
	caught headers 'vqp.h: g++ -m64'
	[[ $output != *'vqp.h: gcc'* ]]
	source_file include/uapi/linux/vqp.h <<<'struct vqp { char sizes_differ[sizeof(long) == 8 ? 1 : -1]; };'
	caught headers 'vqp.h: gcc -m32'
	[[ $output != *'vqp.h: gcc -m64'* ]]
}

@test "headers: what cannot be called from C++" {
	copy runtime-lib
	clean headers
	sed -i 's/^#ifdef __cplusplus/#if 0/' runtime-lib/include/vqp/krcore.h
	caught headers 'qbind: cannot be called from C++'
}

@test "abi: a member that moves, a value that changes, a member that is new" {
	copy include
	clean abi
	sed -i 's/^\t__u32 max_sge;/\t__u64 max_sge;/' include/uapi/linux/vqp.h
	caught abi '+vqp_query.max_sge 48 8'
	copy include
	sed -i '/VQP_CMD_NS_DEL,/d' include/uapi/linux/vqp.h
	caught abi '-VQP_CMD_NS_DEL 2'
	copy include
	sed -i 's/^\t__u32 max_inline_bytes;/&\n\t__u32 more;/' include/uapi/linux/vqp.h
	caught abi '+vqp_query.more'
}

@test "abi: what is not the same for 32 bit" {
	copy include
	sed -i 's/^#define VQP_IOC_MAGIC/struct vqp_uneven {\n\t__u32 first;\n\t__u64 second;\n};\n\n&/' \
		include/uapi/linux/vqp.h
	caught abi '+struct vqp_uneven 16'
	cp "$O/check/abi.table" tests/static
	caught abi 'static assertion failed: "vqp_uneven"'
}

@test "man" {
	copy docs/man node oci-hook runtime-lib kmod
	clean man
	sed -i 's/^\.Sh DESCRIPTION/&\n.Nonsense/' docs/man/vqp.7
	caught man 'ERROR: skipping unknown macro: .Nonsense'
	copy docs/man
	sed -i 's/ , Fl -lease//' docs/man/vqpd.8
	caught man 'vqpd.8: option lease is missing'
	copy docs/man
	sed -i 's/vqp_gid;/vqp_gid;\n\t\tvqp_more;/' runtime-lib/libvqp.map
	caught man 'libvqp.3: call vqp_more is missing'
}

@test "units" {
	copy node
	clean units
	sed -i 's/^ProtectSystem=/ProtectedSystem=/' node/vqpd.service
	caught units "Unknown key 'ProtectedSystem'"
	copy node
	sed -i '/^CapabilityBoundingSet=/d; /^SystemCallFilter=/d' node/vqpd.service
	caught units 'node/vqpd.service: exposed by more than 3.0'
}

@test "go: style, and what vet knows" {
	copy libcni
	clean go
	sed -i 's/^\treturn nil$/\t return nil/' libcni/vqpcni.go
	caught go '+	return nil'
	copy libcni
	sed -i 's/reason, err)$/reason)/' libcni/vqpcni.go
	caught go 'reads arg #2'
}

@test "a run that is ended leaves nothing running" {
	printf '#!/bin/sh\necho $$ >pid\nexec sleep 1000\n' >tests/static/licence
	tests/check licence &
	until [ -s pid ]; do
		sleep 0.1
	done
	ends_by TERM 143 $!
	within 10 runs_no_more "$(cat pid)"
}

@test "a check that is killed has failed" {
	printf '#!/bin/sh\nkill -9 $PPID\n' >tests/static/licence
	caught licence
}
