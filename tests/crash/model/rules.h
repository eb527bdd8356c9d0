// The rules of the commit protocol, each of which a variant can take away, and what surrounds it.
#ifndef CAIRN_TESTS_CRASH_MODEL_RULES_H_
#define CAIRN_TESTS_CRASH_MODEL_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cairn::model {

// Rules of a reader's lock when its process forks. Closing the file ends the lock, too.
struct ForkRules {
  bool unlock_spares_children = true;  // that a process has forked: they keep what it lets go
  bool child_opens_again = true;       // before it locks or unlocks: its parent keeps its locks
};

struct Rules : ForkRules {
  // Opening for writing.
  bool confirms = true;               // writes what may not be durable again, and syncs
  bool confirms_from_durable = true;  // else only from where receipts vouch for nothing
  bool syncs_cut = true;              // by fsync; else fdatasync, which may not record a shrink
  bool refuses_damage = true;         // does not cut a damaged journal
  bool receipt_at_open = true;        // leaves a receipt of this boot for what it confirmed
  bool confirms_header = true;        // with the rest
  bool first_sync_confirms = true;    // where opening did not
  bool appends_until_sync = true;     // then: writes nothing but after the end of the file

  // Going on after other writers had the lock.
  bool resume_replays = true;   // what they committed
  bool resume_confirms = true;  // what neither this process nor a receipt knows to be durable
  bool resume_opens_after_rest = true;  // if bytes follow the journal, as after a death
  bool suspend_tells_synced = true;     // the receipt that it leaves, of nothing else

  // Commit.
  bool chains = true;                // a record names the one before
  bool writes_receipts = true;       // after each record
  bool receipt_after_record = true;  // else before its record
  bool appends_receipt = true;       // for older commits, later made durable; else over the last
  bool receipt_after_sync = true;    // claims its own commit only after the sync; else at once
  bool binds_position = true;        // records and receipts tell their position in the file

  // A commit that is prepared, and perhaps not made.
  bool prepares_unseen = true;    // no record before it is made
  bool cancel_drops_copy = true;  // with the shrinking checkpoint whose journal has it

  // Replay.
  bool checks_chunks = true;     // of commits that nothing proves durable
  bool trusts_this_boot = true;  // a receipt of this boot vouches for all before it
  bool compares_boots = true;    // and one of another boot does not
  bool knows_boot = true;        // nor any where the boot is not known
  bool rereads = true;           // damage counts only if it is still there on a second look
  bool searches = true;          // for evidence after the end
  bool rejoins_chain = true;     // continues with the next record after unreadable bytes
  bool rejoins_known = true;     // but not where the trailer, and so the chain, is not known

  // Space that is used again.
  bool reuses = true;
  bool waits_for_checkpoint = true;  // what died since the checkpoint stays until the next
  bool moved_waits = true;           // so does the old place of a chunk that moved
  bool minds_journal = true;         // what the journal took is no longer free
  bool asks_readers = true;          // what they see stays
  bool reader_looks_again = true;    // at the header, after it registered
  bool limits_journal = true;        // it stops before what a reader sees
  bool finds_room_above = true;      // for index and trailer, between what readers see
  bool marks_end = true;             // of a checkpoint that old bytes follow
  bool cuts_rest = true;             // of a dead writer, where a writer opens
  bool cuts_unread = true;           // the file is cut only where no reader sees bytes
  bool header_before_cut = true;     // durable: the one before may need what is cut
  bool chunks_before_record = true;  // in free space too
  bool confirms_free_space = true;   // chunks of the journal that lie there are written again

  // Checkpoint.
  bool syncs_before_flip = true;  // index and trailer
  bool syncs_after_flip = true;   // the header
  bool flips_one_sector = true;   // else writes all of the header

  // A header that is older than the file: a write of it was lost.
  bool marks_ended_journal = true;   // the old one, when the header is durable
  bool marks_after_flip = true;      // else before that
  bool tells_other_journal = true;   // of a newer checkpoint, whose trailer and records follow
  bool other_was_durable = true;     // one of these; else any record will do
  bool owing_claims_nothing = true;  // of what is durable, not even the header

  // Checkpoint in steps.
  bool writes_filler = true;            // the header of a chunk around index and trailer
  bool skips_region = true;             // the journal continues after it
  bool inherits_journal = true;         // the trailer says where it continues
  bool inherits_begin = true;           // at which position
  bool inherits_base = true;            // with which identity
  bool inherits_previous = true;        // after which record
  bool takes_early_durable_end = true;  // of records: before the journal's begin
  bool takes_leading_receipt = true;    // of the checkpoint's own generation
  bool syncs_before_late_flip = true;   // index and trailer, and the commits before
  bool claims_what_began = true;        // receipts, of a sync: not what was written beside it
  bool syncs_before_takeover = true;    // the header: until then the old list of space counts
  bool takeover_minds_placed = true;    // what commits took since is neither free nor dead
  bool takeover_keeps_dying = true;     // what died since stays until the next checkpoint
  bool takeover_buries = true;          // what died of the journal before the checkpoint
  bool journal_born_before = true;      // readers of the checkpoint before see its first records
  bool tells_unknown_base = true;       // records after a damaged trailer that cannot be its first
  bool finishes_flip = true;            // before another checkpoint
  bool resume_compares_header = true;   // else a flip that is not durable is believed
  bool follower_looks_again = true;     // at the header, after it read what is new
  // A shrinking checkpoint, with a journal of its own.
  bool copies_commits = true;       // those since its state, into that journal
  bool copies_before_sync = true;   // of a durable commit
  bool copy_claims_synced = true;   // its receipt: not its own commit
  bool copies_born_before = true;   // readers of the checkpoint before may see what they brought
  bool takes_place_below = true;    // no chunk goes there meanwhile
  bool follows_placed_only = true;  // not chunks of the journal that it does not inherit
  bool syncs_flip_below = true;     // the header, before commits go to the new journal alone
  bool buries_old_journal = true;   // also what came after the state of the checkpoint

  // Summaries of the journal, and the anchor that leads to them.
  bool marks_after_sync = true;        // as durable: only then other boots believe it
  bool slots_compare_boots = true;     // others are believed in the boot that wrote them
  bool binds_anchor = true;            // to the checkpoint, whose index a summary refers to
  bool hashes_summaries = true;        // else what lies there is believed
  bool receipt_after_summary = true;   // a writer that opens does not cut what readers may use
  bool summary_proves_nothing = true;  // its receipt does not say what is durable
  bool refers_to_own_index = true;     // one for a checkpoint made in steps refers to that one
};

// Rules of a sparse frame, in which each chunk has a file, and the journal is in the index file.
struct SparseRules : ForkRules {
  bool syncs_chunks = true;             // before the record of a durable commit
  bool syncs_names = true;              // of chunk files, likewise
  bool checks_chunks = true;            // of commits that nothing proves durable
  bool confirms_chunks = true;          // opening writes those of the journal again
  bool minds_journal = true;            // what any of its commits named stays until a checkpoint
  bool asks_readers = true;             // what an index that is read names stays
  bool minds_old_journals = true;       // what its journal names, too
  bool keeps_old_name = true;           // of that index: the next writer asks for its readers
  bool reader_looks_again = true;       // whether its index has the name, after it locked it
  bool drops_between = true;            // what is in no such index goes, whoever reads older ones
  bool writes_index_aside = true;       // else over the old one
  bool syncs_index_before_swap = true;  // and the chunks that it names
  bool syncs_names_after_swap = true;   // before the old files go
};

struct Conditions {
  bool weak = false;              // sizes and sectors in any order; else data before growth
  bool lazy_truncate = false;     // fdatasync need not record a shrink
  bool failing_syncs = false;     // one sync of each process may fail
  bool knows_boot = true;         // else boots cannot be told apart
  bool kills_cut_header = false;  // a kill cuts each pwrite at any byte, also the header's
  // Many die before the last sync of a checkpoint that shrinks the frame or is made in steps.
  bool dies_at_flips = false;
  size_t header_size = 100;
  size_t page_size = 4096;  // of the cache: what a sync writes
  // Each commit has one chunk, and its receipt ends this many bytes past a sector border.
  std::optional<size_t> past_border = {};
  bool gradual = false;  // checkpoints are also made in steps
  bool shrinks = false;  // much is deleted, and most checkpoints in steps can go down
  bool summaries = false;
  bool forks = false;         // processes that read fork, and their children continue reading
  bool owes = false;          // some writers leave what they build upon to their first sync
  bool prepares = false;      // commits are prepared at times, and then made or not
  bool between = false;       // checkpoints may lie between what readers see
  bool loses_header = false;  // the disk may lose the last writes of the header's page
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_RULES_H_
