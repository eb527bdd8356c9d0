#include "tools/bench/contestants/peers.h"

namespace cairn::bench {

std::vector<Peer> Peers() {
  std::vector<Peer> peers = {{"C-Blosc2", std::nullopt},
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

}  // namespace cairn::bench
