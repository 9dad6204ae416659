//===- Frame.cpp - the messages of the control channel --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/Frame.h"

#include "heddle/Error.h"

#include <bit>
#include <cstdio>
#include <random>

using namespace heddle;

static constexpr uint32_t magic = 0x1a4c4448; // "HDL\x1a"
static constexpr uint16_t version = 2;
static constexpr size_t taggedBytes = 16, headerBytes = taggedBytes + 8;

static void putNumber(std::string &bytes, uint64_t value, int width) {
  for (int i = 0; i < width; ++i)
    bytes += char(value >> (8 * i));
}

static uint64_t getNumber(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = 0; i < width; ++i)
    value |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
  return value;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

JobKey JobKey::random() {
  std::random_device device;
  auto word = [&] { return uint64_t(device()) << 32 | device(); };
  return {word(), word()};
}

JobKey JobKey::parse(std::string_view text) {
  uint64_t words[2] = {0, 0};
  bool digits = text.size() == 32;
  for (size_t i = 0; i < text.size() && digits; ++i) {
    size_t digit = std::string_view("0123456789abcdef").find(text[i]);
    digits = digit != std::string_view::npos;
    words[i / 16] = words[i / 16] << 4 | digit;
  }
  if (!digits) // the message omits the text: it may be a secret
    throw Error("expected the key of a job as 32 hexadecimal digits in lower case, got " +
                std::to_string(text.size()) + " characters");
  return {words[0], words[1]};
}

std::string JobKey::str() const {
  char text[33];
  snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(low),
           static_cast<unsigned long long>(high));
  return text;
}

uint64_t heddle::sipHash(const JobKey &key, std::string_view bytes) {
  uint64_t v[4] = {key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
                   key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  auto rounds = [&](int count) {
    for (; count > 0; --count) {
      v[0] += v[1], v[1] = std::rotl(v[1], 13) ^ v[0], v[0] = std::rotl(v[0], 32);
      v[2] += v[3], v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] += v[3], v[3] = std::rotl(v[3], 21) ^ v[0];
      v[2] += v[1], v[1] = std::rotl(v[1], 17) ^ v[2], v[2] = std::rotl(v[2], 32);
    }
  };
  auto mix = [&](uint64_t word) {
    v[3] ^= word;
    rounds(2);
    v[0] ^= word;
  };
  size_t whole = bytes.size() / 8 * 8;
  for (size_t i = 0; i < whole; i += 8)
    mix(getNumber(bytes, i, 8));
  mix(getNumber(bytes, whole, bytes.size() - whole) | uint64_t(bytes.size()) << 56);
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static uint64_t tagOf(const JobKey &key, std::string_view header, std::string_view body) {
  std::string tagged(header.substr(0, taggedBytes));
  return sipHash(key, tagged += body);
}

std::string heddle::packFrame(const JobKey &key, const Frame &frame) {
  std::string bytes;
  putNumber(bytes, magic, 4);
  putNumber(bytes, version, 2);
  putNumber(bytes, uint64_t(frame.kind), 2);
  putNumber(bytes, frame.body.size(), 8);
  putNumber(bytes, tagOf(key, bytes, frame.body), 8);
  return bytes += frame.body;
}

std::optional<Frame> FrameReader::next() {
  if (at == bytes.size() || at > (1 << 16)) { // moves the rest at most once per 64 KiB
    bytes.erase(0, at);
    at = 0;
  }
  std::string_view rest = std::string_view(bytes).substr(at);
  // A process that is not of the job may send less than a header and then wait.
  std::string expected;
  putNumber(expected, magic, 4);
  if (!expected.starts_with(rest.substr(0, 4)))
    throw Error("the bytes are not a frame of a Heddle control channel");
  if (rest.size() < headerBytes)
    return std::nullopt;
  if (uint64_t got = getNumber(rest, 4, 2); got != version)
    throw Error("the frame has version " + std::to_string(got) + " of the control channel, " +
                "expected " + std::to_string(version));
  uint64_t length = getNumber(rest, 8, 8);
  if (length > limit)
    throw Error("the frame has a body of " + std::to_string(length) + " bytes, expected at most " +
                std::to_string(limit));
  if (rest.size() - headerBytes < length)
    return std::nullopt;
  std::string_view body = rest.substr(headerBytes, length);
  if (getNumber(rest, taggedBytes, 8) != tagOf(key, rest, body))
    throw Error("the frame is damaged, or its sender has the key of another job");
  Frame frame{FrameKind(getNumber(rest, 6, 2)), std::string(body)};
  at += headerBytes + length;
  return frame;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

BodyWriter &BodyWriter::number(uint64_t value) {
  putNumber(bytes, value, 8);
  return *this;
}

BodyWriter &BodyWriter::text(std::string_view value) {
  number(value.size());
  bytes += value;
  return *this;
}

uint64_t BodyReader::number() {
  if (rest.size() < 8)
    throw Error("the frame ends within a number");
  uint64_t value = getNumber(rest, 0, 8);
  rest.remove_prefix(8);
  return value;
}

std::string BodyReader::text() {
  uint64_t length = number();
  if (rest.size() < length)
    throw Error("the frame ends within a text");
  std::string value(rest.substr(0, length));
  rest.remove_prefix(length);
  return value;
}

int BodyReader::smallNumber(int most) {
  uint64_t value = number();
  if (value > uint64_t(most))
    throw Error("the frame has the number " + std::to_string(value) + ", expected at most " +
                std::to_string(most));
  return int(value);
}

void BodyReader::end() const {
  if (!rest.empty())
    throw Error("the frame has " + std::to_string(rest.size()) + " bytes too many");
}
