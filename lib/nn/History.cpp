//===- History.cpp - results of steps and epochs --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/History.h"

#include <nlohmann/json.hpp>

#include <charconv>
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

std::string StepRecord::json() const {
  Json line;
  line["step"] = step;
  line["epoch"] = epoch;
  for (const std::string &name : namesIn({.epoch = epoch, .train = train}))
    if (auto found = train.find(name); found != train.end())
      line["train_" + name] = found->second;
  line["rate"] = rate;
  return line.dump();
}

std::string nn::toText(const History &history, bool measured, const StepHistory &steps) {
  std::string text;
  auto step = steps.begin();
  auto addSteps = [&](int64_t epoch) {
    for (; step != steps.end() && step->epoch <= epoch; ++step)
      text += step->json() + "\n";
  };
  for (const EpochRecord &record : history) {
    addSteps(record.epoch);
    text += record.json(measured) + "\n";
  }
  addSteps(INT64_MAX);
  return text;
}

/// JSON has neither NaN nor infinities, which are written as null.
static double numberOf(const Json &json) { return json.is_null() ? NAN : json.get<double>(); }

/// The values whose keys begin with `prefix`.
static Values valuesIn(const Json &json, const std::string &prefix) {
  Values values;
  for (const auto &[key, value] : json.items())
    if (key.starts_with(prefix))
      values[key.substr(prefix.size())] = numberOf(value);
  return values;
}

/// Calls visit(object) for each line.
template <typename V>
static void forEachLine(const std::string &text, Here here, V &&visit) {
  std::istringstream lines(text);
  try {
    for (std::string line; std::getline(lines, line);)
      visit(Json::parse(line));
  } catch (const nlohmann::json::exception &error) {
    throw Error(
        std::string("expected the records of steps and epochs, one a line: ") + error.what(), here);
  }
}

History nn::parseHistory(const std::string &text, Here here) {
  History history;
  forEachLine(text, here, [&](const Json &json) {
    if (!json.contains("step"))
      history.push_back({json.at("epoch"), valuesIn(json, "train_"), valuesIn(json, "test_"),
                         numberOf(json.at("rate")), json.value("examples_per_second", 0.0),
                         json.value("peak_memory_bytes", int64_t(0))});
  });
  return history;
}

StepHistory nn::parseSteps(const std::string &text, Here here) {
  StepHistory steps;
  forEachLine(text, here, [&](const Json &json) {
    if (json.contains("step"))
      steps.push_back(
          {json.at("step"), json.at("epoch"), valuesIn(json, "train_"), numberOf(json.at("rate"))});
  });
  return steps;
}

double nn::shortest(double value) {
  float narrow = float(value);
  if (!std::isfinite(narrow))
    return value;
  char text[40];
  char *end = std::to_chars(text, text + sizeof text, narrow).ptr;
  std::from_chars(text, end, value);
  return value;
}
