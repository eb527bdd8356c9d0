// Chooses one of the states that the sectors of a file may have after a power cut.
#ifndef CAIRN_TESTS_CRASH_MODEL_DISK_IMAGE_H_
#define CAIRN_TESTS_CRASH_MODEL_DISK_IMAGE_H_

#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/random.h"

namespace cairn::model {

// Each sector holds any of its versions since the last sync. `weak`: the file has any of its sizes.
// Otherwise sizes change in order, and the data of a growth is durable before it.
Bytes ChooseImage(const Bytes& durable, const std::vector<Operation>& pending, bool weak,
                  Random& random);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_DISK_IMAGE_H_
