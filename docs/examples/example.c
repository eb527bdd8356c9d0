#include <stdio.h>

#include "cairn/cairn.h"

// Writes three temperatures to a frame, durably, and reads the last two back.
int main(void) {
  const float temps[] = {20.5f, 21.25f, 22.0f};
  float part[2];
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* writer = NULL;
  cairn_snapshot* committed = NULL;
  cairn_status status;

  compression.typesize = sizeof(float);
  options.compression = &compression;
  options.overwrite = true;
  if (cairn_frame_build("temps.b2frame", &options, &writer, &status) == CAIRN_OK &&
      cairn_writer_append(writer, temps, sizeof temps, &status) == CAIRN_OK &&
      cairn_writer_commit(writer, CAIRN_DURABILITY_MACHINE, &committed, &status) == CAIRN_OK &&
      cairn_snapshot_read_items(committed, 1, part, sizeof part, &status) == CAIRN_OK) {
    printf("%.2f %.2f\n", part[0], part[1]);
  } else {
    fprintf(stderr, "%s: %s\n", cairn_code_name(status.code), status.message);
  }
  cairn_snapshot_free(committed);
  cairn_writer_free(writer);
  return status.code == CAIRN_OK ? 0 : 1;
}
