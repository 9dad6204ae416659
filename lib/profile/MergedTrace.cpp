//===- MergedTrace.cpp - the timeline of all ranks ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "lib/profile/MergedTrace.h"

using namespace heddle;

std::string heddle::mergedTrace(Job &job, const Profile &profile) {
  if (ControlChannel *channel = job.channel())
    channel->agree({{"entry", "merging traces"}});
  Profile::Clock::time_point now = Profile::Clock::now();
  auto events = job.collect("merging traces", profile.chromeEvents(job.rank(), now));
  return events.empty() ? "" : Profile::joinTraces(events);
}
