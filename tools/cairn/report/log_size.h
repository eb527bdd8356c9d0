// Measures how much space a log takes.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_LOG_SIZE_H_
#define CAIRN_TOOLS_CAIRN_REPORT_LOG_SIZE_H_

#include <cstdint>

#include "cairn/log.h"
#include "tools/cairn/text/stored_size.h"

namespace cairn::tool {

struct LogSize {
  int64_t nbytes = 0;  // bytes of the records, with the deleted ones, which are stored as well
  int64_t stored = 0;  // bytes of the files
};

inline LogSize SizeOf(const LogSnapshot& log) {
  LogSize size = {.nbytes = (log.end_record() - log.first_record()) * log.schema().record_size(),
                  .stored = 0};
  for (const Snapshot& frame : log.frames()) {
    size.stored += SizeWithJournal(frame.info());
  }
  return size;
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_LOG_SIZE_H_
