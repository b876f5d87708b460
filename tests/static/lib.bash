# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034 # what the checks use
# What the checks share: which files there are, and how each is compiled.

set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit
top=$PWD
O=${O:-$top/build}
out=$O/check
cache=$VQP_CACHE
mkdir -p "$out" || exit

# known [PATTERN...]: the files that git knows or would add
known()
{
	git ls-files -co --exclude-standard --deduplicate -- "$@" | while IFS= read -r file; do
		[[ ! -f $file ]] || printf '%s\n' "$file"
	done
}

# kernel_sources: the C of the module, without the stand-ins that it has in user space
kernel_sources()
{
	known 'kmod/*.[ch]' 'include/uapi/*.h' 'tests/programs/consumer/*.c' 'tests/programs/liar/*.c' | grep -v '^kmod/engine/shim/'
}

# sparse_kernel KERNEL: sparse, and the compiler with additional warnings, find nothing in the module for that kernel
sparse_kernel()
{
	# What compiles in spite of a warning would not be looked at again. A C= the kernel takes back
	# if it finds sparse too old, or, in Debian's headers of 7.3, does not find its own script.
	testbed/testbed build "$1" make -s -C kmod O="$out" W=1 KCFLAGS=-Werror KBUILD_CHECKSRC=2 \
		CF="-D__CHECK_ENDIAN__ -Wsparse-error -include $top/tests/static/sparse.h"
}

# kernel_scripts: the directory with the kernel's own checks, which Debian has in the source package
# alone
kernel_scripts()
{
	local package=linux-source-6.1 version target lock
	version=$(dpkg-query -W -f '${Version}' "$package") || return
	target=$cache/kernel-scripts-$version
	# two checks want it at the same time
	exec {lock}>"$cache/kernel-scripts.lock" && flock "$lock" || return
	if [[ ! -d $target ]]; then
		rm -rf "$target.new"
		mkdir -p "$target.new" &&
			tar -C "$target.new" -xf "/usr/src/$package.tar.xz" --strip-components=2 \
				"$package/scripts/"{checkpatch.pl,const_structs.checkpatch,spelling.txt,coccinelle} &&
			mv -T "$target.new" "$target" || return
	fi
	exec {lock}>&-
	echo "$target"
}

# none_found: show what comes in; succeed if that is nothing
none_found()
{
	! grep .
}

# need COMMAND...: fail if one is not installed
need()
{
	local command
	for command; do
		command -v "$command" >/dev/null || { echo "no $command: is it in testbed/packages/test?"; exit 1; }
	done
}

# each_compiled COMMAND...: run it for each C file that runs in user space, with the file and its
# makefile's options behind; shows what it prints or that it fails, and files that no makefile knows
each_compiled()
{
	local file options list
	list=$(compiled)
	known '*.c' ':!kmod/*.c' ':!tests/programs/gcov/*.c' ':!tests/programs/consumer/*.c' ':!tests/programs/liar/*.c' 'kmod/engine/*.c' |
		grep -vxFf <(cut -f 1 <<<"$list") | sed 's/$/: no makefile compiles it/'
	while IFS=$'\t' read -r file options; do
		read -ra options <<<"$options"
		"$@" "$file" "${options[@]}" || echo "$file: failed"
	done <<<"$list"
}

# compiled: each C file that runs in user space, and after a tab the options with which its makefile
# compiles it. A file that is compiled more than once is listed with the options of the first time.
compiled()
{
	local makefile target
	# what is printed when the tree is built, and compiled into it; two checks want it at the same time
	[[ ! -e common/filter.mk ]] ||
		flock "$out/filter.lock" make --no-print-directory -s -C common O="$out/none" \
			"$out/none/obj/filter/filter_programs.h" || return
	known '*/Makefile' ':!kmod' ':!tests/programs/consumer' ':!tests/programs/liar' | while IFS= read -r makefile; do
		for target in '' check; do
			make --no-print-directory -nB -C "${makefile%/*}" O="$out/none" $target 2>/dev/null
		done | compiled_by "${makefile%/*}"
	done | sort -u -t $'\t' -k 1,1
}

# compiled_by FOLDER: the same for the commands that make would run there
compiled_by()
{
	local words word options sources
	while read -ra words; do
		options=() sources=()
		for word in "${words[@]}"; do
			case $word in
			-I* | -D* | -std=*) options+=("$word") ;;
			*.c) sources+=("$word") ;;
			esac
		done
		((${#sources[@]} == 0)) ||
			(cd "$1" && realpath --relative-to="$top" -- "${sources[@]}") |
			sed "s|\$|\t${options[*]}|"
	done
}
