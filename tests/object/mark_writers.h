// Writers on several machines that append marks of their own to one frame.
#ifndef CAIRN_TESTS_OBJECT_MARK_WRITERS_H_
#define CAIRN_TESTS_OBJECT_MARK_WRITERS_H_

#include <functional>
#include <memory>
#include <string>

#include "cairn/file_system.h"

namespace cairn::test {

// A file system with connections of its own, as if it was on another machine.
using MakeMachine = std::function<std::shared_ptr<FileSystem>()>;

// Eight writers at once make 200 commits each to the frame `name`, of items of 4 bytes; each reads
// whole commits only. A commit that is refused is made again.
void WriteAllMarks(const std::string& name, const MakeMachine& machine);

// Each commit is there once, those of a writer are in their order, and nothing is damaged.
void ExpectAllMarks(const std::string& name, const std::shared_ptr<FileSystem>& files);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_MARK_WRITERS_H_
