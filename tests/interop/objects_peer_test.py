"""Frames in an object store go back and forth between the cairn tool, boto3 and python-blosc2.

    CAIRN=BUILD/tools/cairn CAIRN_TEST_S3_BUCKET=BUCKET python3 tests/interop/objects_peer_test.py

The credentials and the endpoint of the bucket are those of the environment. Skipped, with a
message, where there is no python-blosc2, boto3, CAIRN or bucket.
"""

import os
import subprocess
import tempfile
import unittest
import uuid

try:
    import blosc2
    import boto3
    import numpy as np
    from botocore.config import Config

    MISSING = None
except ImportError as error:
    MISSING = f"no python-blosc2 or boto3: {error}"
TOOL = os.environ.get("CAIRN")
BUCKET = os.environ.get("CAIRN_TEST_S3_BUCKET")
if MISSING is None and not TOOL:
    MISSING = "CAIRN does not name the cairn tool"
if MISSING is None and not BUCKET:
    MISSING = "CAIRN_TEST_S3_BUCKET names no bucket"


def cairn(*arguments, **options):
    return subprocess.run([TOOL, *map(str, arguments)], check=True, capture_output=True, **options).stdout


@unittest.skipIf(MISSING, MISSING)
class ObjectsPeerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.prefix = uuid.uuid4().hex
        self.uri = f"s3://{BUCKET}/{self.prefix}"
        # Older servers do not know the checksums that boto3 adds unasked.
        config = Config(request_checksum_calculation="when_required", response_checksum_validation="when_required")
        self.s3 = boto3.client("s3", endpoint_url=os.environ.get("AWS_ENDPOINT_URL"),
                               region_name=os.environ.get("AWS_REGION", "us-east-1"), config=config)

    def path(self, name):
        return os.path.join(self.folder, name)

    def download(self, to):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=self.prefix + "/")
        for page in pages:
            for listed in page.get("Contents", []):
                target = os.path.join(to, listed["Key"][len(self.prefix) + 1:])
                os.makedirs(os.path.dirname(target), exist_ok=True)
                self.s3.download_file(BUCKET, listed["Key"], target)

    def upload(self, folder):
        for name in os.listdir(folder):
            self.s3.upload_file(os.path.join(folder, name), BUCKET, f"{self.prefix}/{name}")

    def test_a_checkpoint_that_boto3_downloads_opens_in_python_blosc2(self):
        data = np.arange(300_000, dtype=np.int32)
        data.tofile(self.path("data"))
        cairn("pack", self.path("data"), self.uri, "--typesize", 4, "--chunk-size", 65536, "--quiet")
        cairn("append", self.uri, self.path("data"), "--quiet")
        self.download(self.path("copy.b2frame"))
        opened = blosc2.open(self.path("copy.b2frame"), mode="a")
        content = np.frombuffer(b"".join(opened.decompress_chunk(i) for i in range(opened.nchunks)), dtype=np.int32)
        np.testing.assert_array_equal(content, np.concatenate([data, data]))
        # It goes on there as any sparse frame.
        opened.append_data(data[:100])
        self.assertEqual(len(cairn("cat", self.path("copy.b2frame"))), 4 * 600_100)
        self.assertIn(b"ok", cairn("verify", self.path("copy.b2frame")))

    def test_an_array_of_python_blosc2_that_boto3_uploads_is_read_and_written(self):
        array = np.arange(600_000, dtype=np.float64).reshape(600, 1000)
        blosc2.asarray(array, urlpath=self.path("theirs.b2frame"), contiguous=False, chunks=(100, 500), mode="w")
        self.upload(self.path("theirs.b2frame"))
        self.assertEqual(cairn("cat", self.uri, "--box", "0:600,0:1000"), array.tobytes())
        cairn("append", self.uri, "-", "--axis", 0, "--quiet", input=array[:200].tobytes())
        more = np.concatenate([array, array[:200]])
        self.assertEqual(cairn("cat", self.uri, "--box", "0:800,0:1000"), more.tobytes())
        cairn("verify", self.uri)

    def test_a_contiguous_frame_that_boto3_uploads_is_read_in_place(self):
        data = np.arange(1_000_000, dtype=np.int64)
        blosc2.SChunk(data=data, urlpath=self.path("one.b2frame"), contiguous=True, mode="w")
        self.s3.upload_file(self.path("one.b2frame"), BUCKET, self.prefix)
        self.assertEqual(cairn("cat", self.uri, "--first-item", 500_000, "--items", 3), data[500_000:500_003].tobytes())
        self.assertEqual(cairn("cat", self.uri), data.tobytes())


if __name__ == "__main__":
    unittest.main()
