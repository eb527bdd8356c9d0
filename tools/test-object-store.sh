#!/usr/bin/env bash
# Runs the tests of object stores over a real one, a Ceph of this machine that lives as long as this
# script: tools/test-object-store.sh [BUILD_FOLDER]. The last line says "N passed, N failed"; where
# Ceph cannot be installed it says that the tests were skipped, and nothing fails.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build-test-release}
tests=$build/tests/object/object_tests

skip() {
  echo "Ceph: $*: its tests are skipped"
  echo "0 passed, 0 failed"
  exit 0
}

[[ -x $tests ]] || skip "$tests is not built"
log=$(mktemp)
if ! tools/install-deps.sh curl ceph-mon ceph-osd radosgw ceph-common >"$log" 2>&1; then
  rm "$log"
  skip "cannot be installed"
fi
for program in ceph-mon ceph-osd radosgw radosgw-admin ceph curl; do
  command -v "$program" >/dev/null || skip "$program is missing"
done

two_free_ports() {
  python3 - <<'PYTHON'
import socket

sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))
PYTHON
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/cairn-ceph-XXXXXX")
clean_up() {
  tools/ceph.sh stop "$dir" || true
  rm -rf "$dir" "$log"
}
trap clean_up EXIT

echo "Ceph: $(ceph --version), in $dir"
read -r S3_PORT MON_PORT < <(two_free_ports)
export S3_PORT MON_PORT
# What is killed has to find its data again.
tools/ceph.sh start "$dir" bluestore
settings=$(tools/ceph.sh env "$dir")
eval "$settings"
curl -sSf --aws-sigv4 aws:amz:us-east-1:s3 -u "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \
  -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -X PUT --data-binary '' "$AWS_ENDPOINT_URL/cairn"

export CAIRN_TEST_S3_BUCKET=cairn
export CAIRN_TEST_S3_RESTART="tools/ceph.sh restart $dir gateway"
export CAIRN_TEST_S3_RESTART_OSD="tools/ceph.sh restart $dir osd"
status=0
"$tests" --gtest_brief=1 --gtest_filter='*RealS3*:BrokenNetwork*' --gtest_output="xml:$log" || status=$?
# C and Python, and boto3 and python-blosc2 beside the tool. What of these needs no store was counted with the other tests.
rm -f "$build"/meson-logs/stores*.junit.xml
meson test -C "$build" --logbase stores --print-errorlogs --timeout-multiplier 3 \
  c_api_uris python_uris objects_peer_test || status=$?
read -r ok bad < <(python3 - "$log" "$build"/meson-logs/stores*.junit.xml <<'PYTHON'
import sys
import xml.etree.ElementTree as xml

cases = list(xml.parse(sys.argv[1]).iter("testcase"))
cases += [c for name in sys.argv[2:] for c in xml.parse(name).iter("testcase")
          if any(part in c.get("name") for part in ("StoreTest", "of_a_bucket", "ObjectsPeer"))]
cases = [c for c in cases if c.find("skipped") is None]
failed = sum(1 for c in cases if c.find("failure") is not None)
print(len(cases) - failed, failed)
PYTHON
) || { ok=0 bad=1; }
[[ $status -eq 0 || $bad -gt 0 ]] || bad=1
echo "${ok:-0} passed, ${bad:-1} failed"
[[ ${bad:-1} -eq 0 ]]
