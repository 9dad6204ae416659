//===- MachineFile.cpp - measured facts of a machine ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/MachineFile.h"

#include "lib/cost/Rates.h"
#include "lib/support/JsonText.h"

#include "llvm/Support/MemoryBuffer.h"
#include <nlohmann/json.hpp>

#include <cstdlib>
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
class Parser {
public:
  MachineFacts parse(const std::string &text) {
    auto seen = [&](int depth, Json::parse_event_t event, Json &value) {
      if (depth > 8)
        throw JsonMistake{"expected at most 8 levels", line};
      // The parser is at the end of a key when it reports it.
      if (event == Json::parse_event_t::key) {
        std::string key = value;
        lastKey = line;
        if (depth == 1)
          section = key;
        if (section != "measured" && !lines.try_emplace({depth, key}, line).second)
          throw JsonMistake{"'" + key + "' occurs twice", line};
      }
      return true;
    };
    Json json;
    try {
      json = Json::parse(JsonText(text.data(), &line), JsonText(text.data() + text.size(), &line),
                         seen);
    } catch (const Json::out_of_range &error) { // after a number, where the next line may begin
      throw JsonMistake::malformed(error, lastKey);
    } catch (const Json::exception &error) {
      throw JsonMistake::malformed(error, line);
    }
    return read(json);
  }

private:
  unsigned line = 1, lastKey = 1;
  std::string section;
  std::map<std::pair<int, std::string>, unsigned> lines; ///< of keys, by depth and name

  MachineFacts read(const Json &json) {
    if (!json.is_object())
      throw JsonMistake{"expected an object of facts", 1};
    auto version = json.find("heddle_machine");
    if (version == json.end() || *version != format)
      throw JsonMistake{"expected \"heddle_machine\": " + std::to_string(format) +
                            " in a file of heddle-probe, got " +
                            (version == json.end() ? "none" : version->dump()),
                        version == json.end() ? 1 : lines.at({1, "heddle_machine"})};
    MachineFacts facts;
    for (const auto &[key, value] : json.items()) {
      if (key == "facts" && value.is_object())
        for (const auto &[name, number] : value.items())
          facts.values.emplace_back(name, fact(name, number));
      else if (key == "facts")
        throw JsonMistake{"expected an object for 'facts', got " + value.dump(),
                          lines.at({1, key})};
      else if (key != "heddle_machine" && key != "cpu" && key != "measured")
        throw JsonMistake{"unknown key '" + key + "', expected 'cpu', 'facts' or 'measured'",
                          lines.at({1, key})};
    }
    return facts;
  }

  double fact(const std::string &name, const Json &value) const {
    unsigned at = lines.at({2, name});
    if (!MachineFacts::isKnown(name))
      throw JsonMistake{"unknown fact '" + name + "'", at};
    if (!value.is_number())
      throw JsonMistake{"expected a number for '" + name + "', got " + value.dump(), at};
    double number = value, least = cost::Rates::isRate(name) ? leastRate : leastSize;
    if (!(number >= least && number <= most))
      throw JsonMistake{(llvm::Twine("expected a number from ") +
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
  } catch (const JsonMistake &mistake) {
    error = {mistake.what, mistake.line};
  } catch (const Json::exception &failure) { // a number out of range, or text that is not UTF-8
    error = {failure.what(), 1};
  }
  return std::nullopt;
}
