#include "tests/crash/line.h"

#include <algorithm>
#include <string>

#include "engine/base/checked.h"
#include "engine/format/b2nd.h"

namespace cairn::test {

ArrayInfo LineOf(int64_t nbytes, int32_t chunksize) {
  return {.shape = {nbytes}, .chunkshape = {chunksize}, .blockshape = {chunksize}, .dtype = "|u1"};
}

Metalayer LayerOfLine(int64_t nbytes, int32_t chunksize) {
  return {.name = std::string(format::kB2ndLayer),
          .content = format::EncodeB2nd(LineOf(nbytes, chunksize))};
}

bool IsLine(const FrameModel& model) { return format::FindB2nd(model.metalayers()).ok(); }

int64_t LengthOfLine(const FrameModel& model) {
  return format::FindB2nd(model.metalayers())->shape[0];
}

Verdict ResizeLine(FrameModel& model, int64_t nbytes) {
  const int64_t chunksize = model.chunksize();
  const int64_t before = LengthOfLine(model);
  const int64_t nchunks = CeilDiv(nbytes, chunksize);
  if (model.nchunks() > nchunks) model.Delete(nchunks, model.nchunks() - nchunks);
  const int64_t kept = std::min(before, nbytes);
  if (before != nbytes && kept % chunksize != 0) {
    // The rest of the kept chunk becomes zeros.
    Buffer items = model.chunks()[static_cast<size_t>(kept / chunksize)];
    std::fill(items.begin() + kept % chunksize, items.end(), std::byte{0});
    model.Update(kept / chunksize, {.items = std::move(items)});
  }
  while (model.nchunks() < nchunks) {
    model.Insert(model.nchunks(), {.items = Buffer(static_cast<size_t>(chunksize))});
  }
  const Metalayer layer = LayerOfLine(nbytes, model.chunksize());
  return model.SetMetalayer(layer.name, layer.content);
}

Verdict AppendToLine(FrameModel& model, Bytes items) {
  const int64_t begin = LengthOfLine(model);
  ResizeLine(model, begin + std::ssize(items));
  return model.WriteItems(begin, items);
}

Verdict DeleteFromLine(FrameModel& model, int64_t first_chunk, int64_t chunks) {
  const int64_t length = LengthOfLine(model) - chunks * model.chunksize();
  model.Delete(first_chunk, chunks);
  const Metalayer layer = LayerOfLine(length, model.chunksize());
  return model.SetMetalayer(layer.name, layer.content);
}

}  // namespace cairn::test
