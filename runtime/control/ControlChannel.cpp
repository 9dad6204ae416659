//===- ControlChannel.cpp - messages between the ranks of a job -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ChannelState.h"

#include <exception>

using namespace heddle;

ControlChannel::ControlChannel(std::unique_ptr<State> state) : state(std::move(state)) {}

ControlChannel::~ControlChannel() {
  if (!state->isHere()) { // the thread exists only in the parent, and may have held the mutex
    (void)state.release();
    return;
  }
  if (std::uncaught_exceptions() > 0)
    state->fail({.reason = "it was ended by an exception"});
  state->leave();
}

std::shared_ptr<ControlChannel> ControlChannel::join(const RankInfo &info) {
  auto state = std::make_unique<State>(info);
  state->join();
  return std::shared_ptr<ControlChannel>(new ControlChannel(std::move(state)));
}

static void requireHere(bool isHere) {
  if (!isHere)
    throw Error("a child of fork has no part in the job of its parent");
}

int ControlChannel::rank() const { return state->info.rank; }
const std::vector<Member> &ControlChannel::members() const { return state->members; }

void ControlChannel::put(const std::string &key, std::string_view value, int readers) {
  requireHere(state->isHere());
  if (value.size() > mostValueBytes)
    throw Error("the value '" + key + "' has " + std::to_string(value.size()) +
                " bytes, expected at most " + std::to_string(mostValueBytes));
  auto fill = [&](BodyWriter &body) { body.text(key).text(value).number(uint64_t(readers)); };
  state->request(FrameKind::Put, fill, {}, "");
}

std::string ControlChannel::get(const std::string &key,
                                std::optional<std::chrono::milliseconds> timeout) {
  requireHere(state->isHere());
  return state->request(
      FrameKind::Get, [&](BodyWriter &body) { body.text(key); },
      timeout.value_or(state->info.timeout), "no rank has put the value '" + key + "'");
}

void ControlChannel::agree(const Agreement &values) {
  requireHere(state->isHere());
  state->agree(values);
}

void ControlChannel::fail(const std::string &reason, const std::string &entry,
                          const std::string &step, const std::string &location) {
  requireHere(state->isHere());
  state->fail({Failure::Kind::Reported, {}, reason, entry, step, location});
}

std::optional<Failure> ControlChannel::failure(std::chrono::milliseconds wait) const {
  requireHere(state->isHere());
  return state->failure(wait);
}

int ControlChannel::onAbort(AbortCallback callback) {
  requireHere(state->isHere());
  return state->onAbort(std::move(callback));
}

void ControlChannel::removeAbortCallback(int number) {
  if (state->isHere())
    state->removeAbortCallback(number);
}

void ControlChannel::leave() {
  requireHere(state->isHere());
  state->leave();
}
