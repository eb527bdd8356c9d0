/* Super-chunks whose chunksize the program sets. C-Blosc2 loses chunks that follow a short one, so
 * none does here. */
#include <blosc2.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"

enum { kLargest = 20000 };

static uint8_t items[kLargest];
static uint8_t chunk[kLargest + BLOSC2_MAX_OVERHEAD];

typedef enum { kEnd, kSet, kAppend, kUpdateFirst, kInsertFirst, kDeleteFirst, kReopen } Kind;
typedef struct {
  Kind kind;
  int32_t nbytes;
} Step;

static void show_state(blosc2_schunk* schunk) {
  printf(" nbytes %lld chunksize %d:", (long long)schunk->nbytes, schunk->chunksize);
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    printf(" %d", blosc2_schunk_decompress_chunk(schunk, i, items, kLargest));
  }
  printf("\n");
}

static long long edit(blosc2_schunk* schunk, Step step) {
  memset(items, 7 + step.nbytes % 100, kLargest);
  if (step.kind == kAppend) return blosc2_schunk_append_buffer(schunk, items, step.nbytes);
  if (step.kind == kDeleteFirst) return blosc2_schunk_delete_chunk(schunk, 0);
  blosc2_compress_ctx(schunk->cctx, items, step.nbytes, chunk, sizeof(chunk));
  if (step.kind == kUpdateFirst) return blosc2_schunk_update_chunk(schunk, 0, chunk, true);
  return blosc2_schunk_insert_chunk(schunk, 0, chunk, true);
}

static void show_steps(const char* what, const Step* steps, bool contiguous, char* path) {
  printf("%s, contiguous %d, %s\n", what, contiguous, path != NULL ? path : "memory");
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 1;
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path, .cparams = &cparams};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  for (; steps->kind != kEnd; ++steps) {
    if (steps->kind == kSet) {
      schunk->chunksize = steps->nbytes;
      printf("  set");
    } else if (steps->kind != kReopen) {
      printf("  edit %d: %lld", steps->kind, edit(schunk, *steps));
    } else if (path != NULL) {
      blosc2_schunk_free(schunk);
      schunk = blosc2_schunk_open(path);
      printf("  reopened");
    }
    show_state(schunk);
  }
  blosc2_schunk_free(schunk);
  if (path != NULL) blosc2_remove_urlpath(path);
}

static void show_kind(bool contiguous, char* path) {
  const Step full[] = {{kSet, 20000}, {kAppend, 20000}, {kAppend, 5000}, {kReopen, 0}, {kEnd, 0}};
  show_steps("full chunks", full, contiguous, path);
  const Step grown[] = {{kSet, 20000},         {kAppend, 5000}, {kReopen, 0},
                        {kUpdateFirst, 8000},  {kReopen, 0},    {kUpdateFirst, 20000},
                        {kAppend, 20000},      {kAppend, 3000}, {kReopen, 0},
                        {kUpdateFirst, 20000}, {kEnd, 0}};
  show_steps("short chunk that grows", grown, contiguous, path);
  const Step other[] = {{kSet, 20000}, {kAppend, 5000}, {kAppend, 20000}, {kReopen, 0}, {kEnd, 0}};
  show_steps("short chunk before a full one", other, contiguous, path);
  const Step inside[] = {{kSet, 20000}, {kAppend, 5000}, {kInsertFirst, 20000}, {kEnd, 0}};
  show_steps("full chunk before a short one", inside, contiguous, path);
  const Step variable[] = {{kSet, 0},       {kAppend, 5000}, {kReopen, 0},
                           {kAppend, 7000}, {kReopen, 0},    {kEnd, 0}};
  show_steps("chunks of any size", variable, contiguous, path);
  const Step later[] = {{kAppend, 5000}, {kSet, 20000},        {kUpdateFirst, 8000},
                        {kReopen, 0},    {kUpdateFirst, 9000}, {kReopen, 0},
                        {kEnd, 0}};
  show_steps("larger chunks later", later, contiguous, path);
  const Step appended[] = {
      {kAppend, 5000}, {kSet, 20000}, {kAppend, 8000}, {kReopen, 0}, {kEnd, 0}};
  show_steps("larger chunk after the first one", appended, contiguous, path);
  const Step smaller[] = {{kAppend, 5000}, {kSet, 2000},    {kUpdateFirst, 2000},
                          {kAppend, 2000}, {kAppend, 2000}, {kReopen, 0},
                          {kEnd, 0}};
  show_steps("smaller chunks later", smaller, contiguous, path);
  const Step emptied[] = {{kAppend, 5000},       {kDeleteFirst, 0}, {kReopen, 0},
                          {kSet, 20000},         {kAppend, 7000},   {kReopen, 0},
                          {kUpdateFirst, 20000}, {kReopen, 0},      {kEnd, 0}};
  show_steps("larger chunks after all were deleted", emptied, contiguous, path);
  const Step freed[] = {{kAppend, 5000}, {kDeleteFirst, 0}, {kSet, 0},    {kAppend, 4000},
                        {kReopen, 0},    {kAppend, 3000},   {kReopen, 0}, {kEnd, 0}};
  show_steps("chunks of any size after all were deleted", freed, contiguous, path);
  const Step fixed[] = {{kAppend, 5000},   {kAppend, 7000}, {kReopen, 0},     {kDeleteFirst, 0},
                        {kDeleteFirst, 0}, {kSet, 20000},   {kAppend, 20000}, {kAppend, 20000},
                        {kReopen, 0},      {kEnd, 0}};
  show_steps("chunks of one size after all were deleted", fixed, contiguous, path);
  const Step left[] = {{kAppend, 20000},     {kAppend, 5000}, {kDeleteFirst, 0}, {kReopen, 0},
                       {kUpdateFirst, 6000}, {kReopen, 0},    {kEnd, 0}};
  show_steps("short chunk that is left", left, contiguous, path);
}

/* Sets the chunksize of an empty file, and shows what other handles find after each edit. */
static void show_early_chunksize(bool contiguous) {
  char path[] = "early.b2frame";
  static uint8_t bytes[9000];
  blosc2_storage storage = {.contiguous = contiguous, .urlpath = path};
  blosc2_schunk* schunk = blosc2_schunk_new(&storage);
  blosc2_meta_add(schunk, "meta", bytes, 5);
  printf("early chunksize");
  for (int i = 0; i < 4; ++i) {
    schunk->chunksize = 5000 + 1000 * i;
    if (i == 0) blosc2_vlmeta_add(schunk, "layer", bytes, 3, NULL);
    if (i == 1) blosc2_vlmeta_update(schunk, "layer", bytes, 2, NULL);
    if (i == 2) blosc2_vlmeta_delete(schunk, "layer");
    if (i == 3) blosc2_meta_update(schunk, "meta", bytes, 5);
    blosc2_schunk* other = blosc2_schunk_open(path);
    printf(" %d", other->chunksize);
    blosc2_schunk_free(other);
  }
  blosc2_schunk_free(schunk);
  schunk = blosc2_schunk_open(path);
  printf(" append %lld", (long long)blosc2_schunk_append_buffer(schunk, bytes, 8000));
  printf(" %lld", (long long)blosc2_schunk_append_buffer(schunk, bytes, 100));
  printf(" %d %lld\n", schunk->chunksize, (long long)schunk->nbytes);
  blosc2_schunk_free(schunk);
  blosc2_remove_urlpath(path);
}

void show_chunk_sizes(void) {
  show_early_chunksize(true);
  show_early_chunksize(false);
  for (int contiguous = 0; contiguous < 2; ++contiguous) {
    char path[] = "sizes.b2frame";
    show_kind(contiguous != 0, NULL);
    show_kind(contiguous != 0, path);
  }
}
