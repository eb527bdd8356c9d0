// Verify, recover, salvage, compact.
#include <stdio.h>
#include <string.h>

#include "tests/c_api/check.h"

typedef struct seen {
  int findings;
  char section[40];
  int notes;
  int progress;
  bool stop;
} seen;

static void on_finding(void* context, const cairn_finding* finding) {
  seen* to = context;
  ++to->findings;
  CHECK(finding->struct_size == sizeof *finding && finding->end > finding->begin);
  CHECK(finding->reason[0] != '\0');
  snprintf(to->section, sizeof to->section, "%s", finding->section);
}

static void on_note(void* context, const char* note) {
  CHECK(note[0] != '\0');
  ++((seen*)context)->notes;
}

static bool on_progress(void* context, int64_t done) {
  CHECK(done >= 0);
  ++((seen*)context)->progress;
  return !((seen*)context)->stop;
}

static cairn_verify_report verify(const char* path, seen* to) {
  cairn_verify_report report = {.struct_size = sizeof report};
  cairn_verify_options options = CAIRN_VERIFY_OPTIONS_INIT;
  cairn_snapshot* snapshot = read_back(path);
  options.progress = on_progress;
  options.on_finding = on_finding;
  options.on_note = on_note;
  options.context = to;
  CHECK_CODE(to->stop ? CAIRN_CANCELLED : CAIRN_OK,
             cairn_snapshot_verify(snapshot, &options, &report, &st));
  cairn_snapshot_free(snapshot);
  return report;
}

static void intact_frame_has_no_findings(void) {
  seen to = {0};
  cairn_verify_report report;
  make_frame("intact.b2frame", 30, 10);
  report = verify("intact.b2frame", &to);
  CHECK(report.nchunks == 3 && report.nfindings == 0 && report.sealed && report.bytes_read > 0);
  CHECK(to.findings == 0 && to.progress > 0);
}

static void flipped_byte_is_found_and_other_chunks_stay_readable(void) {
  seen to = {0};
  int32_t items[10];
  cairn_chunk_entry entry = {.struct_size = sizeof entry};
  cairn_snapshot* snapshot = make_and_read("flipped.b2frame", 30, 10);
  cairn_verify_report report;
  CHECK_OK(cairn_snapshot_get_entry(snapshot, 1, &entry, &st));
  cairn_snapshot_free(snapshot);
  flip_byte("flipped.b2frame", entry.offset + 33);
  report = verify("flipped.b2frame", &to);
  CHECK(report.nfindings == 1 && to.findings == 1 && strcmp(to.section, "chunk 1") == 0);
  snapshot = read_back("flipped.b2frame");
  CHECK_CODE(CAIRN_DATA_LOSS, cairn_snapshot_read_chunk(snapshot, 1, items, sizeof items, &st));
  CHECK_MESSAGE("chunk 1");
  CHECK_OK(cairn_snapshot_read_chunk(snapshot, 2, items, sizeof items, &st));
  cairn_snapshot_free(snapshot);
}

static void progress_stops_verify(void) {
  seen to = {.stop = true};
  make_frame("intact.b2frame", 30, 10);
  verify("intact.b2frame", &to);
  CHECK(to.progress == 1);
}

static void unknown_depth_is_refused(void) {
  cairn_verify_report report = {.struct_size = sizeof report};
  cairn_verify_options options = CAIRN_VERIFY_OPTIONS_INIT;
  cairn_snapshot* snapshot = make_and_read("intact.b2frame", 30, 10);
  options.depth = 3;
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_snapshot_verify(snapshot, &options, &report, &st));
  cairn_snapshot_free(snapshot);
}

static void recover_writes_the_journal_into_a_checkpoint(void) {
  cairn_recovery_report report = {.struct_size = sizeof report};
  cairn_recover_options dry_run = CAIRN_RECOVER_OPTIONS_INIT;
  opened one = edit_frame("journal.b2frame", 30, 10);
  append_item(&one, 30);
  CHECK_OK(cairn_writer_commit(one.writer, CAIRN_DURABILITY_MACHINE, NULL, &st));
  CHECK_CODE(CAIRN_UNAVAILABLE, cairn_recover("journal.b2frame", NULL, &report, &st));
  free_opened(&one);
  dry_run.dry_run = true;
  CHECK_OK(cairn_recover("journal.b2frame", &dry_run, &report, &st));
  CHECK(report.commits == 1 && report.generation == report.checkpoint_generation + 1);
  CHECK_OK(cairn_recover("journal.b2frame", NULL, &report, &st));
  CHECK(report.commits == 1 && report.stranded_commits == 0);
  CHECK(report.missing_checkpoint_end == 0);
  // As a program has it that was compiled before there was the last field.
  report.struct_size = offsetof(cairn_recovery_report, missing_checkpoint_end);
  CHECK_OK(cairn_recover("journal.b2frame", NULL, &report, &st));
  CHECK_OK(cairn_recover("journal.b2frame", NULL, NULL, &st));
  one = open_path("journal.b2frame");
  refresh(&one);
  CHECK(info_of(one.now).journal_size == 0 && item_of(one.now, 30) == 30);
  free_opened(&one);
}

static void on_lost(void* context, int64_t begin, int64_t end, const char* reason) {
  CHECK(begin < end && reason[0] != '\0');
  ++*(int*)context;
}

static void salvage_saves_what_decodes(void) {
  cairn_salvage_report report = {.struct_size = sizeof report};
  cairn_salvage_options options = CAIRN_SALVAGE_OPTIONS_INIT;
  cairn_frame* frame = NULL;
  cairn_snapshot* snapshot = NULL;
  int lost = 0;
  make_frame("ruined.b2frame", 30, 10);
  for (int i = 0; i < 8; ++i) flip_byte("ruined.b2frame", i);
  CHECK_CODE(CAIRN_INVALID_ARGUMENT, cairn_frame_open("ruined.b2frame", NULL, &frame, &st));
  options.on_lost = on_lost;
  options.context = &lost;
  CHECK_OK(cairn_salvage("ruined.b2frame", "saved.b2frame", &options, &report, &st));
  CHECK(report.chunks >= 3 && report.nlost == lost);
  snapshot = read_back("saved.b2frame");
  CHECK(item_of(snapshot, 12) == 12);
  cairn_snapshot_free(snapshot);
  CHECK_CODE(CAIRN_ALREADY_EXISTS,
             cairn_salvage("ruined.b2frame", "saved.b2frame", NULL, NULL, &st));
}

static void compact_drops_dead_bytes(void) {
  cairn_compact_report report = {.struct_size = sizeof report};
  opened one = edit_frame("dead.b2frame", 3000, 1000);
  CHECK_OK(cairn_writer_delete_chunks(one.writer, 0, 1, &st));
  close_writer(&one);
  CHECK_OK(cairn_frame_compact(one.frame, NULL, &report, &st));
  CHECK(report.size_after < report.size_before);
  refresh(&one);
  CHECK(info_of(one.now).dead_bytes == 0 && item_of(one.now, 0) == 1000);
  free_opened(&one);
}

const test_case repair_tests[] = {
    TEST_CASE(intact_frame_has_no_findings),
    TEST_CASE(flipped_byte_is_found_and_other_chunks_stay_readable),
    TEST_CASE(progress_stops_verify),
    TEST_CASE(unknown_depth_is_refused),
    TEST_CASE(recover_writes_the_journal_into_a_checkpoint),
    TEST_CASE(salvage_saves_what_decodes),
    TEST_CASE(compact_drops_dead_bytes),
    {NULL, NULL},
};
