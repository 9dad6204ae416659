//===- Files.h - files that tests write and errors that they expect -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_SUPPORT_IO_FILES_H
#define HEDDLE_TEST_UNIT_SUPPORT_IO_FILES_H

#include "heddle/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heddle::test {

/// A directory that is removed after the test.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error("can't make a directory for a test");
    path = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, std::string_view bytes) const {
    std::ofstream(path / name, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return *this / name;
  }
  size_t entries() const {
    return size_t(std::distance(std::filesystem::directory_iterator(path), {}));
  }
  std::filesystem::path path;
};

inline std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The message of the Error that `action` throws; an empty one, and a failure, if it throws none.
template <typename F>
std::string messageOf(F &&action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return "";
}

/// Expects `text` to contain each of `parts`.
inline void expectHas(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in: " << text;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_SUPPORT_IO_FILES_H
