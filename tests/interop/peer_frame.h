// Super-chunks of C-Blosc2 on frames. Errors are an empty optional or false.
#ifndef CAIRN_TESTS_INTEROP_PEER_FRAME_H_
#define CAIRN_TESTS_INTEROP_PEER_FRAME_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/options.h"
#include "tests/interop/peer.h"

namespace cairn::interop {

using Layers = std::map<std::string, Buffer>;

class PeerFrame {
 public:
  // Empty where the library refuses.
  static std::optional<PeerFrame> Open(const std::string& path);
  static std::optional<PeerFrame> OpenMapped(const std::string& path);
  // Takes the frame's lock file for each call, and waits for it.
  static std::optional<PeerFrame> OpenLocking(const std::string& path);
  static std::optional<PeerFrame> OpenBuffer(Bytes cframe);
  static std::optional<PeerFrame> Create(const std::string& path,
                                         const CompressionOptions& compression,
                                         const Layers& metalayers,
                                         Layout layout = Layout::kContiguous);

  int64_t nchunks() const { return schunk_->nchunks; }
  int64_t nbytes() const { return schunk_->nbytes; }
  int32_t typesize() const { return schunk_->typesize; }
  // 0 when chunks differ in size.
  int32_t chunksize() const { return schunk_->chunksize; }

  // Uninitialised chunks read as zeros.
  std::optional<std::vector<Buffer>> ReadChunks() const;
  std::optional<Buffer> ReadItems(int64_t start, int64_t count) const;
  std::optional<Layers> metalayers() const;
  std::optional<Layers> vlmetalayers() const;

  bool Append(Bytes data);
  bool Update(int64_t nchunk, Bytes data);
  bool Insert(int64_t nchunk, Bytes data);
  bool Delete(int64_t nchunk);
  // Chunk order[i] becomes chunk i.
  bool ReorderChunks(std::span<const int64_t> order);
  bool SetVlmetalayer(const std::string& name, Bytes content);
  bool DeleteVlmetalayer(const std::string& name);
  bool UpdateMetalayer(const std::string& name, Bytes content);

 private:
  explicit PeerFrame(blosc2_schunk* schunk) : schunk_(schunk, blosc2_schunk_free) {}
  static std::optional<PeerFrame> Own(blosc2_schunk* schunk);
  std::optional<Buffer> Compress(Bytes data) const;

  std::unique_ptr<blosc2_schunk, int (*)(blosc2_schunk*)> schunk_;
};

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_PEER_FRAME_H_
