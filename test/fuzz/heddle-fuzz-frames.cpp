//===- heddle-fuzz-frames.cpp - the control channel on any bytes ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target (`./check --fuzz SECONDS`). The first byte of an input says how the others
// reach the server of a job of two ranks:
//
//     even   as they are, from a stranger
//     odd    as frames with right tags, from a rank that has joined: a byte for the kind, two for
//            the length of the body, the body
//
// For any bytes, the server must refuse the stranger, answer, or end the job with a failure that
// has a reason. It must neither crash nor wait, nor hold more bytes than it has received.
//
//===----------------------------------------------------------------------===//

#include "heddle/Error.h"
#include "runtime/control/Agreement.h"
#include "runtime/control/ControlServer.h"

#include <cstdlib>
#include <iostream>

#include <poll.h>
#include <unistd.h>

using namespace heddle;

static const JobKey key{1, 2};

static void require(bool holds, const char *what) {
  if (holds)
    return;
  std::cerr << "expected that " << what << "\n";
  std::abort();
}

/// A rank, or who wants to be one, as the server sees it.
struct Client {
  Connection connection;
  explicit Client(const Endpoint &endpoint)
      : connection(make(endpoint), key, mostValueBytes + 4096) {}
  static Socket make(const Endpoint &endpoint) {
    std::string reason;
    return connectTo(endpoint, ControlClock::now() + std::chrono::seconds(10), reason);
  }
  void introduce(ControlServer &server, int rank) {
    std::optional<Frame> greeting;
    while (!greeting) {
      server.serveArrived();
      connection.receive();
      greeting = connection.next();
    }
    BodyWriter hello;
    hello.number(BodyReader(greeting->body).number()).number(2);
    packMember(hello, {rank, "host", 1});
    connection.send({FrameKind::Hello, hello.take()});
    server.serveArrived();
  }
  void sendRaw(std::string_view bytes) {
    (void)!write(connection.descriptor(), bytes.data(), bytes.size());
  }
};

/// Readers that need no server: each refuses with an Error or reads.
static void readAsBodies(const std::string &bytes) {
  try {
    Failure failure = Failure::unpack(bytes);
    require(Failure::unpack(failure.pack()).describe() == failure.describe(), "a failure is kept");
  } catch (const Error &) {
  }
  try {
    describeCall(bytes);
    describeDifference(bytes, sayCall(1, {{"entry", "'f'"}}), "rank 0");
  } catch (const Error &) {
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > 4096)
    return 0;
  bool joined = data[0] & 1;
  std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  readAsBodies(bytes);
  ControlServer server({.ranks = 2, .key = key});
  Client rank(server.endpoint());
  if (!joined) {
    server.serveArrived();
    rank.sendRaw(bytes);
    server.serveArrived();
    require(!server.failure(), "a stranger can't end a job");
    return 0;
  }
  Client other(server.endpoint());
  other.introduce(server, 0);
  rank.introduce(server, 1);
  for (size_t at = 0; at + 3 <= bytes.size();) {
    size_t length = std::min<size_t>(uint8_t(bytes[at + 1]) | uint8_t(bytes[at + 2]) << 8,
                                     bytes.size() - at - 3);
    rank.connection.send({FrameKind(uint8_t(bytes[at])), bytes.substr(at + 3, length)});
    at += 3 + length;
  }
  server.serveArrived();
  require(!server.failure() ||
              (!server.failure()->describe().empty() && server.failure()->member.rank == 1),
          "the rank that went wrong is named");
  return 0;
}
