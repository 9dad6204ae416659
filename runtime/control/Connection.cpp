//===- Connection.cpp - sockets that carry frames -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/control/Connection.h"

#include "heddle/Error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace heddle;

Socket::~Socket() {
  if (descriptor >= 0)
    close(descriptor);
}

Endpoint Endpoint::parse(const std::string &text) {
  size_t colon = text.rfind(':');
  Endpoint result;
  if (colon != std::string::npos && colon > 0) {
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data() + colon + 1, end, result.port);
    result.host = text.substr(0, colon);
    if (result.host.size() > 2 && result.host.front() == '[' && result.host.back() == ']')
      result.host = result.host.substr(1, result.host.size() - 2);
    else if (result.host.find(':') != std::string::npos) // an IPv6 address needs the brackets
      result.host.clear();
    if (error == std::errc() && stop == end && !result.host.empty())
      return result;
  }
  throw Error("expected an address 'host:port', got '" + text + "'");
}

std::string Endpoint::str() const {
  bool isNumeric = host.find(':') != std::string::npos;
  return (isNumeric ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Tries `use(socket, address, length)` for each address of the endpoint, until it returns true.
static Socket forEachAddress(const Endpoint &endpoint, int flags,
                             const std::function<bool(int, const sockaddr *, socklen_t)> &use) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  if (int code =
          getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list))
    throw Error("can't find the host '" + endpoint.host + "': " + gai_strerror(code));
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  int reason = EADDRNOTAVAIL;
  for (addrinfo *each = list; each; each = each->ai_next) {
    Socket made(socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (made && use(made.get(), each->ai_addr, each->ai_addrlen))
      return made;
    reason = errno;
  }
  errno = reason;
  return Socket();
}

/// Disables Nagle's algorithm: frames are small, and a peer waits for each.
static void sendAtOnce(int socket) {
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket heddle::listenAt(const Endpoint &endpoint) {
  Socket made = forEachAddress(endpoint, AI_PASSIVE, [](int socket, auto *address, auto length) {
    int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(socket, address, length) == 0 && listen(socket, SOMAXCONN) == 0;
  });
  if (!made)
    throw Error("can't listen at " + endpoint.str() + ": " + std::strerror(errno));
  return made;
}

uint16_t heddle::portOf(const Socket &socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address), &length) != 0)
    throw Error(std::string("can't find the port of a socket: ") + std::strerror(errno));
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in *>(&address)->sin_port);
}

static int millisecondsUntil(ControlClock::time_point deadline) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - ControlClock::now()).count();
  return int(std::clamp<int64_t>(left, 0, 1 << 30));
}

Socket heddle::connectTo(const Endpoint &endpoint, ControlClock::time_point deadline,
                         std::string &reason) {
  Socket made = forEachAddress(endpoint, 0, [&](int socket, auto *address, auto length) {
    if (connect(socket, address, length) == 0)
      return true;
    if (errno != EINPROGRESS && errno != EINTR)
      return false;
    pollfd waiting{socket, POLLOUT, 0};
    int ready;
    while ((ready = poll(&waiting, 1, millisecondsUntil(deadline))) < 0 && errno == EINTR)
      ;
    int failure = ready == 0 ? ETIMEDOUT : 0;
    socklen_t size = sizeof failure;
    if (ready > 0 && getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
      failure = errno;
    errno = failure;
    return failure == 0;
  });
  if (!made)
    reason = std::strerror(errno);
  else
    sendAtOnce(made.get());
  return made;
}

std::pair<Socket, std::string> heddle::acceptFrom(const Socket &listening) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto *general = reinterpret_cast<sockaddr *>(&address);
  Socket made(accept4(listening.get(), general, &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made)
    return {std::move(made), ""};
  sendAtOnce(made.get());
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "0";
  getnameinfo(general, length, host, sizeof host, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  return {std::move(made), Endpoint{host, uint16_t(std::atoi(port))}.str()};
}

//===----------------------------------------------------------------------===//
// Connection
//===----------------------------------------------------------------------===//

void Connection::send(const Frame &frame) {
  out += packFrame(key, frame);
  flush();
}

void Connection::flush() {
  size_t sent = 0;
  while (sent < out.size()) {
    ssize_t now = ::send(socket.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (now > 0)
      sent += size_t(now);
    else if (errno != EINTR)
      break;
  }
  if (sent < out.size() && errno != EAGAIN && errno != EWOULDBLOCK)
    sent = out.size(); // the peer will not read the rest
  out.erase(0, sent);
}

bool Connection::receive() {
  char part[1 << 16];
  // Bounded, so that a peer that sends endlessly does not block the others.
  for (int tries = 0; tries < 16; ++tries) {
    ssize_t got = recv(socket.get(), part, sizeof part, 0);
    if (got > 0)
      reader.append({part, size_t(got)});
    else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
      return false;
    else if (errno != EINTR)
      return true;
  }
  return true;
}

short Connection::events() const { return short(POLLIN | (out.empty() ? 0 : POLLOUT)); }
