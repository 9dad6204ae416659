//===- FrameTest.cpp - frames, whole and damaged --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/runtime/Programs.h"

#include "heddle/Error.h"
#include "runtime/control/Agreement.h"
#include "runtime/control/FailureRecord.h"
#include "runtime/control/ServerRendezvous.h"

#include <random>

using namespace heddle;

static const JobKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

/// The frames of a stream that comes in parts of `step` bytes.
static std::vector<Frame> read(std::string_view bytes, size_t step, size_t limit = 1 << 20) {
  FrameReader reader(key, limit);
  std::vector<Frame> frames;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.append(bytes.substr(at, step));
    while (auto frame = reader.next())
      frames.push_back(*frame);
  }
  return frames;
}

TEST(Frame, TagsAreThoseOfThePaper) {
  std::string bytes;
  for (char i = 0; i < 15; ++i)
    bytes += i;
  EXPECT_EQ(sipHash(key, bytes), 0xa129ca6149be45e5); // appendix A
}

TEST(Frame, StreamsComeInAnyParts) {
  std::string stream;
  std::vector<std::string> bodies = {"", "a", std::string(100, '\0'), std::string(100000, 'x')};
  for (const std::string &body : bodies)
    stream += packFrame(key, {FrameKind::Put, body});
  for (size_t step : {1, 7, 24, 1000, 1000000}) {
    auto frames = read(stream, step);
    ASSERT_EQ(frames.size(), bodies.size());
    for (size_t i = 0; i < bodies.size(); ++i) {
      EXPECT_EQ(frames[i].kind, FrameKind::Put);
      EXPECT_EQ(frames[i].body, bodies[i]);
    }
  }
}

TEST(Frame, EveryChangedBitIsRefused) {
  std::string good = packFrame(key, {FrameKind::Get, "where is it?"});
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << bit % 8));
    FrameReader reader(key, 1 << 20);
    reader.append(bad);
    std::string error = errorOf([&] { EXPECT_FALSE(reader.next()) << "bit " << bit; });
    // A length that has grown within the limit waits for more, which changes the tag.
    if (error.empty()) {
      reader.append(std::string(1 << 20, 'x'));
      error = errorOf([&] { reader.next(); });
    }
    EXPECT_NE(error, "") << "bit " << bit;
  }
}

TEST(Frame, DefectsAreNamed) {
  auto errorFor = [](std::string bytes) {
    return errorOf([&] { read(bytes, bytes.size(), 1000); });
  };
  std::string good = packFrame(key, {FrameKind::Get, "where?"});
  EXPECT_EQ(errorFor(good), "");
  EXPECT_EQ(errorFor("GET / HTTP/1.1\r\n"),
            "the bytes are not a frame of a Heddle control channel");
  EXPECT_EQ(errorFor("G"), "the bytes are not a frame of a Heddle control channel");
  std::string other = good;
  other[4] = 9;
  EXPECT_EQ(errorFor(other), "the frame has version 9 of the control channel, expected 2");
  std::string longer = good;
  longer.replace(8, 8, "\xff\xff\xff\xff\0\0\0\0", 8);
  EXPECT_EQ(errorFor(longer), "the frame has a body of 4294967295 bytes, expected at most 1000");
  std::string damaged = good;
  damaged.back() ^= 1;
  std::string wrong = "the frame is damaged, or its sender has the key of another job";
  EXPECT_EQ(errorFor(damaged), wrong);
  EXPECT_EQ(errorFor(packFrame({1, 2}, {FrameKind::Get, "where?"})), wrong);
}

TEST(Frame, BodiesEndWhereTheyShould) {
  std::string body = BodyWriter().number(7).text("text").take();
  for (size_t length = 0; length < body.size(); ++length) {
    BodyReader reader(std::string_view(body).substr(0, length));
    expectIn("the frame ends within a ", errorOf([&] {
               reader.number();
               reader.text();
             }));
  }
  BodyReader reader(body);
  EXPECT_EQ(reader.smallNumber(7), 7);
  expectIn("12 bytes too many", errorOf([&] { reader.end(); }));
  EXPECT_EQ(reader.text(), "text");
  reader.end();
  BodyReader large(body);
  expectIn("number 7, expected at most 6", errorOf([&] { large.smallNumber(6); }));
  std::string lying = BodyWriter().number(UINT64_MAX).take();
  expectIn("ends within a text", errorOf([&] { BodyReader(lying).text(); }));
}

TEST(Frame, KeysAreHexadecimal) {
  EXPECT_EQ(JobKey::parse(key.str()), key);
  EXPECT_NE(JobKey::random(), JobKey::random());
  for (const char *bad : {"", "12", "0x000000000000000000000000000000",
                          "g0000000000000000000000000000000", "000000000000000000000000000000000"})
    expectIn("32 hexadecimal digits", errorOf([&] { JobKey::parse(bad); }));
}

TEST(Frame, EndpointsAreHostAndPort) {
  EXPECT_EQ(Endpoint::parse("n7.cluster:4000"), (Endpoint{"n7.cluster", 4000}));
  EXPECT_EQ(Endpoint::parse("[::1]:80"), (Endpoint{"::1", 80}));
  EXPECT_EQ(Endpoint::parse("[::1]:80").str(), "[::1]:80");
  for (const char *bad :
       {"", "host", "host:", ":80", "host:65536", "host:-1", "host:80x", "::1:80"})
    EXPECT_EQ(errorOf([&] { Endpoint::parse(bad); }),
              std::string("expected an address 'host:port', got '") + bad + "'");
}

TEST(Frame, FailuresTravelWhole) {
  Failure failure{
      Failure::Kind::Reported, {2, "n7", 4711}, "out of memory", "train", "dense", "a:1"};
  Failure got = Failure::unpack(failure.pack());
  EXPECT_EQ(got.describe(),
            "rank 2 (host n7, pid 4711) failed in 'train' at 'dense' (a:1): out of memory");
  got.kind = Failure::Kind::Silent;
  got.member = {};
  got.reason = "is dead or hung";
  EXPECT_EQ(Failure::unpack(got.pack()).describe(), "the launcher is dead or hung");
  EXPECT_NE(errorOf([&] { Failure::unpack(failure.pack() + "x"); }), "");
  EXPECT_NE(errorOf([&] { Failure::unpack(std::string(8, '\xff')); }), "");
}

TEST(Frame, AgreementsNameTheFirstDifference) {
  Agreement values = {{"entry", "'train'"}, {"size N", "64"}};
  std::string first = sayCall(17, values);
  EXPECT_EQ(describeCall(first), "call 17 (entry 'train')");
  EXPECT_EQ(describeCall(sayCall(1, {})), "call 1");
  auto difference = [&](uint64_t number, const Agreement &other) {
    return describeDifference(first, sayCall(number, other), "rank 0");
  };
  EXPECT_EQ(difference(17, {{"entry", "'train'"}, {"size N", "32"}}),
            "has the size N 32 at call 17 (entry 'train'), but rank 0 has 64");
  EXPECT_EQ(difference(18, values),
            "is at call 18 (entry 'train'), but rank 0 is at call 17 (entry 'train')");
  EXPECT_EQ(difference(17, {{"entry", "'train'"}, {"size M", "8"}, {"size N", "32"}}),
            "has the size N 32 at call 17 (entry 'train'), but rank 0 has 64");
  // A value that only one of two ranks states is not compared: a role binds only sizes that it
  // uses.
  EXPECT_EQ(difference(17, {{"entry", "'train'"}, {"size M", "64"}}), "");
  EXPECT_EQ(difference(17, {{"entry", "'train'"}}), "");
}
