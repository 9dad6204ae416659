//===- Frame.h - the messages of the control channel ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks and their server exchange frames over TCP. A frame is a header of 24 bytes, with
// little-endian numbers, and a body:
//
//     u32 magic, u16 version, u16 kind, u32 length of the body, u32 zero
//     u64 tag: SipHash of the 16 bytes above and the body, under the key of the job
//
// The tag detects corruption, and rejects processes that lack the key. A reader stores only bytes
// that have arrived, so a false length does not make it allocate memory:
//
//     std::string bytes = packFrame(key, {FrameKind::Put, body});
//     FrameReader reader(key, mostBytes);
//     reader.append(bytes);
//     while (auto frame = reader.next())     // throws Error that names what is wrong
//       handle(*frame);
//
// Bodies consist of numbers (8 bytes) and strings (a number, then that many bytes).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_FRAME_H
#define HEDDLE_RUNTIME_CONTROL_FRAME_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// The shared secret of the processes of a job.
struct JobKey {
  uint64_t low = 0, high = 0;
  bool operator==(const JobKey &) const = default;

  static JobKey random();
  /// Parses 32 hexadecimal digits, as `str` writes them. Throws Error for another text.
  static JobKey parse(std::string_view text);
  std::string str() const;
};

/// SipHash-2-4 of the bytes (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
uint64_t sipHash(const JobKey &key, std::string_view bytes);

enum class FrameKind : uint16_t {
  Greeting = 1, ///< server: a random number, which `Hello` repeats
  Hello,        ///< rank: who it is
  Ready,        ///< server: all ranks have joined; the list of them
  Refuse,       ///< server: why the process can't join
  Heartbeat,    ///< both, when they have nothing else to send
  Put,          ///< rank: stores a value, permanently or for a number of readers
  Get,          ///< rank: asks for a value
  Agree,        ///< rank: the call that it is about to make
  Reply,        ///< server: the answer to one of these three
  Abort,        ///< both: a failure that ends the job
  Leave,        ///< rank: has finished
  Bye           ///< server: has finished
};

struct Frame {
  FrameKind kind = FrameKind::Heartbeat;
  std::string body = {};
};

std::string packFrame(const JobKey &key, const Frame &frame);

/// Splits a stream of bytes into frames.
class FrameReader {
public:
  /// `limit`: the largest body, in bytes.
  FrameReader(const JobKey &key, size_t limit) : key(key), limit(limit) {}
  void setLimit(size_t bytes) { limit = bytes; }
  void append(std::string_view more) { bytes.append(more); }
  /// The next frame; none if it is incomplete. Throws Error if the frame is corrupt, too long, of
  /// another version, or not a frame; then the rest of the stream is unreadable.
  std::optional<Frame> next();
  /// True if part of a frame has arrived.
  bool isMidFrame() const { return at < bytes.size(); }

private:
  JobKey key;
  size_t limit, at = 0;
  std::string bytes;
};

class BodyWriter {
public:
  BodyWriter &number(uint64_t value);
  BodyWriter &text(std::string_view value);
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
};

class BodyReader {
public:
  explicit BodyReader(std::string_view body) : rest(body) {}
  /// These throw Error if the body is too short.
  uint64_t number();
  std::string text();
  /// A number from 0 to `most`. Throws Error for a greater one.
  int smallNumber(int most);
  bool isAtEnd() const { return rest.empty(); }
  /// Throws Error if bytes are left.
  void end() const;

private:
  std::string_view rest;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_FRAME_H
