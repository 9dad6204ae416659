//===- Refused.h - what is refused, and where the message points -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_REFUSED_H
#define HEDDLE_TEST_UNIT_REFUSED_H

#include "heddle/Error.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <initializer_list>
#include <source_location>
#include <string>

namespace heddle::test {

/// Expects an Error that begins with a source location in the caller's file and has all `parts`.
template <typename Action>
void refused(Action &&action, std::initializer_list<std::string> parts,
             std::source_location here = std::source_location::current()) {
  std::string message, file = std::filesystem::path(here.file_name()).filename().string() + ":";
  try {
    action();
    ADD_FAILURE() << "expected an Error";
  } catch (const Error &error) {
    message = error.what();
  }
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "expected '" << part << "' in: " << message;
  EXPECT_LT(message.find(file), message.find(": ")) << message;
  EXPECT_EQ(message.find("lib/"), std::string::npos) << message;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_REFUSED_H
