// The rules of frames in object stores, each of which a variant can take away, and what surrounds
// them.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_RULES_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_RULES_H_

#include <cstdint>
#include <string>

namespace cairn::model {

struct ObjectRules {
  // Commits.
  bool record_if_absent = true;   // a record is put where nothing is
  bool records_differ = true;     // by the id of their writer
  bool client_compares = true;    // a conflict after a lost answer: what is there may be its own
  bool writer_compares = true;    // any conflict: a proxy may have sent the put twice
  bool fences = true;             // a put without an answer; else guesses that it was not done
  bool fences_in_time = true;     // else what was there may have been collected
  bool checks_collisions = true;  // with the commits that were first
  bool catches_up = true;         // also when a commit that was aborted is tried again
  bool validates = true;          // looks at the index again before it commits, after a time
  bool limits_staged_age = true;  // commits no chunk that may be taken for garbage
  bool counts_sleep = true;       // of the machine, in these times
  // Checkpoints.
  bool index_if_match = true;    // only in place of the one that was loaded
  bool inherits_journal = true;  // else the journal begins again after each
  bool closes_pending = true;    // no checkpoint has pending items
  bool ends_journal = true;      // of a frame that is replaced
  // Names.
  bool fresh_numbers = true;  // no chunk gets the number of one that was removed
  // Garbage.
  bool old_enough = true;        // younger objects may wait for their commit
  bool chunk_grace = true;       // between the list and the removal
  bool record_grace = true;      // likewise
  bool checks_again = true;      // before the removal, that nothing names it
  bool list_after_state = true;  // a list is as old as the state it was made of
  // Readers.
  bool reader_looks_again = true;  // at the index, after a time
};

// Times are ticks.
struct ObjectConditions {
  int64_t grace = 16;
  int64_t flight = 3;  // within which a request takes effect, if it ever does
  int64_t delay = 0;   // before which one that is delayed does not
  int writers = 2;
  int readers = 1;
  int collectors = 1;
  bool replacer = false;
  bool sleeps = false;  // machines of writers
  bool stalls = false;  // collectors that have listed the objects
  int commits = 4;      // of each writer
  int faults = 1000;    // at most
  int steps = 160;
  bool time = true;  // continues; else only the order of events is explored
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_RULES_H_
