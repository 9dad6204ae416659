//===- JsonReader.h - reads JSON and tells the lines of mistakes -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the keys of a JSON text in its order, so that the n-th key read is at the n-th line found:
//
//     JsonReader reader;
//     Json json = reader.parse(text);
//     reader.forEachKey(json, "a link", "'from' and 'to'", [&](auto &key, auto &value) {
//       if (key != "from" && key != "to")
//         return false;                        // a JsonMistake at the line of the key
//       ... reader.number(key, value, 1, 100)  // likewise, if it is not a number in these limits
//       return true;
//     });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_JSONREADER_H
#define HEDDLE_LIB_SUPPORT_JSONREADER_H

#include "lib/support/JsonText.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace heddle {

using Json = nlohmann::ordered_json; // the keys of an object in the order of the text

class JsonReader {
public:
  Json parse(const std::string &text) {
    std::vector<std::set<std::string>> open; // the keys of the objects around the parser
    auto seen = [&](int depth, Json::parse_event_t event, Json &value) {
      if (depth > 8)
        throw JsonMistake{"expected at most 8 levels", line};
      if (event == Json::parse_event_t::object_start)
        open.emplace_back();
      else if (event == Json::parse_event_t::object_end)
        open.pop_back();
      else if (event == Json::parse_event_t::key) {
        if (!open.back().insert(value).second)
          throw JsonMistake{"'" + std::string(value) + "' occurs twice", line};
        lines.push_back(line);
      }
      return true;
    };
    try {
      return Json::parse(JsonText(text.data(), &line), JsonText(text.data() + text.size(), &line),
                         seen);
    } catch (const Json::exception &error) {
      throw JsonMistake::malformed(error, line);
    }
  }
  /// Of the last key that was read.
  unsigned lineOf() const { return next ? lines[next - 1] : 1; }

  [[noreturn]] void refuse(const std::string &what) const { throw JsonMistake{what, lineOf()}; }

  /// Calls `read` with each key of an object; it returns false for keys that it does not know.
  template <typename Read>
  void forEachKey(const Json &json, const std::string &what, const std::string &keys, Read &&read) {
    if (!json.is_object())
      refuse("expected an object with " + keys + " for " + what + ", got " + json.dump());
    for (const auto &[key, value] : json.items()) {
      ++next;
      if (!read(key, value))
        refuse("unknown key '" + key + "' of " + what + ", expected " + keys);
    }
  }

  double number(const std::string &key, const Json &value, double least, double largest) const {
    if (!value.is_number() || !(value >= least && value <= largest)) {
      char limits[64];
      std::snprintf(limits, sizeof limits, "from %g to %g", least, largest);
      refuse("expected a number " + std::string(limits) + " for '" + key + "', got " +
             value.dump());
    }
    return value;
  }
  std::string text(const std::string &key, const Json &value) const {
    if (!value.is_string())
      refuse("expected a text for '" + key + "', got " + value.dump());
    return value;
  }
  int64_t count(const std::string &key, const Json &value, double largest) const {
    double counted = number(key, value, 1, largest);
    if (counted != double(int64_t(counted)))
      refuse("expected a whole number for '" + key + "', got " + value.dump());
    return int64_t(counted);
  }

private:
  unsigned line = 1;
  size_t next = 0;
  std::vector<unsigned> lines; ///< of all keys, in the order of the text
};

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_JSONREADER_H
