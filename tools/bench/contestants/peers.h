// The engines that Cairn is compared with; each is in a file of its own, built where it was found.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/contestants/stores.h"

namespace cairn::bench {

struct Peer {
  std::string name;
  std::optional<Engine> engine;  // empty where it was not found
};

std::vector<Peer> Peers();

// Defined only where the peer was found.
Engine BloscEngine();
Engine LmdbEngine();
Engine RocksDbEngine();
Engine SqliteEngine();
Engine Hdf5Engine();

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_
