//===- Connection.h - sockets that carry frames -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TCP without blocking: all sockets are non-blocking, and the owner's `poll` loop drives them.
//
//     Socket listening = listenAt({"127.0.0.1", 0});            // any free port
//     Connection connection(connectTo(endpoint, deadline), key, mostBytes);
//     connection.send({FrameKind::Heartbeat});                  // queues the rest
//     if (!connection.receive()) ...                            // the peer has closed it
//     while (auto frame = connection.next()) ...
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_CONNECTION_H
#define HEDDLE_RUNTIME_CONTROL_CONNECTION_H

#include "runtime/control/Frame.h"

#include <chrono>
#include <utility>

namespace heddle {

using ControlClock = std::chrono::steady_clock;

/// Owns a file descriptor.
class Socket {
public:
  explicit Socket(int descriptor = -1) : descriptor(descriptor) {}
  ~Socket();
  Socket(Socket &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }

private:
  int descriptor;
};

struct Endpoint {
  std::string host;
  uint16_t port = 0;
  bool operator==(const Endpoint &) const = default;

  /// From "host:port" or "[::1]:port". Throws Error for another text.
  static Endpoint parse(const std::string &text);
  std::string str() const;
};

/// Throws Error that names the endpoint if it is taken or can't be used.
Socket listenAt(const Endpoint &endpoint);
/// The port of a socket that listens.
uint16_t portOf(const Socket &socket);
/// One attempt. None if nothing answers there before the deadline, and `reason` says why. Throws
/// Error if the host has no address.
Socket connectTo(const Endpoint &endpoint, ControlClock::time_point deadline, std::string &reason);
/// A connection that is pending at a listening socket, and the peer's address. None if none is
/// pending or the system refuses it (`errno`).
std::pair<Socket, std::string> acceptFrom(const Socket &listening);

class Connection {
public:
  /// `limit`: the largest body of a frame that the peer may send, in bytes.
  Connection(Socket socket, const JobKey &key, size_t limit)
      : socket(std::move(socket)), key(key), reader(key, limit) {}

  void send(const Frame &frame);
  /// Sends queued bytes. If the peer has gone, `receive` reports it.
  void flush();
  /// Reads what has arrived; false after the end of the stream.
  bool receive();
  /// The next complete frame. Throws Error for a bad one (FrameReader::next).
  std::optional<Frame> next() { return reader.next(); }
  void setLimit(size_t limit) { reader.setLimit(limit); }
  bool isMidFrame() const { return reader.isMidFrame(); }

  int descriptor() const { return socket.get(); }
  /// The events for which the owner has to poll.
  short events() const;
  /// Bytes that the peer has not accepted yet.
  size_t queued() const { return out.size(); }

private:
  Socket socket;
  JobKey key;
  FrameReader reader;
  std::string out;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_CONNECTION_H
