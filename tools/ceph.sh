#!/usr/bin/env bash
# A Ceph of one node with an S3 gateway on 127.0.0.1, for tests and for trying things out. All that it
# keeps lies in DIR.
#   tools/ceph.sh start DIR [memstore|bluestore]   memstore forgets all when its daemon ends
#   tools/ceph.sh stop DIR
#   tools/ceph.sh kill DIR osd|gateway             as a crash does
#   tools/ceph.sh restart DIR osd|gateway          after that, too
#   tools/ceph.sh env DIR                          prints the variables that S3 clients take
# MON_PORT and S3_PORT choose the ports, when it starts.
set -euo pipefail

key=cairnkey
secret=cairnsecret

fail() {
  echo "ceph: $*" >&2
  exit 1
}

write_config() {  # store, identity of the cluster, port of the monitor
  cat >"$dir/ceph.conf" <<CONFIG
[global]
fsid = $2
mon_host = v1:127.0.0.1:$3
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_msgr2 = false
auth_allow_insecure_global_id_reclaim = false
keyring = $dir/keyring
run_dir = $dir/run
admin_socket = $dir/run/\$name.\$pid.asok
log_file = $dir/log/\$name.log
mon_cluster_log_file = $dir/log/cluster.log
crash_dir = $dir/log
pid_file =
# One daemon keeps the only copy.
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 1000
mon_data = $dir/mon
mon_data_avail_warn = 1
mon_data_avail_crit = 1
osd_data = $dir/osd
osd_objectstore = $1
osd_memory_target = 939524096
memstore_device_bytes = 4294967296
bluestore_block_size = 8589934592
# These three make it start in two seconds instead of ten.
paxos_propose_interval = 0.02
paxos_min_wait = 0.005
objecter_tick_interval = 0.25
# Logs of each request would take a fifth of the time.
debug_rgw = 0/0
debug_osd = 0/0
debug_bluestore = 0/0
debug_ms = 0/0
[client.rgw.cairn]
rgw_data = $dir/gateway
# Without tcp_nodelay small answers take 44 ms.
rgw_frontends = beast endpoint=127.0.0.1:$s3_port tcp_nodelay=1
rgw_dynamic_resharding = false
CONFIG
}

add_key() {  # name, capabilities
  ceph-authtool "$dir/keyring" --gen-key -n "$@" >/dev/null
}

run_daemon() {  # osd, gateway or mon
  local program=()
  case $1 in
    mon) program=(ceph-mon -i a) ;;
    osd) program=(ceph-osd -i 0) ;;
    gateway) program=(radosgw -n client.rgw.cairn) ;;
    *) fail "no daemon $1" ;;
  esac
  setsid "${program[@]}" -c "$dir/ceph.conf" -f >"$dir/log/$1.out" 2>&1 </dev/null &
  echo $! >"$dir/$1.pid"
}

# A process that was killed is a zombie, and its threads may hold its files for a while.
is_running() {  # process
  local state threads
  state=$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) || return 1
  threads=("/proc/$1/task"/*)
  [[ $state != Z || ${#threads[@]} -gt 1 ]]
}

has_ended() {  # process; waits for it
  for _ in {1..1200}; do
    is_running "$1" || return 0
    sleep 0.05
  done
  return 1
}

end_daemon() {  # name, signal; waits, and makes sure
  local process
  process=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
  rm "$dir/$1.pid"
  # The number may be another program's by now.
  tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | grep -qF "$dir/ceph.conf" || return 0
  kill "-$2" "$process"
  has_ended "$process" && return 0
  kill -KILL "$process" || true
  has_ended "$process" || fail "$1 does not end"
}

wait_for_gateway() {
  local url
  url=$(sed -nE 's/.*endpoint=([^ ]+).*/http:\/\/\1/p' "$dir/ceph.conf")
  for _ in {1..1800}; do
    # Otherwise another program may answer on its port.
    is_running "$(cat "$dir/gateway.pid")" || break
    if curl -sf -m 10 -o /dev/null "$url"; then return 0; fi
    sleep 0.1
  done
  fail "the gateway does not run, or answer: see $dir/log"
}

start() {  # store
  local cluster osd
  [[ ! -e $dir/ceph.conf ]] || fail "$dir has a Ceph already"
  mkdir -p "$dir"/{mon,osd,gateway,run,log}
  cluster=$(cat /proc/sys/kernel/random/uuid)
  osd=$(cat /proc/sys/kernel/random/uuid)
  s3_port=${S3_PORT:-7480}
  write_config "$1" "$cluster" "${MON_PORT:-16789}"
  : >"$dir/keyring"
  chmod 600 "$dir/keyring"
  add_key mon. --cap mon 'allow *'
  add_key client.admin --cap mon 'allow *' --cap osd 'allow *'
  add_key osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'
  add_key client.rgw.cairn --cap mon 'allow rw' --cap osd 'allow rwx'
  monmaptool --create --fsid "$cluster" --addv a "v1:127.0.0.1:${MON_PORT:-16789}" "$dir/monmap" >/dev/null
  # It takes over the keys.
  ceph-mon --mkfs -i a -c "$dir/ceph.conf" --monmap "$dir/monmap" --keyring "$dir/keyring"
  run_daemon mon
  ceph-osd --mkfs -i 0 -c "$dir/ceph.conf" --osd-uuid "$osd" >"$dir/log/mkfs.out" 2>&1
  timeout 300 ceph -c "$dir/ceph.conf" osd new "$osd" >/dev/null
  run_daemon osd
  # Waits for the daemon, and makes the pools.
  timeout 300 radosgw-admin -c "$dir/ceph.conf" user create --uid=cairn --display-name=cairn \
    --access-key="$key" --secret-key="$secret" >"$dir/log/user.out" 2>&1
  run_daemon gateway
  wait_for_gateway
}

[[ $# -ge 2 ]] || fail "usage: tools/ceph.sh start|stop|kill|restart|env DIR [...]"
command=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
case $command in
  start) start "${3:-memstore}" ;;
  stop) for name in gateway osd mon; do end_daemon $name TERM; done ;;
  kill) end_daemon "$3" KILL ;;
  restart)
    end_daemon "$3" KILL
    run_daemon "$3"
    wait_for_gateway
    ;;
  env)
    echo "export AWS_ACCESS_KEY_ID=$key AWS_SECRET_ACCESS_KEY=$secret"
    sed -nE 's/.*endpoint=([^ ]+).*/export AWS_ENDPOINT_URL=http:\/\/\1/p' "$dir/ceph.conf"
    ;;
  *) fail "no command $command" ;;
esac
