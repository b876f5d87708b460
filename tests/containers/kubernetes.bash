# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# What tests/containers/kubernetes.bats does on a node: pods, as a kubelet has containerd start them by the CRI; their
# network comes by CNI. Sourced there.
#
# pod_start NAME COMMAND...   a pod with one container
# pod_add NAME COMMAND...     one container more, which the others of these are for from now on
# pod_exec NAME COMMAND...    in that container
# pod_end NAME                the pod and its container are stopped and removed
# pod_pid NAME, pod_address NAME

# shellcheck source=tests/lib/platforms.bash
source "${BASH_SOURCE[0]%/*}/../lib/platforms.bash"

cri() { /vqp/tests/programs/cri "$@"; }

image=docker.io/library/vqp-pod:latest

# FIELD: its texts in an answer
field() { sed -n "s/^ *$1: \"\(.*\)\"$/\1/p"; }

# Once a node, as an operator would: containerd knows the runtime, its network list, and images.
cluster() {
	local config=/etc/containerd/config.toml

	engines
	ln -sf "$BIN/cni/vqp" /usr/lib/cni/
	# of what holds a pod's namespaces, too: by default it would be fetched
	grep -q sandbox_image $config ||
		sed -i "/^ *\[plugins.\"io.containerd.grpc.v1.cri\"\]$/a sandbox_image = \"$image\"" $config
	vqpctl configure containerd
	daemons_end
	daemons
	tar -C "$rootfs" -c . | docker import --change 'ENV PATH=/bin' --change 'CMD ["sleep", "1000000"]' - vqp-pod
	docker save vqp-pod | ctr --namespace k8s.io images import -
}

# ANNOTATION=VALUE... in `annotations`; the runtime handler in `class`
annotations=()
class=vqp

pod_config() {
	local item

	echo "metadata { name: '$1' uid: '$1' namespace: 'default' }"
	for item in "${annotations[@]}"; do
		echo "annotations { key: '${item%%=*}' value: '${item#*=}' }"
	done
}

pod_start() {
	local pod

	pod=$(cri RunPodSandbox <<<"config { $(pod_config "$1") } runtime_handler: '$class'" | field pod_sandbox_id)
	mkdir -p "$WORK/pods"
	echo "$pod" >"$WORK/pods/$1"
	pod_add "$@"
}

# FIELD WORD...: in a request
words() { printf " $1: '%s'" "${@:2}"; }

pod_add() {
	local container

	container=$(cri CreateContainer <<-END | field container_id
		pod_sandbox_id: '$(pod_id "$1")' sandbox_config { $(pod_config "$1") }
		config { metadata { name: 'c$RANDOM' } image { image: '$image' } $(words command "${@:2}") }
		END
	)
	cri StartContainer <<<"container_id: '$container'"
	echo "$container" >>"$WORK/pods/$1"
}

pod_id() { head -n 1 "$WORK/pods/$1"; }
pod_container() { tail -n 1 "$WORK/pods/$1"; }

pod_exec() {
	local answer

	answer=$(cri ExecSync <<<"container_id: '$(pod_container "$1")' timeout: 100 $(words cmd "${@:2}")")
	echo "$answer"
	! grep -q '^exit_code' <<<"$answer"
}

# ID
pod_remove() {
	cri StopPodSandbox <<<"pod_sandbox_id: '$1'" && cri RemovePodSandbox <<<"pod_sandbox_id: '$1'"
}

pod_end() {
	pod_remove "$(pod_id "$1")" && rm "$WORK/pods/$1"
}

pod_pid() {
	cri ContainerStatus <<<"container_id: '$(pod_container "$1")' verbose: true" | sed -n 's/.*\\"pid\\":\([0-9]*\).*/\1/p'
}

pod_address() { cri PodSandboxStatus <<<"pod_sandbox_id: '$(pod_id "$1")'" | field ip; }

pods() { cri ListPodSandbox <<<'' | field id; }

pods_cleanup() {
	local pod

	for pod in $(pods); do
		pod_remove "$pod" || true
	done
	rm -rf "$WORK/pods"
}

pod_shares_its_namespace() {
	pod_start x1 vqpt echo-server 7000
	pod_add x1 sleep 1000
	has_namespaces 1
	pod_exec x1 vqpt --count=5 send "$(pod_address x1)" 7000
	pod_end x1
}

killed_pod_leaves_nothing() {
	live_objects >/run/vqp-test-before
	pod_start x1 vqpt echo-server 7000
	kill -9 "$(pod_pid x1)"
	# while its shim ends, containerd 2 may refuse; a kubelet asks again
	eventually pod_end x1
	eventually live_objects_are /run/vqp-test-before
}

pod_outlives_containerd() {
	pod_start x1 vqpt echo-server 7000
	pkill -9 -x containerd
	eventually gone containerd
	daemons
	pod_exec x1 vqpt --count=5 send "$(pod_address x1)" 7000
	pod_end x1
}

without_the_runtime_class() {
	class=
	pod_start x1 sleep 1000
	has_namespaces 1
	if pod_exec x1 vqpt --count=1 send "$(pod_address x1)" 7000 >$WORK/answer; then return 1; fi
	cat $WORK/answer
	grep -q "vqp_open[a-z_]*: ENOENT" $WORK/answer
	pod_end x1
}
