// The engines that Cairn is compared with. Each is in a file of its own, which is built if the
// engine was found.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_

#include <string>
#include <vector>

#include "tools/bench/contestants/stores.h"

namespace cairn::bench {

// Return the engines that were found when this was built, and the names of the others.
std::vector<Engine> PeerEngines();
std::vector<std::string> MissingPeers();

// Each is defined only if the peer was found.
Engine BloscEngine();
Engine LmdbEngine();
Engine RocksDbEngine();
Engine SqliteEngine();
Engine Hdf5Engine();

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_PEERS_H_
