"""Frames go back and forth between the tool and python-blosc2, as people do it.

Takes the tool from the environment: CAIRN. Skips everything where there is no python-blosc2.
"""

import os
import unittest

from cli import CliTest, sample

try:
    import blosc2
except ImportError:
    blosc2 = None

CHUNK = 40_000


@unittest.skipUnless(blosc2, "no python-blosc2")
class FramesPeer(CliTest):
    tool = os.environ.get("CAIRN")

    def make(self, name, data, contiguous, codec=None):
        cparams = {"typesize": 4, "codec": codec or blosc2.Codec.ZSTD}
        frame = blosc2.SChunk(
            chunksize=CHUNK, data=data, cparams=cparams, urlpath=self.path(name), contiguous=contiguous, mode="w"
        )
        frame.vlmeta["station"] = "Lisbon"
        return name

    def peer_reads(self, name):
        return blosc2.open(self.path(name), mode="r")[:]

    def test_what_the_peer_wrote_is_read(self):
        data = sample(100_000)
        for codec in [blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.LZ4HC, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD]:
            for contiguous in [True, False]:
                with self.subTest(codec=codec, contiguous=contiguous):
                    name = self.make(f"{codec.name}-{contiguous}", data, contiguous, codec)
                    self.assertEqual(self.ok("cat", name), data)
                    self.ok("verify", name)

    def test_both_append_in_turn(self):
        pieces = [sample(size, seed) for seed, size in enumerate([80_000, 120_000, CHUNK, 60_000, 4_000])]
        for contiguous in [True, False]:
            with self.subTest(contiguous=contiguous):
                name = self.make(f"turns-{contiguous}", pieces[0], contiguous)
                self.ok("append", name, "-", stdin=pieces[1])
                self.assertEqual(self.peer_reads(name), b"".join(pieces[:2]))
                # The items fill complete chunks here, as those to which the peer appends have to.
                blosc2.open(self.path(name), mode="a").append_data(pieces[2])
                self.ok("append", name, "-", stdin=pieces[3])
                self.ok("append", name, "-", stdin=pieces[4])
                self.assertEqual(self.ok("cat", name), b"".join(pieces))
                self.assertEqual(self.peer_reads(name), b"".join(pieces))
                self.ok("verify", name)

    def test_copies_are_read_by_the_peer(self):
        data = sample(100_000)
        name = self.make("from", data, True)
        for layout in [[], ["--sparse"]]:
            for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
                with self.subTest(codec=codec, layout=layout):
                    copy = "-".join(["to", codec, *layout])
                    self.ok("copy", name, copy, "--quiet", "--codec", codec, *layout)
                    peer = blosc2.open(self.path(copy), mode="r")
                    self.assertEqual(peer[:], data)
                    self.assertEqual(peer.vlmeta["station"], "Lisbon")


if __name__ == "__main__":
    unittest.main()
