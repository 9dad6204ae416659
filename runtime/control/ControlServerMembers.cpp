//===- ControlServerMembers.cpp - how ranks join and leave a job ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/control/ControlServer.h"

#include <algorithm>
#include <cerrno>

using namespace heddle;
using std::chrono::milliseconds;

/// The most bytes that a process may send before it has joined.
static constexpr size_t mostHelloBytes = 4096;

void ControlServer::acceptAll() {
  const int mostUnauthenticated = 128 + 2 * settings.ranks;
  for (int tries = 0; tries < mostUnauthenticated; ++tries) {
    auto [socket, name] = acceptFrom(listening);
    if (!socket) {
      // For example, out of descriptors: retrying immediately would take all CPU time.
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED)
        pausedUntil = ControlClock::now() + milliseconds(100);
      return;
    }
    if (unauthenticated >= mostUnauthenticated) { // close the oldest one
      Peer *oldest = nullptr;
      for (auto &[descriptor, peer] : peers)
        if (peer->rank < 0 && !peer->closed && (!oldest || peer->since < oldest->since))
          oldest = peer.get();
      if (oldest)
        refuse(*oldest, "too many processes try to join");
    }
    int descriptor = socket.get();
    auto peer =
        std::make_unique<Peer>(Peer{Connection(std::move(socket), settings.key, mostHelloBytes),
                                    name, ControlClock::now(), JobKey::random().low});
    peer->connection.send({FrameKind::Greeting, BodyWriter().number(peer->nonce).take()});
    ++unauthenticated;
    ++connections;
    peers[descriptor] = std::move(peer);
  }
}

/// The process may try again; the job continues without it.
void ControlServer::refuse(Peer &peer, const std::string &reason) {
  peer.connection.send({FrameKind::Refuse, BodyWriter().text(reason).take()});
  peer.closed = true;
  --unauthenticated;
  refused.push_back(peer.name + ": " + reason);
  if (refused.size() > 16)
    refused.pop_front();
}

void ControlServer::admit(Peer &peer, const Frame &frame) {
  if (frame.kind != FrameKind::Hello)
    return refuse(peer, "expected a hello frame, by which a rank joins");
  BodyReader body(frame.body);
  uint64_t nonce = body.number(), ranks = body.number();
  Member member = unpackMember(body);
  body.end();
  std::string who = "rank " + std::to_string(member.rank),
              count = std::to_string(settings.ranks) + " ranks";
  if (nonce != peer.nonce)
    return refuse(peer, who + " answers the greeting of another connection");
  if (ranks != uint64_t(settings.ranks))
    return refuse(peer, who + " was started as one of " + std::to_string(ranks) +
                            " ranks, the job has " + count);
  if (member.rank < 0 || member.rank >= settings.ranks)
    return refuse(peer, who + " does not exist: the job has " + count + ", counted from 0");
  Seat &seat = seats[size_t(member.rank)];
  if (seat.presence != Presence::Absent)
    return refuse(peer, seat.member.describe() + " has joined already, and can't join again as " +
                            member.describe());
  if (failed)
    return refuse(peer, "the job has failed: " + failed->describe());
  seat = {member, Presence::Here, &peer, ControlClock::now()};
  peer.rank = member.rank;
  peer.connection.setLimit(mostValueBytes + 4096);
  --unauthenticated;
  if (++joined == 1)
    firstJoined = ControlClock::now();
  if (joined < settings.ranks)
    return;
  BodyWriter list;
  list.number(settings.byLauncher).number(uint64_t(settings.ranks));
  for (const Seat &each : seats)
    packMember(list, each.member);
  sendAll({FrameKind::Ready, list.take()});
}

/// A connection was closed by its peer, without a `Leave` frame.
void ControlServer::lose(Peer &peer) {
  peer.closed = true;
  if (peer.rank < 0) {
    --unauthenticated;
    return;
  }
  Seat &seat = seats[size_t(peer.rank)];
  seat.peer = nullptr;
  seat.presence = Presence::Lost;
  seat.heard = ControlClock::now();
}

bool ControlServer::isOver() const {
  return std::all_of(seats.begin(), seats.end(), [](const Seat &seat) {
    return seat.presence == Presence::Left || seat.presence == Presence::Lost;
  });
}
