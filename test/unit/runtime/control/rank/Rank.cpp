//===- Rank.cpp - a program that heddle-launch starts in tests ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     heddle-test-rank [WORD [RANK [NUMBER]]]
//
// joins its job, agrees on three calls, then the rank RANK does what WORD says, while the others
// wait for it in a fourth call: `exit` with status NUMBER, end by the `signal` NUMBER, `leave`,
// `fail` (report the failure of an op), `engine` (use one that there isn't), `differ` (make another
// call), `throw`, `hang` (without a heartbeat), `wait` (come to no call), `stay` (exit with status
// NUMBER, while the others do not end when they hear of it). Survivors print the failure and end
// with status 1.
//
//===----------------------------------------------------------------------===//
#include "runtime/control/EngineTransport.h"
#include "runtime/control/Job.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace heddle;

static void misbehave(Job &job, const std::string &word, int number) {
  ControlChannel &channel = *job.channel();
  if (word == "exit" || word == "stay")
    _exit(number);
  if (word == "signal")
    raise(number);
  if (word == "hang")
    raise(SIGSTOP);
  if (word == "wait")
    sleep(60);
  if (word == "leave") {
    channel.leave();
    _exit(0); // so that the launcher hears of nothing else, whichever rank is the faster one
  }
  if (word == "engine")
    useEngine(job, "none");
  if (word == "throw")
    throw Error("thrown by rank " + std::to_string(channel.rank()));
  if (word == "differ")
    channel.agree({{"entry", "'eval'"}});
  if (word == "fail") {
    channel.fail("out of memory", "train", "dense", "net.cpp:3:9");
    throw Error("'train' failed");
  }
}

static int run(const std::string &word, int rank, int number) {
  auto job = Job::join();
  if (job->ranks() == 1) {
    printf("one rank\n");
    return 0;
  }
  ControlChannel &channel = *job->channel();
  channel.put("pid/" + std::to_string(channel.rank()), std::to_string(getpid()));
  for (int r = 0; r < channel.size(); ++r)
    if (channel.get("pid/" + std::to_string(r)) != std::to_string(channel.members()[size_t(r)].pid))
      throw Error("rank " + std::to_string(r) + " is another process");
  for (int call = 0; call < 3; ++call)
    channel.agree({{"entry", "'train'"}, {"size N", "64"}});
  if (channel.rank() == rank)
    misbehave(*job, word, number);
  if (word.empty()) {
    printf("rank %d of %d\n", channel.rank(), channel.size());
    fflush(stdout);
    channel.leave();
    return 0;
  }
  try {
    channel.agree({{"entry", "'train'"}, {"size N", "64"}});
  } catch (const JobError &error) {
    printf("survivor: %s\n", error.what());
    fflush(stdout);
    if (word == "stay")
      for (;;)
        pause();
    throw;
  }
  channel.leave();
  return 0;
}

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 0,
               argc > 3 ? std::atoi(argv[3]) : 0);
  } catch (const std::exception &error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
