//===- Job.cpp - the job that this process is a rank of -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/Job.h"

#include "runtime/control/JobTransport.h"
#include "runtime/device/ThreadCount.h"

using namespace heddle;

std::shared_ptr<Job> Job::join(const RankInfo &info) {
  std::shared_ptr<Job> job(new Job(info));
  job->threads = info.ranks == 1 ? sharedThreadTeam(info.threads)
                                 : makeThreadTeam(info.threads > 0 ? info.threads : usualThreads());
  if (info.ranks > 1)
    job->control = ControlChannel::join(info);
  return job;
}

void Job::setTransport(std::shared_ptr<JobTransport> transport) {
  if (control)
    control->removeAbortCallback(abortsTransport);
  moves = std::move(transport);
  if (control && moves)
    abortsTransport = control->onAbort(
        [mine = moves.get()](const Failure &failure) { mine->abort(failure.describe()); });
}

Job::~Job() {
  if (control)
    control->removeAbortCallback(abortsTransport);
}

/// Waits for the value that a rank stores. After the timeout the error names the rank and the
/// operation `what`.
static std::string valueOf(int rank, ControlChannel &channel, const std::string &key,
                           const std::string &what, Job::Limit limit) {
  try {
    return channel.get(key, limit);
  } catch (const JobError &) {
    throw;
  } catch (const Error &error) {
    // The channel reports a hung rank at about the time when the value times out.
    if (auto failure = channel.failure(std::chrono::seconds(1)))
      throw JobError(*failure);
    throw Error(channel.members()[size_t(rank)].describe() + " did not come to " + what + ": " +
                error.what());
  }
}

std::vector<std::string> Job::collect(const std::string &what, std::string_view mine, Limit limit) {
  if (!control)
    return {std::string(mine)};
  if (!limit)
    control->agree({{"entry", what}});
  std::string key = "exchange/" + std::to_string(exchanges++) + "/";
  if (rank() > 0) {
    control->put(key + std::to_string(rank()), mine, 1);
    return {};
  }
  std::vector<std::string> all{std::string(mine)};
  for (int r = 1; r < ranks(); ++r)
    all.push_back(valueOf(r, *control, key + std::to_string(r), what, limit));
  return all;
}

std::vector<std::string> Job::exchange(const std::string &what, std::string_view mine,
                                       Limit limit) {
  std::vector<std::string> all = collect(what, mine, limit); // two messages per rank
  if (!control)
    return all;
  std::string key = "exchange/" + std::to_string(exchanges++);
  if (rank() == 0) {
    BodyWriter body;
    for (const std::string &text : all)
      body.text(text);
    control->put(key, body.take(), ranks() - 1);
  } else {
    std::string body = valueOf(0, *control, key, what, limit);
    for (BodyReader reader(body); !reader.isAtEnd();)
      all.push_back(reader.text());
  }
  // Wait until all ranks have read the values: a rank that rejects them ends the job, and could do
  // so before other ranks, which reject them as well, have reported why.
  control->agree({{"entry", what}});
  return all;
}
