// A line: an array of bytes of one dimension, and the model of its frame.
#ifndef CAIRN_TESTS_CRASH_LINE_H_
#define CAIRN_TESTS_CRASH_LINE_H_

#include <cstdint>

#include "cairn/array.h"
#include "cairn/types.h"
#include "tests/support/frame_model.h"

namespace cairn::test {

// Returns a line of this many bytes, in chunks of one block.
ArrayInfo LineOf(int64_t nbytes, int32_t chunksize);
Metalayer LayerOfLine(int64_t nbytes, int32_t chunksize);

// IsLine returns true if the frame of the model holds a line. LengthOfLine returns its length.
bool IsLine(const FrameModel& model);
int64_t LengthOfLine(const FrameModel& model);

// As Writer::ResizeArray, AppendSlices and DeleteSlices.
Verdict ResizeLine(FrameModel& model, int64_t nbytes);
Verdict AppendToLine(FrameModel& model, Bytes items);
Verdict DeleteFromLine(FrameModel& model, int64_t first_chunk, int64_t chunks);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_LINE_H_
