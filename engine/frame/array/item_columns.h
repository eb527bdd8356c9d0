// The columns that a codec of numbers makes of an array's items.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ITEM_COLUMNS_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ITEM_COLUMNS_H_

#include "cairn/array.h"
#include "cairn/options.h"

namespace cairn::frame {

// Tells a codec of numbers what the items are: a number by the parameter of the codec, unless it is
// given, and records by their columns. Leaves other codecs as they are, and also items without
// numbers.
void SetColumns(const ArrayInfo& array, CompressionOptions& compression);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ITEM_COLUMNS_H_
