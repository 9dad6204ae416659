//===- Job.cpp - the job that this process is a rank of -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/Job.h"

#include "runtime/program/CpuFeatures.h"
#include "runtime/program/Transport.h"

#include <algorithm>

using namespace heddle;

std::shared_ptr<Job> Job::join(const RankInfo &info) {
  std::shared_ptr<Job> job(new Job(info));
  job->threads = info.ranks == 1
                     ? sharedThreadTeam(info.threads)
                     : makeThreadTeam(info.threads > 0 ? info.threads : availableCores());
  if (info.ranks > 1)
    job->control = ControlChannel::join(info);
  return job;
}

void Job::setTransport(std::shared_ptr<Transport> transport) {
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

std::vector<std::string> Job::collect(const std::string &what, std::string_view mine) {
  if (!control)
    return {std::string(mine)};
  control->agree({{"entry", what}});
  std::string key = "exchange/" + std::to_string(exchanges++) + "/";
  if (rank() > 0) {
    control->put(key + std::to_string(rank()), mine);
    return {};
  }
  std::vector<std::string> all{std::string(mine)};
  for (int r = 1; r < ranks(); ++r)
    all.push_back(control->get(key + std::to_string(r)));
  return all;
}

std::vector<std::string> Job::exchange(const std::string &what, std::string_view mine) {
  std::vector<std::string> all = collect(what, mine); // two messages for each rank
  if (!control)
    return all;
  std::string key = "exchange/" + std::to_string(exchanges++);
  if (rank() == 0) {
    BodyWriter body;
    for (const std::string &text : all)
      body.text(text);
    control->put(key, body.take());
    return all;
  }
  std::string body = control->get(key);
  for (BodyReader reader(body); !reader.isAtEnd();)
    all.push_back(reader.text());
  return all;
}

std::vector<std::string> Job::commonCpuFeatures() {
  std::vector<std::string> common = cpuFeatures();
  if (!control)
    return common;
  BodyWriter mine;
  for (const std::string &feature : common)
    mine.text(feature);
  control->put("cpu/" + std::to_string(rank()), mine.take());
  for (int r = 0; r < ranks(); ++r) {
    std::vector<std::string> theirs;
    std::string body = control->get("cpu/" + std::to_string(r));
    for (BodyReader reader(body); !reader.isAtEnd();)
      theirs.push_back(reader.text());
    std::erase_if(common, [&](const std::string &feature) {
      return std::find(theirs.begin(), theirs.end(), feature) == theirs.end();
    });
  }
  return common;
}
