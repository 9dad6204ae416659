//===- DeadRanks.cpp - ranks that are silent, lost or late ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/control/Agreement.h"
#include "runtime/control/ControlServer.h"

#include <algorithm>
#include <cstdio>

using namespace heddle;
using std::chrono::milliseconds;

/// A process has at least this long to send its hello frame.
static constexpr milliseconds helloTime{5000};

static std::string seconds(ControlClock::duration time) {
  char text[32];
  snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(time).count());
  return text;
}

/// "rank 1", "ranks 1, 3"
static std::string listOf(const std::vector<int> &ranks) {
  std::string list;
  for (int rank : ranks)
    list += (list.empty() ? "" : ", ") + std::to_string(rank);
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

void ControlServer::checkTimes(Time now) {
  // If this server itself was stopped, ranks are not at fault for the silence.
  bool slept = now - lastServed > settings.timeout / 2 + milliseconds(500);
  lastServed = now;
  for (Seat &seat : seats)
    if (slept)
      seat.heard = now;
    else if (seat.presence == Presence::Here && now - seat.heard > settings.timeout)
      failFor(seat.member.rank, Failure::Kind::Silent,
              "is dead or hung: last heard " + seconds(now - seat.heard) + " ago");
    else if (seat.presence == Presence::Lost && now - seat.heard >= settings.lossGrace)
      failFor(seat.member.rank, Failure::Kind::Lost, "ended without leaving the job");
    else if (seat.peer && seat.peer->connection.queued() > settings.mostQueuedBytes)
      failFor(seat.member.rank, Failure::Kind::Silent, "does not read the frames that it is sent");
  for (auto &[descriptor, peer] : peers)
    if (peer->rank < 0 && !peer->closed &&
        now - peer->since > std::max(helloTime, 2 * settings.timeout))
      refuse(*peer, "it has not sent a hello frame for " + seconds(now - peer->since));
  std::vector<int> there, missing;
  bool joining = joined > 0 && joined < settings.ranks;
  if (failed || (!joining && arrived == 0) ||
      now - (joining ? firstJoined : firstArrived) <= settings.timeout)
    return;
  for (int r = 0; r < settings.ranks; ++r)
    if (joining ? seats[size_t(r)].peer != nullptr : arrivals[size_t(r)].here)
      there.push_back(r);
    else
      missing.push_back(r);
  Failure failure{Failure::Kind::Missing, seats[size_t(missing.front())].member};
  std::string others =
      missing.size() > 1 ? ", nor have " + listOf({missing.begin() + 1, missing.end()}) : "";
  std::string what =
      joining ? "joined the job" : "come to " + describeCall(arrivals[size_t(there[0])].said);
  failure.reason = "has not " + what + " within " + seconds(settings.timeout) + others + "; " +
                   listOf(there) + (there.size() == 1 ? " waits" : " wait");
  fail(std::move(failure));
}
