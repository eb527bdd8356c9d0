// The space of the file that no state needs any more, and who may still see it.
#ifndef CAIRN_TESTS_CRASH_MODEL_SPACE_H_
#define CAIRN_TESTS_CRASH_MODEL_SPACE_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::model {

struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
  bool operator==(const Extent&) const = default;
};

// Readers register the generation of the checkpoint that they read.
class Registrations {
 public:
  virtual ~Registrations() = default;
  // Returns true if a generation in [first, end) is registered.
  virtual bool AnyIn(uint64_t first, uint64_t end) const = 0;
};

class Nobody final : public Registrations {
 public:
  bool AnyIn(uint64_t, uint64_t) const override { return false; }
};

// Bytes that the newest checkpoint does not need. A reader of a checkpoint in [born, died) may see
// them.
struct DeadExtent {
  Extent extent;
  uint64_t born = 0;
  uint64_t died = 0;
};

// Bytes before the index of a checkpoint are free, or dead and perhaps seen. Bytes after its end
// are for the journal, up to those that are seen.
class Space {
 public:
  Space() = default;
  Space(std::vector<Extent> free, std::vector<DeadExtent> dead);

  const std::vector<Extent>& free() const { return free_; }
  const std::vector<DeadExtent>& dead() const { return dead_; }

  // The first free bytes of that size.
  std::optional<uint64_t> Take(uint64_t size);
  // These are in use, and are no longer free.
  void Remove(const Extent& used);
  // Nor dead.
  void RemoveEverywhere(const std::vector<Extent>& used);
  // Frees what is dead and not seen: before `index_begin` for chunks.
  void Release(const Registrations& readers, uint64_t index_begin);
  // Returns where the journal that ends at `position` must stop.
  uint64_t LimitFrom(uint64_t position) const;
  // Returns a position after everything that is dead.
  uint64_t EndOfDead() const;
  // Returns where that many bytes begin, from `position` on, none of which is dead.
  uint64_t FindAbove(uint64_t position, uint64_t size) const;

 private:
  void Add(const Extent& extent);

  std::vector<Extent> free_;  // in order, none next to another
  std::vector<DeadExtent> dead_;
};

// Returns the part of `whole` outside of `used`.
std::vector<Extent> Without(const Extent& whole, std::vector<Extent> used);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_SPACE_H_
