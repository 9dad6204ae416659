//===- JsonText.h - lines of a JSON text ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages about a JSON file name a line, which nlohmann's parser does not tell its callback. It
// reads through an iterator that counts:
//
//     unsigned line = 1;
//     Json::parse(JsonText(text.data(), &line), JsonText(text.data() + text.size(), &line),
//                 [&](int, Json::parse_event_t, Json &) { ... line ... });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_JSONTEXT_H
#define HEDDLE_LIB_SUPPORT_JSONTEXT_H

#include <cstddef>
#include <exception>
#include <iterator>
#include <string>

namespace heddle {

/// Reads characters and counts lines.
class JsonText {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  JsonText(const char *at, unsigned *line) : at(at), line(line) {}
  reference operator*() const { return *at; }
  JsonText &operator++() {
    *line += *at++ == '\n';
    return *this;
  }
  JsonText operator++(int) {
    JsonText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const JsonText &other) const { return at == other.at; }

private:
  const char *at;
  unsigned *line;
};

/// A mistake in a file, at a line.
struct JsonMistake {
  std::string what;
  unsigned line;

  /// Of "[json.exception.parse_error.101] parse error at line 3, column 5: ...".
  static JsonMistake malformed(const std::exception &error, unsigned line) {
    std::string what = error.what();
    size_t from = what.find("] ");
    return {"malformed JSON: " + what.substr(from == what.npos ? 0 : from + 2), line};
  }
};

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_JSONTEXT_H
