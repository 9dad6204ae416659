//===- History.cpp - results of each epoch --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/History.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <sstream>

using namespace heddle;
using namespace heddle::nn;
using Json = nlohmann::ordered_json;

/// "loss", then the measures by name.
static std::vector<std::string> namesIn(const EpochRecord &record) {
  std::set<std::string> measures;
  for (const Values *values : {&record.train, &record.test})
    for (const auto &[name, value] : *values)
      measures.insert(name);
  measures.erase("loss");
  std::vector<std::string> names{"loss"};
  names.insert(names.end(), measures.begin(), measures.end());
  return names;
}

std::string EpochRecord::json(bool measured) const {
  Json line;
  line["epoch"] = epoch;
  for (const std::string &name : namesIn(*this)) {
    if (auto found = train.find(name); found != train.end())
      line["train_" + name] = found->second;
    if (auto found = test.find(name); found != test.end())
      line["test_" + name] = found->second;
  }
  line["rate"] = rate;
  if (measured) {
    line["examples_per_second"] = examplesPerSecond;
    line["peak_memory_bytes"] = peakMemoryBytes;
  }
  return line.dump();
}

std::string nn::toText(const History &history, bool measured) {
  std::string text;
  for (const EpochRecord &record : history)
    text += record.json(measured) + "\n";
  return text;
}

/// JSON has no NaN and no infinity: they are written as null.
static double numberOf(const Json &json) { return json.is_null() ? NAN : json.get<double>(); }

History nn::parseHistory(const std::string &text, Here here) {
  History history;
  std::istringstream lines(text);
  try {
    for (std::string line; std::getline(lines, line);) {
      Json json = Json::parse(line);
      EpochRecord record{json.at("epoch"),
                         {},
                         {},
                         numberOf(json.at("rate")),
                         json.value("examples_per_second", 0.0),
                         json.value("peak_memory_bytes", int64_t(0))};
      for (const auto &[key, value] : json.items())
        if (key.starts_with("train_"))
          record.train[key.substr(6)] = numberOf(value);
        else if (key.starts_with("test_"))
          record.test[key.substr(5)] = numberOf(value);
      history.push_back(record);
    }
  } catch (const nlohmann::json::exception &error) {
    throw Error(std::string("expected the records of epochs, one a line: ") + error.what(), here);
  }
  return history;
}
