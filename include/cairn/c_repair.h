// The C API: repair. Include cairn/cairn.h.
#ifndef CAIRN_C_REPAIR_H_
#define CAIRN_C_REPAIR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_frame.h"
#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_recover_options {
  size_t struct_size;
  bool dry_run;              // changes nothing
  bool drop_stranded;        // cuts off commits that cannot be read
  const cairn_files* files;  // file system of the path; NULL: the operating system's
} cairn_recover_options;
#define CAIRN_RECOVER_OPTIONS_INIT                                                          \
  {                                                                                         \
    .struct_size = sizeof(cairn_recover_options), .dry_run = false, .drop_stranded = false, \
    .files = NULL                                                                           \
  }

typedef struct cairn_recovery_report {
  size_t struct_size;
  bool header_restored;
  uint64_t checkpoint_generation;  // generation of the checkpoint that the header describes
  uint64_t generation;             // generation of the newest commit
  int64_t commits;                 // commits of the journal that are now in a checkpoint
  int64_t stranded_commits;        // commits that were cut off
  int64_t cut;                     // bytes cut off that were never committed
  int64_t size_before;             // bytes of the file
  int64_t size_after;
  // End of a missing checkpoint that the header led to, or 0. If newer, its commits are lost.
  int64_t missing_checkpoint_end;
} cairn_recovery_report;

// Leaves a frame whose newest commit is a checkpoint, with nothing after it. `report` may be NULL.
// Errors: CAIRN_NOT_FOUND if nothing exists at `path`; CAIRN_UNAVAILABLE if a writer holds a frame
// that needs repair; CAIRN_DATA_LOSS if commits would be lost, or if only cairn_salvage can help.
CAIRN_EXPORT cairn_code cairn_recover(const char* path, const cairn_recover_options* options,
                                      cairn_recovery_report* report, cairn_status* status);

typedef struct cairn_salvage_options {
  size_t struct_size;
  const cairn_open_options* open;  // says how chunks are decoded; NULL: the defaults
  cairn_progress progress;         // NULL: none; gets the number of bytes
  // Called afterwards for bytes [begin, end) of the file that could not be saved.
  void (*on_lost)(void* context, int64_t begin, int64_t end, const char* reason);
  void* context;  // for both
} cairn_salvage_options;
#define CAIRN_SALVAGE_OPTIONS_INIT                                                                 \
  {                                                                                                \
    .struct_size = sizeof(cairn_salvage_options), .open = NULL, .progress = NULL, .on_lost = NULL, \
    .context = NULL                                                                                \
  }

typedef struct cairn_salvage_report {
  size_t struct_size;
  int64_t chunks;  // chunks that were saved
  int64_t nbytes;  // decoded bytes
  int64_t nlost;   // ranges of bytes that were lost
} cairn_salvage_report;

// Makes a frame at `to` of what is intact in the file `from`. Damaged chunks become holes, which
// cannot be read. `report` may be NULL. Errors: CAIRN_NOT_FOUND if no file or intact chunk exists;
// CAIRN_ALREADY_EXISTS if something exists at `to`; CAIRN_CANCELLED if `progress` returns false.
CAIRN_EXPORT cairn_code cairn_salvage(const char* from, const char* to,
                                      const cairn_salvage_options* options,
                                      cairn_salvage_report* report, cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_REPAIR_H_
