// Counts what operator new gives out while one of these lives. One at a time.
#ifndef CAIRN_TESTS_VECTORS_ALLOCATION_METER_H_
#define CAIRN_TESTS_VECTORS_ALLOCATION_METER_H_

#include <cstdint>

namespace cairn::vectors {

class AllocationMeter {
 public:
  AllocationMeter();

  // The largest single allocation since, bytes.
  int64_t largest() const;
  // The most bytes in use at one time since, over those in use at the start.
  int64_t peak() const;

 private:
  int64_t start_;
};

}  // namespace cairn::vectors

#endif  // CAIRN_TESTS_VECTORS_ALLOCATION_METER_H_
