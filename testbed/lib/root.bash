# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Programs in another root file system, which they see with this source tree and the cache in it, at
# the same places as outside.

# a mount namespace in which one is root, also without being it
own_mounts=(unshare --mount)
((EUID == 0)) || own_mounts+=(--user --map-root-user --map-auto)

# what precedes a command that needs root's rights over files and mounts
as_root=()
((EUID == 0)) || as_root=("${own_mounts[@]}" --)

# as_root_possible: fails with what to do
as_root_possible()
{
	((EUID == 0)) && return
	command -v newuidmap >/dev/null || die "as root: apt-get install uidmap (or run all of this as root)"
	"${as_root[@]}" true 2>/dev/null ||
		die "user $(id -un) may not have a user namespace; as root: usermod --add-subuids 100000-165535" \
			"--add-subgids 100000-165535 $(id -un) (or run all of this as root)"
}

# root_exec ROOT COMMAND...: become that command there, in a mount namespace of its own
root_exec()
{
	cache_hold "$1"
	exec "${own_mounts[@]}" -- "$top/testbed/lib/enter" "$@"
}
