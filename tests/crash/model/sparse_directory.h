// The directory of a sparse frame on a machine that can lose power: names, each of a file with a
// page cache and a durable image. A name is durable once the directory was synced.
#ifndef CAIRN_TESTS_CRASH_MODEL_SPARSE_DIRECTORY_H_
#define CAIRN_TESTS_CRASH_MODEL_SPARSE_DIRECTORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/random.h"
#include "tests/crash/model/rules.h"

namespace cairn::model {

inline const std::string kIndexName = "index";
inline std::string ChunkName(uint64_t number) { return "chunk " + std::to_string(number); }
inline uint64_t NumberOf(const std::string& chunk_name) {
  return std::stoull(chunk_name.substr(ChunkName(0).size() - 1));
}

class Directory {
 public:
  using Image = std::map<std::string, Bytes>;

  Directory(const Conditions& conditions, Random& random)
      : conditions_(conditions), random_(random) {}

  // A process begins, which is killed after this many operations.
  void StartProcess(std::optional<uint64_t> operations);
  bool running() const { return running_; }
  // Called before each operation, while the process runs.
  void OnStep(std::function<void()> visit) { visit_ = std::move(visit); }

  void Create(const std::string& name);
  void Remove(const std::string& name);
  void Exchange(const std::string& a, const std::string& b);
  void SyncNames();
  void Write(const std::string& name, uint64_t offset, const Bytes& data);
  void Resize(const std::string& name, uint64_t size);
  void Sync(const std::string& name);

  // Null where there is none. A file stays as long as a reader has it.
  std::shared_ptr<const Disk> Find(const std::string& name) const;
  std::vector<std::string> List() const;
  Image Cached() const;
  uint64_t boot() const { return boot_; }

  // Returns what the disk may hold if the power fails now.
  Image PossibleImage();
  void CutPower(const Image& image);

 private:
  using Names = std::map<std::string, std::shared_ptr<Disk>>;
  struct NameChange {
    std::string name;
    std::string other;           // of an exchange
    std::shared_ptr<Disk> file;  // null: removed
  };

  bool Step();
  void Change(NameChange change);
  static void Apply(const NameChange& change, Names& names);

  Conditions conditions_;
  Random& random_;
  uint64_t boot_ = 1;
  Names cached_;
  Names durable_;
  std::vector<NameChange> pending_;
  std::optional<uint64_t> operations_left_;
  bool running_ = true;
  std::function<void()> visit_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_SPARSE_DIRECTORY_H_
