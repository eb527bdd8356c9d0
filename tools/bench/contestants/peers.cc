#include "tools/bench/contestants/peers.h"

#include <optional>

namespace cairn::bench {

namespace {

struct KnownPeer {
  std::string name;
  std::optional<Engine> engine;  // empty if it was not found
};

std::vector<KnownPeer> Peers() {
  std::vector<KnownPeer> peers = {{"C-Blosc2", std::nullopt},
                                  {"LMDB", std::nullopt},
                                  {"RocksDB", std::nullopt},
                                  {"SQLite", std::nullopt},
                                  {"HDF5", std::nullopt}};
#ifdef CAIRN_HAVE_BLOSC2
  peers[0].engine = BloscEngine();
#endif
#ifdef CAIRN_HAVE_LMDB
  peers[1].engine = LmdbEngine();
#endif
#ifdef CAIRN_HAVE_ROCKSDB
  peers[2].engine = RocksDbEngine();
#endif
#ifdef CAIRN_HAVE_SQLITE
  peers[3].engine = SqliteEngine();
#endif
#ifdef CAIRN_HAVE_HDF5
  peers[4].engine = Hdf5Engine();
#endif
  return peers;
}

}  // namespace

std::vector<Engine> PeerEngines() {
  std::vector<Engine> engines;
  for (const KnownPeer& peer : Peers()) {
    if (peer.engine.has_value()) engines.push_back(*peer.engine);
  }
  return engines;
}

std::vector<std::string> MissingPeers() {
  std::vector<std::string> names;
  for (const KnownPeer& peer : Peers()) {
    if (!peer.engine.has_value()) names.push_back(peer.name);
  }
  return names;
}

}  // namespace cairn::bench
