// Unowned: shares an object that something else keeps alive.
#ifndef CAIRN_TESTS_SUPPORT_UNOWNED_H_
#define CAIRN_TESTS_SUPPORT_UNOWNED_H_

#include <memory>

namespace cairn::test {

// Returns a pointer for options, to an object on the stack or in a fixture. The object must outlive
// all frames, snapshots and writers that share it.
template <typename T>
std::shared_ptr<T> Unowned(T* object) {
  return {std::shared_ptr<void>(), object};
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_UNOWNED_H_
