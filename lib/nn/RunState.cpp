//===- RunState.cpp - the position of a training run ----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/RunState.h"

#include <charconv>
#include <csignal>

using namespace heddle;
using namespace heddle::nn;

Values nn::valuesOf(const Means &means) {
  Values values;
  for (const auto &[name, mean] : means)
    values[name] = shortest(mean.value());
  return values;
}

std::string nn::exact(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

Notes nn::notesOf(const Position &position) {
  Notes notes{{"epoch", std::to_string(position.epoch)}, {"step", std::to_string(position.step)}};
  for (const auto &[name, mean] : position.sums)
    notes["sum." + name] = exact(mean.sum) + " " + exact(mean.weight);
  return notes;
}

/// Parses a text that is a number as a whole.
template <typename T>
static T numberIn(std::string_view text) {
  T number;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("number");
  return number;
}

Position nn::positionOf(const Notes &notes) {
  Position position{numberIn<int32_t>(notes.at("epoch")), numberIn<int64_t>(notes.at("step")), {}};
  if (position.epoch < 0 || position.step < 0 || position.step > INT64_MAX / 2)
    throw std::out_of_range("position");
  for (const auto &[key, text] : notes)
    if (key.starts_with("sum.")) {
      std::string_view both = text;
      size_t space = std::min(both.find(' '), both.size() - 1);
      position.sums[key.substr(4)] = {numberIn<double>(both.substr(0, space)),
                                      numberIn<double>(both.substr(space + 1))};
    }
  return position;
}

static volatile std::sig_atomic_t signalNumber = 0;

struct StopSignals::Old {
  struct sigaction interrupt{}, terminate{};
};

StopSignals::StopSignals() : old(std::make_unique<Old>()) {
  signalNumber = 0;
  struct sigaction noted{};
  noted.sa_handler = [](int number) { signalNumber = number; };
  noted.sa_flags = int(SA_RESTART | SA_RESETHAND); // a second signal has its default effect
  sigaction(SIGINT, &noted, &old->interrupt);
  sigaction(SIGTERM, &noted, &old->terminate);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old->interrupt, nullptr);
  sigaction(SIGTERM, &old->terminate, nullptr);
}

int StopSignals::received() { return signalNumber; }
