// Time-series logs for programs in C99: records with times in a frame. The calls are those of Log,
// LogSnapshot, LogCursor and LogWriter in cairn/log.h and cairn/log_writer.h. The rules of
// cairn/cairn.h hold here, too. See docs/log.md and docs/c-api.md. Programs include this header
// only; it includes its parts, cairn/c_log*.h.
//
// Times, spans and ages are counts of the unit of the log's time field; see cairn_log_field. Only
// names that end in _ms are milliseconds. A range of times includes its begin but not its end.
// INT64_MAX as the end means no limit.
//
// All calls may run at the same time on the same log, snapshot, batch, buckets and writer. A cursor
// belongs to one thread at a time. Snapshots, cursors and writers stay valid after their log is
// freed, and all of these after their cairn_files is freed.
#ifndef CAIRN_CAIRN_LOG_H_
#define CAIRN_CAIRN_LOG_H_

#include "cairn/c_log.h"
#include "cairn/c_log_query.h"
#include "cairn/c_log_writer.h"
#include "cairn/cairn.h"

#endif  // CAIRN_CAIRN_LOG_H_
