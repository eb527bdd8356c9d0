#include "tests/crash/model/variants.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::model {
namespace {

const Conditions kOrdered;
const Conditions kWeak = {.weak = true, .lazy_truncate = true};
const Conditions kBigHeader = {.weak = true, .lazy_truncate = true, .header_size = 1300};
const Conditions kFailingSyncs = {.failing_syncs = true};
const Conditions kWeakFailingSyncs = {.weak = true, .lazy_truncate = true, .failing_syncs = true};
const Conditions kSmallPages = {
    .weak = true, .lazy_truncate = true, .failing_syncs = true, .page_size = 512};
const Conditions kDyingAtFlips = {.weak = true, .lazy_truncate = true, .dies_at_flips = true};
const Conditions kAligned = {.weak = true, .lazy_truncate = true, .past_border = 0};
const Conditions kStraddling = {.weak = true, .lazy_truncate = true, .past_border = 8};
const Conditions kUnknownBoot = {.weak = true, .lazy_truncate = true, .knows_boot = false};

Conditions Gradual(Conditions conditions) {
  conditions.gradual = true;
  return conditions;
}

Conditions Forking(Conditions conditions) {
  conditions.forks = true;
  return conditions;
}

Conditions Owing(Conditions conditions) {
  conditions.owes = true;
  return conditions;
}

Conditions Preparing(Conditions conditions) {
  conditions.prepares = true;
  return conditions;
}

Conditions LosingHeader(Conditions conditions) {
  conditions.loses_header = true;
  return conditions;
}

Conditions Between(Conditions conditions) {
  conditions.between = true;
  return conditions;
}

Conditions Summarized(Conditions conditions) {
  conditions.summaries = true;
  return conditions;
}

Conditions Shrinking(Conditions conditions) {
  conditions.gradual = conditions.shrinks = true;
  return conditions;
}

const Conditions kGradual = Gradual(kOrdered);
const Conditions kWeakGradual = Gradual(kWeak);
const Conditions kGradualDying = Gradual(kDyingAtFlips);
const Conditions kShrinking = Shrinking(kWeak);
const Conditions kShrinkingDying = Shrinking(kDyingAtFlips);

using Rule = bool Rules::*;

Variant Complete(const std::string& name, const Conditions& conditions, uint64_t runs) {
  Variant variant;
  variant.name = "protocol, " + name;
  variant.conditions = LosingHeader(conditions);
  variant.runs = runs;
  return variant;
}

// `rules` must make a difference under `conditions`.
Variant Without(const std::vector<Rule>& rules, const std::string& name,
                const Conditions& conditions, uint64_t runs) {
  Variant variant;
  variant.name = "without " + name;
  variant.conditions = conditions;
  for (const Rule rule : rules) variant.rules.*rule = false;
  variant.runs = runs;
  variant.must_fail = true;
  return variant;
}

// A second line of defence: without it alone nothing breaks.
Variant WithoutSecondLine(Rule rule, const std::string& name, const Conditions& conditions) {
  Variant variant = Without({rule}, name + " alone", conditions, 1000);
  variant.must_fail = false;
  return variant;
}

std::vector<Variant> Protocol() {
  Variant every_bit = Complete("weak, every bit", kWeak, 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  Variant every_bit_in_order = Complete("ordered, every bit", kOrdered, 6);
  every_bit_in_order.effort = every_bit.effort;
  return {
      Complete("ordered", kOrdered, 3000),
      Complete("ordered, header of 1,300", {.header_size = 1300}, 1500),
      Complete("weak", kWeak, 3000),
      Complete("weak, header of 1,300", kBigHeader, 1500),
      Complete("weak, commits end at sectors", kAligned, 1500),
      Complete("weak, receipts straddle sectors", kStraddling, 1500),
      Complete("weak, boot not known", kUnknownBoot, 1500),
      Complete("ordered, readers that fork", Forking(kOrdered), 2000),
      Complete("ordered, failing syncs", kFailingSyncs, 2000),
      Complete("weak, failing syncs", kWeakFailingSyncs, 2000),
      Complete("weak, failing syncs, small pages", kSmallPages, 2000),
      Complete("ordered, deaths at flips downwards", {.dies_at_flips = true}, 2000),
      Complete("weak, deaths at flips downwards", kDyingAtFlips, 2000),
      Complete("ordered, writers that owe", Owing(kOrdered), 2000),
      Complete("weak, writers that owe", Owing(kWeak), 3000),
      Complete("writers that owe, failing syncs", Owing(kWeakFailingSyncs), 3000),
      Complete("writers that owe, small pages", Owing(kSmallPages), 2000),
      Complete("writers that owe, deaths at flips", Owing(kDyingAtFlips), 2000),
      Complete("writers that owe, gradual", Owing(kWeakGradual), 2000),
      Complete("writers that owe, shrinking", Owing(kShrinkingDying), 2000),
      every_bit_in_order,
      every_bit,
  };
}

std::vector<Variant> BackgroundCheckpoints() {
  Variant every_bit = Complete("gradual, every bit", kGradual, 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  return {
      Complete("gradual, ordered", kGradual, 3000),
      Complete("gradual, weak", kWeakGradual, 3000),
      Complete("gradual, failing syncs", Gradual(kWeakFailingSyncs), 3000),
      Complete("gradual, deaths at flips", kGradualDying, 3000),
      Complete("gradual, readers that fork", Forking(kGradual), 1500),
      Complete("gradual, header of 1,300", Gradual(kBigHeader), 1000),
      Complete("gradual, receipts straddle sectors", Gradual(kStraddling), 1000),
      Complete("gradual, boot not known", Gradual(kUnknownBoot), 1000),
      Complete("gradual, failing syncs, small pages", Gradual(kSmallPages), 1000),
      every_bit,
      Without({&Rules::skips_region}, "a journal after the region", kGradual, 300),
      Without({&Rules::writes_filler, &Rules::rejoins_chain}, "filler", kGradual, 300),
      Without({&Rules::inherits_journal}, "inheriting the journal", kGradual, 300),
      Without({&Rules::inherits_begin, &Rules::rejoins_chain}, "inheriting the journal's begin",
              kGradual, 300),
      Without({&Rules::inherits_base}, "inheriting the journal's base", kGradual, 300),
      Without({&Rules::inherits_previous}, "inheriting the record before", kGradual, 300),
      Without({&Rules::takes_early_durable_end}, "early durable ends", kGradual, 300),
      Without({&Rules::takes_leading_receipt, &Rules::rejoins_chain}, "a leading receipt", kGradual,
              2000),
      Without({&Rules::syncs_before_late_flip}, "sync before a late flip", kGradual, 300),
      Without({&Rules::claims_what_began}, "care for what is written beside a sync", kShrinking,
              6000),
      Without({&Rules::syncs_before_takeover}, "sync before taking over", kGradual, 3000),
      Without({&Rules::takeover_minds_placed}, "minding what was placed", kGradual, 300),
      Without({&Rules::takeover_buries}, "burying what died meanwhile", kGradual, 300),
      Without({&Rules::takeover_keeps_dying}, "keeping what dies meanwhile", kGradual, 300),
      Without({&Rules::journal_born_before}, "an earlier birth of the journal", kGradual, 1000),
      Without({&Rules::tells_unknown_base}, "telling of records after a damaged trailer", kGradual,
              1000),
      // The mark where the journal of such records ended tells it, too.
      Without({&Rules::rejoins_known, &Rules::marks_ended_journal},
              "doubt of records far after a damaged trailer", kOrdered, 1000),
      Without({&Rules::cuts_rest}, "cutting a filler", kWeakGradual, 3000),
      Without({&Rules::finishes_flip}, "finishing a flip", kGradual, 6000),
      Without({&Rules::resume_compares_header}, "comparing the header at resume",
              Gradual(kBigHeader), 30000),
      Without({&Rules::follower_looks_again}, "a follower's look again", kGradual, 3000),
  };
}

std::vector<Variant> CheckpointsBelow() {
  Variant every_bit = Complete("below, every bit", kShrinking, 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  return {
      Complete("below, ordered", Shrinking(kOrdered), 3000),
      Complete("below, weak", kShrinking, 3000),
      Complete("below, failing syncs", Shrinking(kWeakFailingSyncs), 2000),
      Complete("below, deaths at flips", kShrinkingDying, 3000),
      Complete("below, boot not known", Shrinking(kUnknownBoot), 1000),
      Complete("below, summaries", Summarized(kShrinking), 2000),
      every_bit,
      Without({&Rules::copies_commits}, "commits in the journal below", kShrinking, 1000),
      Without({&Rules::copies_before_sync}, "copies before the sync", kShrinkingDying, 60000),
      Without({&Rules::copy_claims_synced}, "sync before the receipt of a copy claims its commit",
              kShrinkingDying, 60000),
      Without({&Rules::copies_born_before}, "an earlier birth of copies", kShrinking, 12000),
      Without({&Rules::takes_place_below}, "taking the place below", kShrinking, 1000),
      Without({&Rules::follows_placed_only}, "care for chunks of the old journal", kShrinking,
              3000),
      Without({&Rules::syncs_flip_below}, "sync of the flip below", kShrinkingDying, 6000),
      Without({&Rules::buries_old_journal}, "burying what follows the old journal", kShrinking,
              12000),
  };
}

std::vector<Variant> PreparedCommits() {
  Variant every_bit = Complete("prepared, every bit", Preparing(kShrinking), 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  return {
      Complete("prepared, ordered", Preparing(kOrdered), 3000),
      Complete("prepared, weak", Preparing(kWeak), 3000),
      Complete("prepared, failing syncs", Preparing(kWeakFailingSyncs), 2000),
      Complete("prepared, gradual", Preparing(kWeakGradual), 3000),
      Complete("prepared, gradual, deaths at flips", Preparing(kGradualDying), 3000),
      Complete("prepared, below", Preparing(kShrinking), 3000),
      Complete("prepared, summaries", Preparing(Summarized(kShrinking)), 2000),
      every_bit,
      Without({&Rules::prepares_unseen}, "hiding what is prepared", Preparing(kOrdered), 300),
      Without({&Rules::cancel_drops_copy}, "dropping the copy of what is cancelled",
              Preparing(kShrinking), 6000),
  };
}

std::vector<Variant> CheckpointsBetween() {
  Variant every_bit = Complete("between, every bit", Between(kWeak), 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  return {
      Complete("between, ordered", Between(kOrdered), 3000),
      Complete("between, weak", Between(kWeak), 3000),
      Complete("between, header of 1,300", Between(kBigHeader), 3000),
      Complete("between, failing syncs", Between(kWeakFailingSyncs), 2000),
      Complete("between, deaths at flips", Between(kDyingAtFlips), 3000),
      Complete("between, gradual", Between(kWeakGradual), 3000),
      every_bit,
      Without({&Rules::finds_room_above}, "room between", Between(kOrdered), 3000),
      // The marks of an older header show that, too.
      Without({&Rules::marks_end, &Rules::marks_ended_journal, &Rules::tells_other_journal},
              "a mark of the end", Between(kBigHeader), 12000),
  };
}

std::vector<Variant> Summaries() {
  Variant every_bit = Complete("summaries, every bit", Summarized(kGradual), 6);
  every_bit.effort = {.images = 2, .every_bit = true};
  return {
      Complete("summaries, ordered", Summarized(kOrdered), 3000),
      Complete("summaries, weak", Summarized(kWeak), 3000),
      Complete("summaries, gradual, weak", Summarized(kWeakGradual), 3000),
      Complete("summaries, failing syncs", Summarized(kWeakFailingSyncs), 2000),
      Complete("summaries, deaths at flips", Summarized(kGradualDying), 2000),
      Complete("summaries, boot not known", Summarized(kUnknownBoot), 1000),
      every_bit,
      Without({&Rules::marks_after_sync}, "sync before a summary's mark", Summarized(kWeak), 1000),
      Without({&Rules::slots_compare_boots}, "comparison of boots of summaries", Summarized(kWeak),
              1000),
      Without({&Rules::binds_anchor}, "checkpoint in the anchor", LosingHeader(Summarized(kWeak)),
              100000),
      Without({&Rules::hashes_summaries}, "hash of summaries", Summarized(kWeak), 1000),
      Without({&Rules::receipt_after_summary}, "a receipt after a summary", Summarized(kOrdered),
              3000),
      Without({&Rules::receipt_after_summary}, "a receipt after a summary, gradual",
              Summarized(kGradual), 3000),
      Without({&Rules::summary_proves_nothing}, "silence of its receipt on what is durable",
              Summarized(kWeak), 3000),
      Without({&Rules::refers_to_own_index}, "the index of the next checkpoint in its summaries",
              Summarized(kGradual), 1000),
  };
}

std::vector<Variant> PlantedFaults() {
  return {
      Without({&Rules::confirms}, "confirming", kWeakFailingSyncs, 3000),
      Without({&Rules::confirms_from_durable}, "confirming what only this boot vouches for",
              kWeakFailingSyncs, 4000),
      Without({&Rules::resume_replays}, "replay at resume", kOrdered, 300),
      Without({&Rules::resume_confirms}, "confirming at resume", kOrdered, 1000),
      Without({&Rules::suspend_tells_synced}, "sync before the receipt of a writer that suspends",
              kOrdered, 12000),
      Without({&Rules::chains, &Rules::confirms}, "chain and confirming", kAligned, 1000),
      Without({&Rules::chains, &Rules::syncs_cut}, "chain and fsync of the cut", kAligned, 8000),
      Without({&Rules::refuses_damage}, "refusing damage", kOrdered, 200),
      Without({&Rules::receipt_at_open}, "receipt at open", kOrdered, 4000),
      Without({&Rules::first_sync_confirms}, "confirming by the first sync",
              Owing(kWeakFailingSyncs), 8000),
      Without({&Rules::confirms_header}, "confirming the header", Owing(kWeakFailingSyncs), 12000),
      Without({&Rules::appends_until_sync}, "appending until the first sync", Owing(kDyingAtFlips),
              12000),
      Without({&Rules::appends_receipt}, "a new receipt for older commits", kStraddling, 1000),
      Without({&Rules::writes_receipts}, "receipts", kOrdered, 300),
      Without({&Rules::receipt_after_record}, "receipt after its record", kOrdered, 1000),
      Without({&Rules::receipt_after_sync}, "sync before a receipt's claim", kOrdered, 300),
      Without({&Rules::binds_position}, "position in records", kOrdered, 500),
      Without({&Rules::checks_chunks}, "check of chunks", kOrdered, 200),
      Without({&Rules::trusts_this_boot}, "trust in this boot", kOrdered, 500),
      Without({&Rules::compares_boots}, "comparison of boots", kOrdered, 300),
      Without({&Rules::knows_boot}, "care for an unknown boot", kUnknownBoot, 300),
      Without({&Rules::rereads}, "a second look", kOrdered, 1500),
      Without({&Rules::searches}, "search for evidence", kOrdered, 200),
      Without({&Rules::syncs_before_flip}, "sync before the flip", kWeak, 300),
      Without({&Rules::syncs_after_flip}, "sync after the flip", kWeak, 1000),
      Without({&Rules::flips_one_sector}, "flip of one sector", kBigHeader, 1000),
      Without({&Rules::marks_ended_journal, &Rules::tells_other_journal},
              "telling of a header that is older", LosingHeader(kOrdered), 300),
      Without({&Rules::marks_ended_journal}, "a mark where a journal ended", LosingHeader(kOrdered),
              3000),
      Without({&Rules::tells_other_journal}, "telling of another journal", LosingHeader(kOrdered),
              3000),
      Without({&Rules::other_was_durable}, "proof that another journal was durable",
              Owing(kDyingAtFlips), 12000),
      Without({&Rules::owing_claims_nothing}, "silence of who owes on what is durable",
              Owing(kDyingAtFlips), 12000),
      Without({&Rules::marks_after_flip}, "sync of the flip before the mark", kWeak, 3000),
      Without({&Rules::waits_for_checkpoint}, "waiting for a checkpoint", kOrdered, 300),
      Without({&Rules::moved_waits}, "waiting where a chunk moved away", kOrdered, 300),
      Without({&Rules::minds_journal}, "minding what the journal took", kOrdered, 300),
      Without({&Rules::asks_readers}, "asking readers", kOrdered, 300),
      Without({&Rules::unlock_spares_children}, "sparing the locks of forked readers",
              Forking(kOrdered), 3000),
      Without({&Rules::child_opens_again}, "opening again in a forked reader", Forking(kOrdered),
              3000),
      Without({&Rules::reader_looks_again}, "a reader's look at the header again", kOrdered, 2000),
      Without({&Rules::limits_journal}, "a limit of the journal", kOrdered, 3000),
      Without({&Rules::cuts_unread}, "care for readers where the file is cut", kOrdered, 10000),
      Without({&Rules::header_before_cut}, "a durable header before a cut", kDyingAtFlips, 12000),
      Without({&Rules::chunks_before_record}, "chunks before their record", kOrdered, 500),
      Without({&Rules::confirms_free_space}, "confirming chunks in free space", kSmallPages, 8000),
      // These are the assumptions of guarantees.md about a kill.
      Without({}, "a header's write that no kill cuts", {.kills_cut_header = true}, 500),
  };
}

std::vector<Variant> SecondLines() {
  return {
      WithoutSecondLine(&Rules::chains, "chain", kAligned),
      WithoutSecondLine(&Rules::resume_opens_after_rest, "opening after a rest", kAligned),
      WithoutSecondLine(&Rules::syncs_cut, "fsync of the cut", kAligned),
      // As it was before space was used again.
      WithoutSecondLine(&Rules::reuses, "free space", kWeak),
      WithoutSecondLine(&Rules::rejoins_chain, "rejoining the chain", kStraddling),
  };
}

Variant SparseFrame(const std::string& name, const Conditions& conditions, uint64_t runs,
                    bool SparseRules::*missing = nullptr) {
  Variant variant;
  variant.name = (missing == nullptr ? "sparse, " : "sparse, without ") + name;
  variant.conditions = conditions;
  variant.sparse.emplace();
  if (missing != nullptr) (*variant.sparse).*missing = false;
  variant.must_fail = missing != nullptr;
  variant.runs = runs;
  return variant;
}

std::vector<Variant> SparseFrames() {
  using R = SparseRules;
  return {
      SparseFrame("ordered", kOrdered, 3000),
      SparseFrame("weak", kWeak, 3000),
      SparseFrame("readers that fork", Forking(kOrdered), 3000),
      SparseFrame("sync of chunks", kOrdered, 500, &R::syncs_chunks),
      SparseFrame("sync of names", kOrdered, 500, &R::syncs_names),
      SparseFrame("check of chunks", kOrdered, 500, &R::checks_chunks),
      SparseFrame("confirming chunks", kOrdered, 3000, &R::confirms_chunks),
      SparseFrame("minding the journal", kOrdered, 500, &R::minds_journal),
      SparseFrame("asking readers", kOrdered, 500, &R::asks_readers),
      SparseFrame("minding the journals of old indexes", kOrdered, 500, &R::minds_old_journals),
      SparseFrame("names of old indexes", kOrdered, 500, &R::keeps_old_name),
      SparseFrame("a reader's look at the name again", kOrdered, 3000, &R::reader_looks_again),
      SparseFrame("sparing the locks of forked readers", Forking(kOrdered), 3000,
                  &R::unlock_spares_children),
      SparseFrame("opening again in a forked reader", Forking(kOrdered), 3000,
                  &R::child_opens_again),
      SparseFrame("dropping what came and went", kOrdered, 500, &R::drops_between),
      SparseFrame("an index of its own", kOrdered, 500, &R::writes_index_aside),
      SparseFrame("sync before the swap", kOrdered, 500, &R::syncs_index_before_swap),
      SparseFrame("sync of names after the swap", kWeak, 3000, &R::syncs_names_after_swap),
  };
}

}  // namespace

std::vector<Variant> Variants() {
  std::vector<Variant> variants = Protocol();
  for (const std::vector<Variant>& more :
       {BackgroundCheckpoints(), CheckpointsBelow(), PreparedCommits(), CheckpointsBetween(),
        Summaries(), PlantedFaults(), SecondLines(), SparseFrames()}) {
    variants.insert(variants.end(), more.begin(), more.end());
  }
  return variants;
}

}  // namespace cairn::model
