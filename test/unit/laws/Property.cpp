//===- Property.cpp - properties tested by RapidCheck ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Property.h"

#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>
#include <sstream>

using namespace heddle::laws;

namespace {
struct Case {
  uint64_t number;
  std::string said; ///< message of the shrunk case
};
std::ostream &operator<<(std::ostream &os, const Case &each) {
  return os << "case " << each.number << (each.said.empty() ? "" : ", made smaller");
}
} // namespace

std::string
heddle::laws::holdOnCases(uint64_t seed, int count,
                          const std::function<std::optional<Fault>(uint64_t number)> &check) {
  rc::Gen<Case> cases([count, &check](rc::Random random, int) {
    uint64_t number = count == 1 ? 0 : random.next() >> 32;
    return rc::shrinkable::shrinkRecur(Case{number, ""}, [&check](const Case &each) {
      if (!each.said.empty())
        return rc::Seq<Case>();
      std::optional<Fault> fault = check(each.number);
      if (!fault || !fault->smaller)
        return rc::Seq<Case>();
      return rc::seq::just(Case{each.number, fault->smaller()});
    });
  });
  auto property = [&] {
    Case each = *cases;
    if (!each.said.empty())
      RC_FAIL(each.said);
    if (std::optional<Fault> fault = check(each.number))
      RC_FAIL(fault->what);
  };
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = count;
  rc::detail::TestListenerAdapter silent;
  rc::detail::TestResult result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata(), params, silent,
                                std::unordered_map<std::string, rc::detail::Reproduce>());
  if (result.is<rc::detail::SuccessResult>())
    return {};
  std::ostringstream os;
  rc::detail::printResultMessage(result, os);
  return os.str();
}
