//===- ControlServer.cpp - joins the ranks of a job -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/ControlServer.h"

#include "runtime/control/Agreement.h"

#include <algorithm>

#include <poll.h>

using namespace heddle;
using std::chrono::milliseconds;

ControlServer::ControlServer(ServerOptions options)
    : settings(std::move(options)), address(settings.at), listening(listenAt(settings.at)),
      seats(size_t(settings.ranks)), lastServed(ControlClock::now()),
      store(settings.mostStoredBytes, [this](auto... each) { reply(each...); }),
      arrivals(size_t(settings.ranks)) {
  address.port = portOf(listening);
  for (int r = 0; r < settings.ranks; ++r)
    seats[size_t(r)].member.rank = r;
}

ControlServer::~ControlServer() = default;

int ControlServer::period() const {
  auto shortest = settings.timeout / 4;
  if (settings.lossGrace.count() > 0)
    shortest = std::min(shortest, settings.lossGrace);
  return int(std::clamp<int64_t>(shortest.count(), 10, 500));
}

void ControlServer::addTo(std::vector<pollfd> &polled) const {
  if (ControlClock::now() >= pausedUntil)
    polled.push_back({listening.get(), POLLIN, 0});
  for (const auto &[descriptor, peer] : peers)
    polled.push_back({descriptor, peer->connection.events(), 0});
}

bool ControlServer::hasQueued() const {
  return std::any_of(peers.begin(), peers.end(),
                     [](auto &each) { return each.second->connection.queued() > 0; });
}

void ControlServer::serve(const std::vector<pollfd> &polled) {
  for (const pollfd &each : polled)
    if (each.revents == 0)
      continue;
    else if (each.fd == listening.get())
      acceptAll();
    else if (auto peer = peers.find(each.fd); peer != peers.end())
      serve(*peer->second);
  checkTimes(ControlClock::now());
  std::erase_if(peers, [&](auto &each) { return each.second->closed; });
}

void ControlServer::serveArrived() {
  std::vector<pollfd> polled;
  for (;;) {
    polled.clear();
    addTo(polled);
    if (poll(polled.data(), nfds_t(polled.size()), 0) <= 0)
      return;
    serve(polled);
  }
}

//===----------------------------------------------------------------------===//
// Requests of ranks
//===----------------------------------------------------------------------===//

void ControlServer::serve(Peer &peer) {
  if (peer.closed)
    return;
  peer.connection.flush();
  bool open = peer.connection.receive();
  try {
    while (auto frame = peer.connection.next()) {
      handle(peer, *frame);
      if (peer.closed)
        return;
    }
  } catch (const std::exception &error) {
    if (peer.rank < 0)
      return refuse(peer, error.what());
    failFor(peer.rank, Failure::Kind::Damaged, std::string("sent a bad frame: ") + error.what());
    open = false;
  }
  if (!open)
    lose(peer);
}

void ControlServer::handle(Peer &peer, const Frame &frame) {
  if (peer.rank < 0)
    return admit(peer, frame);
  Seat &seat = seats[size_t(peer.rank)];
  seat.heard = ControlClock::now();
  BodyReader body(frame.body);
  switch (frame.kind) {
  case FrameKind::Heartbeat:
    return peer.connection.send({FrameKind::Heartbeat});
  case FrameKind::Put:
    return store.put(peer.rank, body);
  case FrameKind::Get:
    return store.get(peer.rank, body);
  case FrameKind::Agree:
    return agree(peer, body);
  case FrameKind::Abort: {
    Failure failure = Failure::unpack(frame.body);
    failure.member = seat.member;
    return fail(std::move(failure));
  }
  case FrameKind::Leave:
    seat.presence = Presence::Left;
    seat.peer = nullptr;
    peer.closed = true;
    if (isOver())
      return;
    return requireEveryone();
  default:
    throw Error("a rank can't send the kind " + std::to_string(int(frame.kind)));
  }
}

void ControlServer::reply(int rank, uint64_t id, bool succeeded, std::string_view text) {
  if (Peer *peer = seats[size_t(rank)].peer)
    peer->connection.send(
        {FrameKind::Reply, BodyWriter().number(id).number(succeeded).text(text).take()});
}

void ControlServer::agree(Peer &peer, BodyReader &body) {
  Arrival now{body.number(), body.text(), true};
  body.end();
  describeCall(now.said); // throws if it can't be compared
  Arrival &mine = arrivals[size_t(peer.rank)];
  if (failed)
    return; // the rank has been told
  if (mine.here)
    return failFor(peer.rank, Failure::Kind::Disagreed,
                   "came to " + describeCall(now.said) + " before it had begun " +
                       describeCall(mine.said) + "; one thread of a rank at a time may call");
  mine = std::move(now);
  if (++arrived == 1)
    firstArrived = ControlClock::now();
  for (int r = 0; r < settings.ranks; ++r)
    if (const Arrival &other = arrivals[size_t(r)]; other.here && other.said != mine.said) {
      const auto &[low, high] = std::minmax(r, peer.rank);
      if (std::string difference =
              describeDifference(arrivals[size_t(low)].said, arrivals[size_t(high)].said,
                                 seats[size_t(low)].member.describe());
          !difference.empty())
        return failFor(high, Failure::Kind::Disagreed, std::move(difference));
    }
  requireEveryone();
  if (arrived < settings.ranks)
    return;
  arrived = 0;
  for (int r = 0; r < settings.ranks; ++r) {
    arrivals[size_t(r)].here = false;
    reply(r, arrivals[size_t(r)].id, true, "");
  }
}

/// If a rank has left, a call that needs it fails immediately.
void ControlServer::requireEveryone() {
  auto at = std::find_if(arrivals.begin(), arrivals.end(), [](auto &each) { return each.here; });
  if (at == arrivals.end())
    return;
  for (const Seat &seat : seats)
    if (seat.presence == Presence::Left)
      return failFor(seat.member.rank, Failure::Kind::Missing,
                     "left the job before " + describeCall(at->said) + ", to which rank " +
                         std::to_string(at - arrivals.begin()) + " has come");
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void ControlServer::sendAll(const Frame &frame) {
  for (Seat &seat : seats)
    if (seat.peer)
      seat.peer->connection.send(frame);
}

void ControlServer::failFor(int rank, Failure::Kind kind, std::string reason) {
  fail({kind, seats[size_t(rank)].member, std::move(reason)});
}

void ControlServer::fail(Failure failure) {
  if (failed)
    return;
  if (size_t(failure.member.rank) < seats.size() && failure.member.host.empty())
    failure.member = seats[size_t(failure.member.rank)].member;
  failed = std::move(failure);
  sendAll({FrameKind::Abort, failed->pack()});
}

void ControlServer::end() { sendAll({FrameKind::Bye}); }
