# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What is made once and kept outside the source tree: $cache/NAME-KEY is a directory that one command
# made, and KEY says what it was made of.
#
# An entry is there whole or not at all: it is made as $cache/NAME.new and renamed, while
# $cache/NAME.lock is held, and renamed to $cache/NAME-KEY.gone before it is removed. Whatever uses an
# entry holds a shared lock on its directory (cache_hold); entries that nothing holds go when a newer
# one of the same name has been made, but for the two used last.

# ~ is right without $HOME, too
cache=${VQP_CACHE:-${XDG_CACHE_HOME:-${HOME:-$(cd ~ && pwd)}/.cache}/vqp}
cache=$(realpath -m -- "$cache")

# cache_has NAME KEY: $cache/NAME-KEY is there
cache_has()
{
	[[ -d $cache/$1-$2 ]]
}

# cache_ensure NAME KEY COMMAND...: set $entry to $cache/NAME-KEY, which COMMAND DIRECTORY makes if it is not there
cache_ensure()
{
	local name=$1 key=$2 lock new before=$exit_commands
	shift 2
	entry=$cache/$name-$key
	mkdir -p "$cache" || die "no cache at $cache: $cache_elsewhere"
	exec {lock}>>"$cache/$name.lock" || cache_failed "$name"
	flock -n "$lock" || {
		say "$name: waiting for another run that makes it"
		flock "$lock"
	}
	if ! cache_has "$name" "$key"; then
		new=$cache/$name.new
		# of runs that were killed
		cache_remove "$new" "$cache/$name"-????????????????.gone
		say "$name: making $entry (once)"
		mkdir "$new" || cache_failed "$name"
		on_exit "cache_remove '$new'"
		"$@" "$new" || cache_failed "$name"
		mv -T "$new" "$entry" || cache_failed "$name"
		exit_commands=$before
		cache_prune "$name"
	fi
	touch -c "$entry"
	exec {lock}>&-
}

cache_elsewhere='VQP_CACHE=DIRECTORY names another place'

# cache_failed NAME: say why nothing was made, as far as it can be told from here
cache_failed()
{
	local left
	left=$(df --output=avail -BM "$cache" | tail -n 1 | tr -dc 0-9)
	if [[ ! -w $cache ]]; then
		say "$cache cannot be written: $cache_elsewhere"
	elif ((left < 256)); then
		say "$cache: its file system is full ($left MiB left): $cache_elsewhere"
	fi
	die "$1: not made; nothing of it is kept"
}

# cache_hold DIRECTORY: keep it from being removed for as long as this process or one of its children has the lock
cache_hold()
{
	local held
	{ exec {held}<"$1" && flock -s "$held" && [[ $1 -ef /dev/fd/$held ]]; } ||
		die "$1 was removed before it could be used: once more"
}

# cache_remove DIRECTORY...: their files may be those of a user namespace
cache_remove()
{
	local directory
	for directory; do
		[[ ! -e $directory ]] || "${as_root[@]}" rm -rf --one-file-system -- "$directory"
	done
}

# cache_remove_unused DIRECTORY [LOCK]: unless something holds LOCK, which is the directory itself for an entry
cache_remove_unused()
{
	local held gone=${1%.gone}.gone status=1
	exec {held}<"${2-$1}"
	if flock -n -x "$held"; then
		say "removing $1, which nothing uses"
		[[ $1 == "$gone" ]] || { cache_remove "$gone" && mv -T "$1" "$gone"; }
		cache_remove "$gone"
		status=0
	fi
	exec {held}<&-
	return "$status"
}

# cache_prune NAME: remove entries of that name that nothing uses, but for the two used last
cache_prune()
{
	local old
	find "$cache" -mindepth 1 -maxdepth 1 -type d -name "$1-????????????????" -printf '%T@ %p\n' |
		sort -rn | tail -n +3 | cut -d' ' -f2- |
		while IFS= read -r old; do
			cache_remove_unused "$old"
		done
}

# cache_entries: what it has, a line each: when it was used last, size, name
cache_entries()
{
	local entry
	find "$cache" -mindepth 1 -maxdepth 1 -type d -name '*-????????????????' 2>/dev/null | sort |
		while IFS= read -r entry; do
			printf '%s %8s  %s\n' "$(date -r "$entry" '+%F %R')" "$(du -sh "$entry" 2>/dev/null | cut -f 1)" "$entry"
		done
}

# cache_clear: remove all that nothing uses
cache_clear()
{
	local entry lock
	for entry in "$cache"/*; do
		[[ -d $entry ]] || continue
		# what is being made is its maker's
		lock=$entry
		[[ ! -e ${entry%.new}.lock ]] || lock=${entry%.new}.lock
		cache_remove_unused "$entry" "$lock" || say "$entry is in use"
	done
}

# key_of: a key for what comes in
key_of()
{
	sha256sum | cut -c 1-16
}
