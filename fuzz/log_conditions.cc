// The input is a condition on the records of a log as people type it.

#include <string_view>

#include "engine/base/bytes.h"
#include "engine/log/query/expression.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

void CheckExpression(const Schema& schema, const log::Expression& expression) {
  using Kind = log::Expression::Kind;
  if (expression.kind == Kind::kTest) {
    Check(schema.Find(expression.condition.field) != nullptr, "a condition is about a field");
  } else {
    Check(!expression.parts.empty(), "what joins conditions has some");
    Check(expression.kind != Kind::kNot || expression.parts.size() == 1, "not is of one condition");
  }
  for (const log::Expression& part : expression.parts) CheckExpression(schema, part);
}

void Parse(Bytes input) {
  const Schema schema = Schema::FromDtype(
                            "[('t', '<M8[us]'), ('x', '<f4'), ('n', '<u8'), "
                            "('ok', '|b1'), ('s', '|S4')]",
                            25)
                            .value_or(Schema());
  const absl::StatusOr<log::Expression> parsed = log::ParseExpression(schema, AsText(input));
  if (parsed.ok()) CheckExpression(schema, *parsed);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Parse(cairn::fuzz::AsBytes(data, size));
  return 0;
}
