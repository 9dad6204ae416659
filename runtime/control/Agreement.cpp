//===- Agreement.cpp - what ranks compare before a call -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/Agreement.h"

#include "heddle/Error.h"
#include "runtime/control/Frame.h"

using namespace heddle;

std::string heddle::sayCall(uint64_t number, const Agreement &values) {
  BodyWriter writer;
  writer.number(number).number(values.size());
  for (const auto &[name, value] : values)
    writer.text(name).text(value);
  return writer.take();
}

static std::pair<uint64_t, Agreement> parse(std::string_view said) {
  BodyReader reader(said);
  uint64_t number = reader.number();
  Agreement values;
  for (int count = reader.smallNumber(1 << 16); count > 0; --count) {
    std::string name = reader.text();
    values.emplace_back(std::move(name), reader.text());
  }
  reader.end();
  return {number, std::move(values)};
}

static std::string describe(uint64_t number, const Agreement &values) {
  std::string text = "call " + std::to_string(number);
  return values.empty() ? text : text + " (" + values[0].first + " " + values[0].second + ")";
}

std::string heddle::describeCall(std::string_view said) {
  auto [number, values] = parse(said);
  return describe(number, values);
}

std::string heddle::describeDifference(std::string_view first, std::string_view second,
                                       const std::string &other) {
  auto [expectedNumber, expected] = parse(first);
  auto [number, got] = parse(second);
  std::string at = " at " + describe(number, got), but = ", but " + other;
  if (number != expectedNumber)
    return "is" + at + but + " is at " + describe(expectedNumber, expected);
  for (const auto &[name, value] : got)
    for (const auto &[sameName, needed] : expected)
      if (name == sameName && value != needed)
        return "has the " + name + " " + value + at + but + " has " + needed;
  return "";
}
