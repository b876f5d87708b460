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

# the same, with processes of its own, for a command that ends, with all that it started, when this process
# does, even if it is killed
ends_with_us=(setpriv --pdeathsig KILL -- "${own_mounts[@]}" --pid --fork --kill-child --)

# as_root_possible: fails with what to do
as_root_possible()
{
	local user or='(or run all of this as root)'
	((EUID == 0)) && return
	user=$(id -un)
	command -v newuidmap >/dev/null || die "as root: $debian_install uidmap mmdebstrap $or"
	"${as_root[@]}" true 2>/dev/null && return
	[[ $(grep -ls "^\($user\|$UID\):" /etc/sub{u,g}id) == *uid*gid ]] ||
		die "user $user has no other user IDs to use; as root: usermod --add-subuids 100000-165535" \
			"--add-subgids 100000-165535 $user $or"
	die "user $user may not have a user namespace here: $("${as_root[@]}" true 2>&1)" \
		"(sysctl kernel.unprivileged_userns_clone user.max_user_namespaces; or run all of this as root)"
}

# root_exec ROOT COMMAND...: become that command there, in a mount namespace of its own
root_exec()
{
	# what is removed, or not, is the entry as a whole
	cache_hold "${1%/root}"
	exec "${own_mounts[@]}" -- "$top/testbed/lib/enter" "$@"
}
