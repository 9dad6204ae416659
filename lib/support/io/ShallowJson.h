//===- ShallowJson.h - parse untrusted JSON ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_IO_SHALLOWJSON_H
#define HEDDLE_LIB_SUPPORT_IO_SHALLOWJSON_H

#include "File.h"

#include <nlohmann/json.hpp>

namespace heddle::io {

/// Parses the text of a file. Throws Error if it nests more than 16 levels, since printing deep
/// JSON would overflow the stack, and nlohmann::json::exception if it is not JSON.
inline nlohmann::ordered_json parseShallow(const std::string &path, const std::string &text) {
  auto watch = [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json &) {
    if (depth > 16)
      fail(path, "expected at most 16 levels of brackets");
    return true;
  };
  return nlohmann::ordered_json::parse(text, watch);
}

} // namespace heddle::io

#endif // HEDDLE_LIB_SUPPORT_IO_SHALLOWJSON_H
