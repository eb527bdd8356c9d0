#include "engine/blosc2_api/schunks/callback_frame.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::blosc2_api {

namespace {

// An open file of the program's functions.
class Stream {
 public:
  static absl::StatusOr<Stream> Open(const std::string& path, const char* mode,
                                     const blosc2_io& io) {
    const blosc2_io_cb* const functions = blosc2_get_io_cb(io.id);
    if (functions == nullptr) return NotFound("I/O id %d is not registered", int{io.id});
    void* const stream = functions->open(path.c_str(), mode, io.params);
    if (stream == nullptr) return NotFound("%s: I/O id %d did not open it", path, int{io.id});
    return Stream(*functions, stream);
  }
  Stream(Stream&& other) noexcept
      : functions_(other.functions_), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (stream_ != nullptr) functions_.close(stream_);
  }

  // Returns all bytes, in memory to free.
  absl::StatusOr<MutableBytes> ReadAll() const {
    const int64_t size = functions_.size(stream_);
    if (size <= 0) return InvalidArgument("I/O: a file of %d bytes", size);
    void* const memory = std::malloc(static_cast<size_t>(size));
    if (memory == nullptr) return ResourceExhausted("I/O: no memory for %d bytes", size);
    const MutableBytes bytes = MutableBytesAt(memory, size);
    void* given = functions_.is_allocation_necessary ? memory : nullptr;
    const int64_t read = functions_.read(&given, 1, size, 0, stream_);
    if (read == size && given != nullptr && given != memory) CopyBytes(BytesAt(given, size), bytes);
    if (read == size && given != nullptr) return bytes;
    std::free(memory);
    return DataLoss("I/O: read %d bytes of %d", read, size);
  }

  absl::Status WriteAll(Bytes bytes) const {
    const int64_t size = std::ssize(bytes);
    if (functions_.write(bytes.data(), 1, size, 0, stream_) != size ||
        functions_.truncate(stream_, size) != 0) {
      return absl::InternalError(absl::StrFormat("I/O: %d bytes were not written", size));
    }
    return absl::OkStatus();
  }

 private:
  Stream(const blosc2_io_cb& functions, void* stream) : functions_(functions), stream_(stream) {}

  const blosc2_io_cb functions_;
  void* stream_;
};

class CallbackFrame final : public blosc2_frame_s {
 public:
  CallbackFrame(const blosc2_schunk& schunk, std::unique_ptr<blosc2_frame_s> memory)
      : schunk_(schunk), memory_(std::move(memory)) {}

  absl::StatusOr<Chunk> Get(int64_t nchunk) const override { return memory_->Get(nchunk); }
  bool Keeps(int64_t nchunk, const Chunk& chunk) const override {
    return memory_->Keeps(nchunk, chunk);
  }
  absl::Status Insert(int64_t nchunk, Chunk chunk) override {
    return memory_->Insert(nchunk, std::move(chunk));
  }
  absl::Status Update(int64_t nchunk, Chunk chunk) override {
    return memory_->Update(nchunk, std::move(chunk));
  }
  absl::Status Delete(int64_t nchunk) override { return memory_->Delete(nchunk); }
  absl::Status Reorder(std::span<const int64_t> order) override { return memory_->Reorder(order); }
  absl::Status SetMetalayer(const char* name, const Bytes* content) override {
    return memory_->SetMetalayer(name, content);
  }
  absl::Status SetVlmetalayer(const char* name, const Bytes* content) override {
    return memory_->SetVlmetalayer(name, content);
  }
  absl::StatusOr<MutableBytes> Cframe() override { return memory_->Cframe(); }
  absl::StatusOr<Snapshot> State() override { return memory_->State(); }
  absl::StatusOr<int64_t> Length() override { return memory_->Length(); }
  void KeepCframe(bool keep) override { memory_->KeepCframe(keep); }
  bool on_disk() const override { return false; }

  absl::Status Begin() override {
    ++depth_;
    return absl::OkStatus();
  }
  absl::Status End() override {
    if (depth_ > 0) --depth_;
    return Settle();
  }
  absl::Status Settle() override {
    if (depth_ > 0) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, memory_->Cframe());
    CAIRN_ASSIGN_OR_RETURN(const Stream stream,
                           Stream::Open(schunk_.storage->urlpath, "wb", *schunk_.storage->io));
    return stream.WriteAll(cframe);
  }

 private:
  const blosc2_schunk& schunk_;
  const std::unique_ptr<blosc2_frame_s> memory_;
  int depth_ = 0;  // of sequences of edits
};

}  // namespace

absl::StatusOr<MutableBytes> ReadFile(const std::string& path, const blosc2_io& io) {
  CAIRN_ASSIGN_OR_RETURN(const Stream stream, Stream::Open(path, "rb", io));
  return stream.ReadAll();
}

std::unique_ptr<blosc2_frame_s> MakeCallbackFrame(const blosc2_schunk& schunk,
                                                  std::unique_ptr<blosc2_frame_s> memory) {
  return std::make_unique<CallbackFrame>(schunk, std::move(memory));
}

}  // namespace cairn::blosc2_api
