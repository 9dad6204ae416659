//===- History.cpp - results of each epoch --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/fashion/History.h"

#include "heddle/Error.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace fashion;
using Json = nlohmann::ordered_json;

std::string EpochRecord::json(bool measured) const {
  Json line;
  line["epoch"] = epoch;
  line["train_loss"] = trainLoss;
  line["test_loss"] = testLoss;
  line["test_accuracy"] = testAccuracy;
  if (measured) {
    line["examples_per_second"] = examplesPerSecond;
    line["peak_memory_bytes"] = peakMemoryBytes;
  }
  return line.dump();
}

std::string fashion::toText(const History &history, bool measured) {
  std::string text;
  for (const EpochRecord &record : history)
    text += record.json(measured) + "\n";
  return text;
}

History fashion::parseHistory(const std::string &text) {
  History history;
  std::istringstream lines(text);
  try {
    for (std::string line; std::getline(lines, line);) {
      Json json = Json::parse(line);
      history.push_back({json.at("epoch"), json.at("train_loss"), json.at("test_loss"),
                         json.at("test_accuracy"), json.value("examples_per_second", 0.0),
                         json.value("peak_memory_bytes", int64_t(0))});
    }
  } catch (const nlohmann::json::exception &error) {
    throw heddle::Error(std::string("expected the records of epochs, one a line: ") + error.what());
  }
  return history;
}
