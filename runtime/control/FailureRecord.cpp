//===- FailureRecord.cpp - why a job failed -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/FailureRecord.h"

using namespace heddle;

std::string Member::describe() const {
  std::string who = rank < 0 ? "the launcher" : "rank " + std::to_string(rank);
  if (host.empty())
    return who;
  return who + " (host " + host + ", pid " + std::to_string(pid) + ")";
}

std::string Failure::describe() const {
  if (kind != Kind::Reported)
    return member.describe() + " " + reason;
  return member.describe() + " failed" + (entry.empty() ? "" : " in '" + entry + "'") +
         (step.empty() ? "" : " at '" + step + "'") +
         (location.empty() ? "" : " (" + location + ")") + ": " + reason;
}

void heddle::packMember(BodyWriter &writer, const Member &member) {
  writer.number(uint64_t(member.rank + 1)).text(member.host).number(uint64_t(member.pid));
}

Member heddle::unpackMember(BodyReader &reader) {
  Member member;
  member.rank = reader.smallNumber(1 << 24) - 1;
  member.host = reader.text();
  member.pid = int64_t(reader.number());
  return member;
}

std::string Failure::pack() const {
  BodyWriter writer;
  writer.number(uint64_t(kind));
  packMember(writer, member);
  for (const std::string *each : {&reason, &entry, &step, &location})
    writer.text(*each);
  return writer.take();
}

Failure Failure::unpack(std::string_view body) {
  BodyReader reader(body);
  Failure failure;
  failure.kind = Kind(reader.smallNumber(kinds - 1));
  failure.member = unpackMember(reader);
  for (std::string *each : {&failure.reason, &failure.entry, &failure.step, &failure.location})
    *each = reader.text();
  reader.end();
  return failure;
}
