//===- RunState.cpp - how far a training run is ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/RunState.h"

#include <charconv>
#include <csignal>
#include <sstream>

using namespace heddle;
using namespace heddle::nn;

Values nn::valuesOf(const Means &means) {
  Values values;
  for (const auto &[name, mean] : means)
    values[name] = mean.value();
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

Position nn::positionOf(const Notes &notes) {
  Position position{std::stoll(notes.at("epoch")), std::stoll(notes.at("step")), {}};
  if (position.epoch < 0 || position.step < 0)
    throw std::out_of_range("position");
  for (const auto &[key, text] : notes)
    if (key.starts_with("sum.")) {
      size_t end = 0;
      double sum = std::stod(text, &end);
      position.sums[key.substr(4)] = {sum, std::stod(text.substr(end))};
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
  noted.sa_flags = int(SA_RESTART | SA_RESETHAND); // a second one has its usual effect
  sigaction(SIGINT, &noted, &old->interrupt);
  sigaction(SIGTERM, &noted, &old->terminate);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old->interrupt, nullptr);
  sigaction(SIGTERM, &old->terminate, nullptr);
}

const char *StopSignals::received() {
  return signalNumber == 0 ? nullptr : signalNumber == SIGINT ? "SIGINT" : "SIGTERM";
}
