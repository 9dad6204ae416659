//===- World.cpp - how ranks find each other ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/World.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <thread>

using namespace heddle;
using namespace heddle::collectives;

std::string collectives::seconds(double value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return std::string(text, end);
}

World::World(const HeddleWorld &given) : rank(given.rank), size(given.size), given(given) {
  if (size < 0 || (size > 0 && (rank < 0 || rank >= size)))
    throw Failure(HEDDLE_INVALID, "expected a rank of 0 to ", size - 1,
                  " and a size of at least 1, got rank ", rank, " and size ", size);
  std::stringstream stream(given.options ? given.options : "");
  for (std::string part; std::getline(stream, part, ',');) {
    size_t equals = part.find('=');
    if (equals == std::string::npos)
      throw Failure(HEDDLE_INVALID, "expected options as 'name=value,...', got '", part, "'");
    options[part.substr(0, equals)] = part.substr(equals + 1);
  }
  timeout = number("timeout", timeout);
}

std::string World::option(const std::string &name) {
  known[name] = true;
  auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

double World::number(const std::string &name, double otherwise) {
  std::string text = option(name);
  if (text.empty())
    return otherwise;
  double value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value))
    throw Failure(HEDDLE_INVALID, "option '", name, "': expected a number, got '", text, "'");
  return value;
}

void World::refuseOtherOptions() const {
  std::string names;
  for (const auto &[name, value] : known)
    names += (names.empty() ? "" : ", ") + name;
  for (const auto &[name, value] : options)
    if (!known.contains(name))
      throw Failure(HEDDLE_INVALID, "unknown option '", name, "'; known ones are ", names);
}

void World::exchange(const void *mine, int64_t bytes, void *all) {
  if (size == 1) {
    std::memcpy(all, mine, size_t(bytes));
    return;
  }
  if (!given.exchange)
    return exchangeFiles(mine, bytes, static_cast<char *>(all));
  if (int32_t status = given.exchange(given.user, mine, bytes, all))
    throw Failure(HEDDLE_FAILED, "the exchange between ranks failed with status ", status);
}

std::string World::file(int32_t rank) const {
  return std::string(given.directory) + "/" + given.key + "." + std::to_string(rounds) + "." +
         std::to_string(rank);
}

void World::exchangeFiles(const void *mine, int64_t bytes, char *all) {
  if (!given.key || !*given.key || !given.directory || std::strchr(given.key, '/'))
    throw Failure(HEDDLE_INVALID, "expected an exchange, or a key without '/' and a directory, by "
                                  "which the ranks find each other");
  meeting.publish(file(rank), {static_cast<const char *>(mine), size_t(bytes)});
  auto end = Clock::now() + std::chrono::duration<double>(timeout);
  for (int32_t other = 0; other < size; ++other, all += bytes) {
    std::optional<std::string> found;
    while (!(found = Rendezvous::find(file(other)))) {
      if (Clock::now() > end)
        throw Failure(HEDDLE_TIMEOUT, "rank ", other, " did not join within ", seconds(timeout),
                      " s (rank ", rank, " waits for '", file(other), "')");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (found->size() != size_t(bytes))
      throw Failure(HEDDLE_FAILED, "'", file(other), "' has ", found->size(), " bytes, expected ",
                    bytes);
    std::memcpy(all, found->data(), size_t(bytes));
  }
  ++rounds;
}
