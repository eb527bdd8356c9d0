#include "engine/chunk/workspace.h"

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn::chunk {
namespace {

TEST(WorkspacePoolTest, LendsAReturnedWorkspaceAgain) {
  WorkspacePool pool;
  const Workspace* first;
  {
    const WorkspacePool::Lease lease = pool.Acquire();
    first = &*lease;
  }
  const WorkspacePool::Lease again = pool.Acquire();
  EXPECT_EQ(&*again, first);
}

TEST(WorkspacePoolTest, LendsAgainWhatSeveralHadAtOnce) {
  WorkspacePool pool;
  const WorkspacePool::Lease first = pool.Acquire();
  const Workspace* second;
  {
    const WorkspacePool::Lease lease = pool.Acquire();
    second = &*lease;
  }
  const WorkspacePool::Lease again = pool.Acquire();
  EXPECT_EQ(&*again, second);
}

TEST(WorkspacePoolTest, LendsNoWorkspaceTwiceAtOnce) {
  WorkspacePool pool;
  const WorkspacePool::Lease a = pool.Acquire();
  const WorkspacePool::Lease b = pool.Acquire();
  const WorkspacePool::Lease c = pool.Acquire();
  EXPECT_EQ((std::set<const Workspace*>{&*a, &*b, &*c}.size()), 3u);
}

TEST(WorkspacePoolTest, ServesThreadsAtOnce) {
  WorkspacePool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      const auto mine = static_cast<std::byte>(t);
      for (int i = 0; i < 500; ++i) {
        const WorkspacePool::Lease lease = pool.Acquire();
        const MutableBytes bytes = lease->block.Get(64);
        FillBytes(bytes, mine);
        EXPECT_TRUE(IsRun(bytes) && bytes[0] == mine);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cairn::chunk
