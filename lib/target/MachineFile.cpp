//===- MachineFile.cpp - measured facts of a machine ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/MachineFile.h"

#include "lib/cost/Rates.h"

#include "llvm/Support/MemoryBuffer.h"
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iterator>
#include <map>

using namespace heddle;
using Json = nlohmann::json;

/// Facts outside of these limits are mistakes, and would make times infinite.
static constexpr double leastRate = 1e-15, leastSize = 1024, most = 1e15;
static constexpr int format = 1;

MachineFile MachineFile::ofEnvironment() {
  const char *path = std::getenv("HEDDLE_MACHINE");
  if (!path || !*path)
    return {};
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return {path, "",
            "can't read '" + std::string(path) +
                "', which HEDDLE_MACHINE names: " + file.getError().message()};
  return {path, (*file)->getBuffer().str(), ""};
}

bool MachineFacts::isKnown(const std::string &key) {
  return cost::Rates::isRate(key) || key == "l1_bytes" || key == "l2_bytes" || key == "l3_bytes";
}

namespace {
/// Reads characters and counts lines.
class Characters {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  Characters(const char *at, unsigned *line) : at(at), line(line) {}
  reference operator*() const { return *at; }
  Characters &operator++() {
    *line += *at++ == '\n';
    return *this;
  }
  Characters operator++(int) {
    Characters before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Characters &other) const { return at == other.at; }
  bool operator!=(const Characters &other) const { return at != other.at; }

private:
  const char *at;
  unsigned *line;
};

/// A mistake in a file, at a line.
struct Mistake {
  std::string what;
  unsigned line;
};

class Parser {
public:
  MachineFacts parse(const std::string &text) {
    auto seen = [&](int depth, Json::parse_event_t event, Json &value) {
      if (depth > 8)
        throw Mistake{"expected at most 8 levels", line};
      // The parser is at the end of a key when it reports it.
      if (event == Json::parse_event_t::key) {
        std::string key = value;
        lastKey = line;
        if (depth == 1)
          section = key;
        if (section != "measured" && !lines.try_emplace({depth, key}, line).second)
          throw Mistake{"'" + key + "' occurs twice", line};
      }
      return true;
    };
    Json json;
    try {
      json = Json::parse(Characters(text.data(), &line),
                         Characters(text.data() + text.size(), &line), seen);
    } catch (const Json::out_of_range &error) { // after a number, where the next line may begin
      throw malformed(error, lastKey);
    } catch (const Json::exception &error) {
      throw malformed(error, line);
    }
    return read(json);
  }

private:
  unsigned line = 1, lastKey = 1;
  std::string section;
  std::map<std::pair<int, std::string>, unsigned> lines; ///< of keys, by depth and name

  /// Of "[json.exception.parse_error.101] parse error at line 3, column 5: ...".
  static Mistake malformed(const Json::exception &error, unsigned line) {
    std::string what = error.what();
    size_t from = what.find("] ");
    return {"malformed JSON: " + what.substr(from == what.npos ? 0 : from + 2), line};
  }

  MachineFacts read(const Json &json) {
    if (!json.is_object())
      throw Mistake{"expected an object of facts", 1};
    auto version = json.find("heddle_machine");
    if (version == json.end() || *version != format)
      throw Mistake{"expected \"heddle_machine\": " + std::to_string(format) +
                        " in a file of heddle-probe, got " +
                        (version == json.end() ? "none" : version->dump()),
                    version == json.end() ? 1 : lines.at({1, "heddle_machine"})};
    MachineFacts facts;
    for (const auto &[key, value] : json.items()) {
      if (key == "facts" && value.is_object())
        for (const auto &[name, number] : value.items())
          facts.values.emplace_back(name, fact(name, number));
      else if (key == "facts")
        throw Mistake{"expected an object for 'facts', got " + value.dump(), lines.at({1, key})};
      else if (key != "heddle_machine" && key != "cpu" && key != "measured")
        throw Mistake{"unknown key '" + key + "', expected 'cpu', 'facts' or 'measured'",
                      lines.at({1, key})};
    }
    return facts;
  }

  double fact(const std::string &name, const Json &value) const {
    unsigned at = lines.at({2, name});
    if (!MachineFacts::isKnown(name))
      throw Mistake{"unknown fact '" + name + "'", at};
    if (!value.is_number())
      throw Mistake{"expected a number for '" + name + "', got " + value.dump(), at};
    double number = value, least = cost::Rates::isRate(name) ? leastRate : leastSize;
    if (!(number >= least && number <= most))
      throw Mistake{(llvm::Twine("expected a number from ") +
                     (least == leastSize ? "1024" : "1e-15") + " to 1e+15 for '" + name +
                     "', got " + value.dump())
                        .str(),
                    at};
    return number;
  }
};
} // namespace

std::optional<MachineFacts> heddle::parseMachineFile(const std::string &text,
                                                     MachineFileError &error) {
  try {
    return Parser().parse(text);
  } catch (const Mistake &mistake) {
    error = {mistake.what, mistake.line};
  } catch (const Json::exception &failure) { // a number out of range, or text that is not UTF-8
    error = {failure.what(), 1};
  }
  return std::nullopt;
}
