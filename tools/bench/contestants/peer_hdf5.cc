// HDF5: a chunked data set that grows. Compressed chunks are written and read unchanged, so that
// the container is compared and not deflate.
#include <array>
#include <hdf5.h>
#include <vector>

#include "tools/bench/contestants/peers.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

absl::Status Hdf5Failed(const char* what) {
  return absl::InternalError(std::string("HDF5: cannot ") + what);
}

class Hdf5Store final : public ChunkStore {
 public:
  explicit Hdf5Store(const StoreParams& params)
      : coder_(params.compression, params.chunksize),
        chunksize_(static_cast<hsize_t>(params.chunksize)),
        blob_(2 * static_cast<size_t>(params.chunksize) + 64) {}
  ~Hdf5Store() override {
    if (set_ >= 0) H5Dclose(set_);
    if (file_ >= 0) H5Fclose(file_);
  }

  absl::Status Open(const std::string& path) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file_ < 0) return Hdf5Failed("make a file");
    const hsize_t size = 0;
    const hsize_t most = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(1, &size, &most);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 1, &chunksize_);
    // A filter makes HDF5 store the sizes of chunks.
    H5Pset_deflate(properties, 1);
    set_ =
        H5Dcreate2(file_, "chunks", H5T_NATIVE_UINT8, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    H5Sclose(space);
    return set_ < 0 ? Hdf5Failed("make a data set") : absl::OkStatus();
  }

  absl::Status Append(Bytes raw) override {
    const hsize_t size = (next_ + 1) * chunksize_;
    if (H5Dset_extent(set_, &size) < 0) return Hdf5Failed("extend the data set");
    return Put(next_++, raw);
  }
  absl::Status Update(int64_t nchunk, Bytes raw) override {
    return Put(static_cast<hsize_t>(nchunk), raw);
  }
  absl::Status Commit(Durability durability) override {
    if (durability == Durability::kProcess) return absl::OkStatus();
    return H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 ? Hdf5Failed("flush") : absl::OkStatus();
  }
  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    const hsize_t offset = static_cast<hsize_t>(nchunk) * chunksize_;
    hsize_t size = 0;
    uint32_t filters = 0;
    if (H5Dget_chunk_storage_size(set_, &offset, &size) < 0 || size > blob_.size() ||
        H5Dread_chunk(set_, H5P_DEFAULT, &offset, &filters, blob_.data()) < 0) {
      return Hdf5Failed("read");
    }
    return coder_.Decompress(Bytes(blob_).first(size), raw);
  }

 private:
  absl::Status Put(hsize_t number, Bytes raw) {
    ASSIGN_OR_RETURN(const Bytes blob, coder_.Compress(raw));
    const hsize_t offset = number * chunksize_;
    return H5Dwrite_chunk(set_, H5P_DEFAULT, 0, &offset, blob.size(), blob.data()) < 0
               ? Hdf5Failed("write")
               : absl::OkStatus();
  }

  BlobCoder coder_;
  hsize_t chunksize_;
  std::vector<std::byte> blob_;
  hid_t file_ = -1;
  hid_t set_ = -1;
  hsize_t next_ = 0;
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeHdf5Store(const StoreParams& params) {
  auto store = std::make_unique<Hdf5Store>(params);
  RETURN_IF_ERROR(store->Open(params.path));
  return store;
}

}  // namespace

Engine Hdf5Engine() { return {.name = "HDF5", .make = MakeHdf5Store}; }

}  // namespace cairn::bench
