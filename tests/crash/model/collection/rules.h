// The rules of commits over several frames. A variant takes one of them away.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_RULES_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_RULES_H_

namespace cairn::model {

struct CollectionRules {
  // Commits.
  bool syncs_direct = true;         // chunks of which the ledger has no copy
  bool direct_first = true;         // before the ledger's record is written, not beside its sync
  bool syncs_ledger = true;         // before anything else is written
  bool ledger_first = true;         // members get their records after the ledger has them
  bool copies_records = true;       // the ledger has a copy of each record
  bool stops_after_failure = true;  // of a sync
  // Copies.
  bool overlays = true;           // readers take from the ledger what a member lacks
  bool redoes = true;             // who opens for writing writes it
  bool redoes_present = true;     // also what seems to be there: the disk may lack it
  bool redoes_only_newer = true;  // than the checkpoint of the member
  bool redoes_last = true;        // not what a later copy covers: readers are there
  bool syncs_void_copies = true;  // older ones: their place may have been used again
  bool syncs_before_cut = true;   // members, before a checkpoint of the ledger drops the copies
  bool syncs_names_before_cut = true;
  // Opening for writing.
  bool cuts_tail = true;         // of the ledger: what did not count never does
  bool confirms_ledger = true;   // makes it durable before anything builds on it
  bool confirms_members = true;  // likewise, before their space is used
  // Readers.
  bool stops_at_position = true;  // that the ledger lists
  bool keeps_listed = true;       // what the ledger lists, until it lists a newer position
  bool asks_readers = true;       // before space is used again
  bool enters = true;             // and readers that are just coming
  bool locks_in_entry = true;     // a reader leaves the entry when it holds its lock
  bool keeps_between = true;      // what is newer than the oldest reader's state
  // Names.
  bool names_after_commit = true;
  bool names_redone = true;     // by who opens for writing
  bool syncs_new_files = true;  // before the commit that makes them members
  bool looks_aside = true;      // readers also look where files without a name are
  bool keeps_removed = true;    // until no reader needs them
  bool checks_position = true;  // a file whose record is another one is not the member
  // Older commits.
  bool locks_kept = true;        // the writer is a reader of the oldest that it keeps
  bool lists_kept_first = true;  // the ledger says that fewer are kept before space is used
  bool keeps_removed_past = true;
  bool keeps_removed_between = true;  // for readers of commits without content
  bool syncs_removed = true;          // before a checkpoint of the ledger drops the copies
  bool redoes_removed = true;         // by who opens for writing
  bool lists_generations = true;      // who opens a member knows since when they are listed
  // Several writers.
  bool confirms_turn = true;   // makes the ledger durable before anything builds on it
  bool completes_held = true;  // a member, before a writer holds it
  bool completes_free = true;  // what nobody holds, before the ledger drops its copies
  bool trusts_held = true;     // does not write to what others hold
  bool lets_go = true;         // a writer whose sync failed, before its turn ends
  bool places_names = true;    // in each turn, those that others gave
  bool keeps_each = true;      // each writer is a reader of the oldest commit that is kept
  bool asks_for_names = true;  // a member that another one holds is not removed or renamed
  // Changes from outside.
  bool tells_foreign = true;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_RULES_H_
