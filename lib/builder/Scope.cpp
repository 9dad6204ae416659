//===- Scope.cpp - where operations are written and traced ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Scope.h"

#include <atomic>
#include <optional>
#include <utility>

using namespace heddle;
using namespace heddle::detail;

static thread_local std::optional<Here> outermost;
static thread_local uint64_t innermostBody = 0;

CallScope::CallScope(Here here) : isOutermost(!outermost) {
  if (isOutermost)
    outermost = here;
}

CallScope::~CallScope() {
  if (isOutermost)
    outermost.reset();
}

Here CallScope::placed(Here here) { return outermost.value_or(here); }

BodyScope::BodyScope() {
  static std::atomic<uint64_t> count = 0;
  outer = std::exchange(innermostBody, ++count);
}

void BodyScope::close() {
  if (std::exchange(isOpen, false))
    innermostBody = outer;
}

uint64_t BodyScope::current() { return innermostBody; }
