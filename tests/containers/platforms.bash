# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/platforms.bats does on a node. Sourced there.

# shellcheck source=tests/lib/platforms.bash
source /vqp/tests/lib/platforms.bash

cgroup_v1_grants_the_device() {
	unshare --mount bash -c "source /vqp/tests/lib/platforms.bash; cgroup_v1
	for p in runc crun; do
		\${p}_start x-\$p vqpt echo-server 7000
		eventually is_served \$(\${p}_address x-\$p)
		\${p}_exec x-\$p vqpt --count=2 send \$(\${p}_address x-\$p) 7000
		grep -qx \"c \$(device_number) rw\" /sys/fs/cgroup/devices/\$(container_cgroup x-\$p)/devices.list
		\${p}_remove x-\$p
	done"
	has_namespaces 0
}

docker_tenant_of_the_network() {
	policy '{"subnet": "10.73.0.0/16", "tenant": 7}' "$anything"
	docker network create --subnet 10.73.1.0/24 seven
	docker run --detach --runtime=vqp --name x1 --network seven vqp-test sleep 1000
	has_namespace 10.73.1.2 7
	docker_remove x1
	docker network rm seven
}

# PLATFORM: what the policy gives to a container of it is what it has.
explained() {
	local address

	"$1_start" x1 sleep 1000
	address=$("$1_address" x1)
	vqpctl policy explain --container x1 --json >"$WORK/x1.said"
	jq -e --arg address "::ffff:$address" '.ok and .tenant == 1 and .rule.number == 1 and
		(.now | length == 1) and .now[0].gid == $address and .address == $address' "$WORK/x1.said"
	"$1_remove" x1
}

podman_cdi() {
	podman run --detach --device vqp.io/device=vqp --network vqp-test --name x1 --rootfs $rootfs \
		vqpt echo-server 7000
	has_namespace "$(podman_address x1)"
	podman_exec x1 vqpt --count=2 send "$(podman_address x1)" 7000
	podman_remove x1
}

podman_hooks_d() {
	podman run --detach --device /dev/vqp --annotation io.vqp.address=10.60.0.9 --network vqp-test --name x1 \
		--rootfs $rootfs vqpt echo-server 7000
	has_namespace 10.60.0.9
	podman_exec x1 vqpt --count=2 send 10.60.0.9 7000
	podman_remove x1
}

podman_user_namespace() {
	cp -a $rootfs $WORK/theirs
	chown -R 100000:100000 $WORK/theirs
	id=$(podman run --detach --runtime vqp --uidmap 0:100000:65536 --network vqp-test --name x1 \
		--rootfs $WORK/theirs vqpt echo-server 7000)
	has_namespace "$(podman_address x1)"
	podman_exec x1 vqpt --count=2 send "$(podman_address x1)" 7000
	[ ! -L "/run/vqp/late/$id" ]
	podman_remove x1
	podman run --detach --device vqp.io/device=vqp --uidmap 0:100000:65536 --network vqp-test --name x1 \
		--rootfs $WORK/theirs vqpt echo-server 7000
	has_namespace "$(podman_address x1)"
	podman_exec x1 vqpt --count=2 send "$(podman_address x1)" 7000
	podman_remove x1
}

configure_docker_and_back() {
	docker_knows_vqp
	cp /etc/docker/daemon.json $WORK/configured
	vqpctl configure docker | grep "daemon.json: unchanged"
	vqpctl configure docker --remove --dry-run | grep "would be changed"
	cmp /etc/docker/daemon.json $WORK/configured
	vqpctl configure docker --remove | grep "Now: systemctl restart docker"
	[ "$(cat /etc/docker/daemon.json)" = "{\"bip\": \"10.71.1.1/24\", \"features\": {\"cdi\": true}}" ]
	[ "$(ls /etc/docker/daemon.json*)" = /etc/docker/daemon.json ]
	vqpctl configure docker | grep "Now: systemctl reload docker"
	cmp /etc/docker/daemon.json $WORK/configured
}

configure_containerd_beside_the_rest() {
	file=/etc/containerd/config.toml
	cp $file $WORK/before
	dump() { containerd config dump; }
	dump | sed "s/\x27/\"/g" >$WORK/dump-before
	vqpctl configure containerd
	# containerd 2 writes other quotes
	dump | sed "s/\x27/\"/g" >$WORK/dump-after
	grep -q "BinaryName = \"$BIN/vqp-runtime\"" $WORK/dump-after
	# runc is said anew, in another place and without options that are not set, or as they are if not set
	sed "s/^ *//" $WORK/dump-after >$WORK/lines-after
	lost=$(sed "s/^ *//" $WORK/dump-before | grep -vxFf $WORK/lines-after |
		grep -vE " = (\"\"|0|false|\[\]|\"podsandbox\")\$" || true)
	echo "$lost"; [ ! "$lost" ]
	grep -q "runtimes.runc\]" $WORK/dump-after
	vqpctl configure containerd | grep unchanged
	vqpctl configure containerd --remove
	cmp $file $WORK/before
	[ "$(ls $file*)" = $file ]
}

configure_keeps_what_was_there() {
	file=/etc/containerd/config.toml
	cp -p $file $WORK/kept
	printf "version = 2\n[debug]" >$file
	chmod 640 $file
	chown 5:6 $file
	cp $file $WORK/before
	mkdir -p $WORK/other/bin
	cp $BIN/vqp* $WORK/other/bin
	$WORK/other/bin/vqpctl configure containerd
	vqpctl configure containerd | grep "changed, as it was: $file.before-vqp"
	grep -q "BinaryName = \"$BIN/vqp-runtime\"" $file
	cmp $file.before-vqp $WORK/before
	[ "$(stat -c "%a %u %g" $file.before-vqp)" = "640 5 6" ]
	# nobody can replace what is mounted
	mount --bind $file $file
	not vqpctl configure containerd --remove
	umount $file
	cmp $file.before-vqp $WORK/before
	vqpctl configure containerd --remove
	cmp $file $WORK/before
	[ "$(ls $file*)" = $file ]
	cp -p $WORK/kept $file
	rm -r $WORK/other
}

configure_containerd_as_runc() {
	file=/etc/containerd/config.toml
	cp $file $WORK/before
	printf "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n" >$file
	printf "runtime_type = \"io.containerd.runc.v2\"\n" >>$file
	printf "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\nSystemdCgroup = true\n" >>$file
	vqpctl configure containerd
	containerd config dump >$WORK/dump
	[ "$(grep -c "SystemdCgroup = true" $WORK/dump)" = 2 ]
	vqpctl configure containerd --remove
	cp $WORK/before $file
}

configure_podman_and_back() {
	local files=(/etc/cdi/vqp.json /etc/containers/containers.conf.d/50-vqp.conf
		/usr/share/containers/oci/hooks.d/vqp-create.json /usr/share/containers/oci/hooks.d/vqp-poststop.json)
	ls "${files[@]}"
	[ "$(vqpctl configure podman | grep -c ": unchanged")" = 4 ]
	vqpctl cdi | cmp - /etc/cdi/vqp.json
	# Docker needs this one, too, as long as it is configured
	vqpctl configure podman --remove
	[ "$(ls "${files[@]}" 2>/dev/null)" = /etc/cdi/vqp.json ]
	vqpctl configure docker --remove
	for file in "${files[@]}"; do [ ! -e "$file" ]; done
	[ "$(vqpctl configure podman --remove | grep -c ": unchanged")" = 4 ]
	vqpctl configure docker
	vqpctl configure podman
}

configure_crio_needs_podmans() {
	needed() {
		ls /etc/cdi/vqp.json /usr/share/containers/oci/hooks.d/vqp-create.json \
			/usr/share/containers/oci/hooks.d/vqp-poststop.json
	}
	vqpctl configure crio
	vqpctl configure podman --remove
	[ ! -e /etc/containers/containers.conf.d/50-vqp.conf ]
	needed
	vqpctl configure crio --remove
	not needed
	rm -r /etc/crio
	vqpctl configure podman
}

configure_refuses_a_broken_file() {
	file=/etc/docker/daemon.json
	cp $file $WORK/before
	echo "{" >$file
	not vqpctl configure docker 2>$WORK/refusal
	[ "$(cat $file)" = "{" ]
	grep -q "$file: not JSON" $WORK/refusal
	cp $WORK/before $file
	not setpriv --reuid 65534 --clear-groups vqpctl configure crio
	[ ! -e /etc/crio ]
}

configure_keeps_owner_and_links() {
	mkdir -p /etc/crio/crio.conf.d
	echo old >$WORK/target
	chmod 640 $WORK/target
	chown 5:6 $WORK/target
	ln -s $WORK/target /etc/crio/crio.conf.d/50-vqp.conf
	vqpctl configure crio
	[ -L /etc/crio/crio.conf.d/50-vqp.conf ]
	grep -q "runtime_path = \"$BIN/vqp-runtime\"" $WORK/target
	[ "$(stat -c "%a %u %g" $WORK/target)" = "640 5 6" ]
	vqpctl configure crio --remove
	[ ! -e /etc/crio/crio.conf.d/50-vqp.conf ]
	rm -r /etc/crio
	vqpctl configure podman
}
