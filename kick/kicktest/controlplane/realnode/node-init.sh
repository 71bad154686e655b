#!/bin/sh
# The first process of a real node's namespaces. It makes a machine of its own out
# of them - mounts, network, sysctls - so that nothing of the real one changes, and
# runs containerd until it is told to end; with it ends all that runs in here.
set -eu
dir=$1 apiserver_port=$2

# Sockets of containerd and its shims, network namespaces of pods, logs of pods.
# Short paths in here also keep socket names below the limit of 108 bytes.
mount -t tmpfs tmpfs /run
mkdir -p /run/netns /run/containerd /run/kubelet "$dir/varlog" "$dir/kubelet"
mount --bind "$dir/varlog" /var/log
mount --bind "$dir/kubelet" /run/kubelet

# kubelet insists on these values and would set them for the whole machine.
sysctl_here() {
	echo "$2" >"$dir/sysctl-$(basename "$1")"
	mount --bind "$dir/sysctl-$(basename "$1")" "/proc/sys/$1"
}
sysctl_here vm/overcommit_memory 1
sysctl_here vm/panic_on_oom 0
sysctl_here kernel/panic 10
sysctl_here kernel/panic_on_oops 1

# The pods' bridge carries the node's address: kubelet refuses loopback.
ip link set lo up
ip link add cni0 type bridge
ip addr add {{.NodeIP}}/24 dev cni0
ip link set cni0 up
echo 1 >/proc/sys/net/ipv4/ip_forward

# No kube-proxy: only the API server's service address works, which is what pods
# with a service account need. The range must be routable before DNAT sees it.
ip route add {{.ServiceRange}} dev cni0
for chain in PREROUTING OUTPUT; do
	iptables -t nat -A "$chain" -d {{.ServiceIP}} -p tcp --dport 443 -j DNAT --to-destination "{{.NodeIP}}:$apiserver_port"
done

trap 'exit 0' TERM
containerd -c "$dir/containerd.toml" &
until ctr version >/dev/null 2>&1; do
	kill -0 $! || exit 1
	sleep 0.05
done
touch "$dir/ready"
wait
