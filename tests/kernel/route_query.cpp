// SPDX-License-Identifier: Apache-2.0
#include "kernel/route_query.hpp"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "kernel/attributes.hpp"
#include "kernel/kernel_router.hpp"

namespace sidestep::kernel {
namespace {

constexpr std::uint16_t kRtaFlowLabel = 31;  // newer than Debian 12's headers

net::Ipv6Address address_of(const nlattr* attribute) {
  net::Ipv6Address address;
  std::memcpy(address.bytes.data(), mnl_attr_get_payload(attribute), 16);
  return address;
}

std::string hop_text(const QueryHop& hop) {
  return fmt::format("{}{} dev {}", hop.gateway ? "via " : "direct",
                     hop.gateway ? hop.gateway->to_string() : "", hop.device);
}

}  // namespace

std::string Query::to_string() const {
  std::string text = destination.to_string();
  if (source) text += " from " + source->to_string();
  if (!iif.empty()) text += " iif " + iif;
  if (!oif.empty()) text += " oif " + oif;
  if (mark != 0) text += fmt::format(" mark {:#x}", mark);
  if (tos != 0) text += fmt::format(" tos {:#x}", tos);
  if (ipproto != 0) text += fmt::format(" ipproto {}", ipproto);
  if (sport != 0) text += fmt::format(" sport {}", sport);
  if (dport != 0) text += fmt::format(" dport {}", dport);
  if (flow_label != 0) text += fmt::format(" flowlabel {:#x}", flow_label);
  if (uid) text += fmt::format(" uid {}", *uid);
  return text;
}

std::optional<Query> parse_query(const std::string& text) {
  const auto words = words_of(text);
  if (words.empty()) return std::nullopt;
  Query query;
  const auto destination = net::Ipv6Address::parse(words[0]);
  if (!destination) return std::nullopt;
  query.destination = *destination;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string& word = words[i];
    const std::string& value = words[i + 1];
    if (word == "iif") {
      query.iif = value;
    } else if (word == "oif") {
      query.oif = value;
    } else if (word == "from") {
      query.source = net::Ipv6Address::parse(value);
    } else {
      const auto number = static_cast<std::uint32_t>(std::stoul(value, nullptr, 0));
      if (word == "mark") query.mark = number;
      if (word == "tos") query.tos = static_cast<std::uint8_t>(number);
      if (word == "ipproto") query.ipproto = static_cast<std::uint8_t>(number);
      if (word == "sport") query.sport = static_cast<std::uint16_t>(number);
      if (word == "dport") query.dport = static_cast<std::uint16_t>(number);
      if (word == "flowlabel") query.flow_label = number;
      if (word == "uid") query.uid = number;
    }
  }
  return query;
}

std::string QueryAnswer::to_string() const {
  if (error != 0) return fmt::format("error {} ({})", error, std::strerror(error));
  std::string text = fmt::format("{} from {} table {} type {} proto {} metric {} nhid {} [",
                                 destination.to_string(), source.to_string(), table, type, protocol,
                                 metric, nexthop_id);
  for (std::size_t i = 0; i < hops.size(); ++i) text += (i == 0 ? "" : "; ") + hop_text(hops[i]);
  return text + "], chosen " + hop_text(chosen);
}

RouteQuery::RouteQuery(const Namespace& router) : router_(router) {
  router.inside([this] {
    socket_ = mnl_socket_open(NETLINK_ROUTE);
    struct if_nameindex* all = if_nameindex();
    for (const auto* one = all; one != nullptr && one->if_index != 0; ++one)
      names_.emplace_back(one->if_index, one->if_name);
    if_freenameindex(all);
  });
  if (socket_ == nullptr || mnl_socket_bind(socket_, 0, MNL_SOCKET_AUTOPID) != 0) std::abort();
}

RouteQuery::~RouteQuery() { mnl_socket_close(socket_); }

unsigned RouteQuery::index_of(const std::string& device) {
  for (const auto& [index, name] : names_) {
    if (name == device) return index;
  }
  return 0x7fffffff;
}

std::string RouteQuery::name_of(unsigned index) {
  for (const auto& [known, name] : names_) {
    if (known == index) return name;
  }
  return fmt::format("if{}", index);
}

std::vector<QueryHop> RouteQuery::read_hops(const void* attribute) {
  std::vector<QueryHop> hops;
  const auto* at =
      static_cast<const char*>(mnl_attr_get_payload(static_cast<const nlattr*>(attribute)));
  std::size_t left = mnl_attr_get_payload_len(static_cast<const nlattr*>(attribute));
  while (left >= sizeof(rtnexthop)) {
    const auto* next = reinterpret_cast<const rtnexthop*>(at);
    if (next->rtnh_len < sizeof(rtnexthop) || next->rtnh_len > left) break;
    QueryHop hop{.device = name_of(static_cast<unsigned>(next->rtnh_ifindex)),
                 .gateway = {},
                 .weight = static_cast<std::uint16_t>(next->rtnh_hops + 1)};
    for_each_attribute(static_cast<const void*>(at + sizeof(rtnexthop)),
                       next->rtnh_len - sizeof(rtnexthop), [&](const nlattr* inner) {
                         if (mnl_attr_get_type(inner) == RTA_GATEWAY)
                           hop.gateway = address_of(inner);
                       });
    hops.push_back(std::move(hop));
    const std::size_t step = (next->rtnh_len + 3U) & ~std::size_t{3};
    if (step >= left) break;
    at += step;
    left -= step;
  }
  return hops;
}

QueryAnswer RouteQuery::ask(const Query& query) {
  QueryAnswer answer;
  answer.error = request(query, true, answer);
  if (answer.error != 0) return answer;
  answer.error = request(query, false, answer);
  return answer;
}

int RouteQuery::request(const Query& query, bool fib_match, QueryAnswer& answer) {
  std::array<char, 16384> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = RTM_GETROUTE;
  header->nlmsg_flags = NLM_F_REQUEST;
  header->nlmsg_seq = ++sequence_;
  auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(rtmsg)));
  route->rtm_family = AF_INET6;
  route->rtm_dst_len = 128;
  route->rtm_tos = query.tos;
  route->rtm_flags = RTM_F_LOOKUP_TABLE | (fib_match ? RTM_F_FIB_MATCH : 0U);
  mnl_attr_put(header, RTA_DST, 16, query.destination.bytes.data());
  if (query.source) {
    route->rtm_src_len = 128;
    mnl_attr_put(header, RTA_SRC, 16, query.source->bytes.data());
  }
  if (!query.iif.empty()) mnl_attr_put_u32(header, RTA_IIF, index_of(query.iif));
  if (!query.oif.empty()) mnl_attr_put_u32(header, RTA_OIF, index_of(query.oif));
  if (query.mark != 0) mnl_attr_put_u32(header, RTA_MARK, query.mark);
  if (query.ipproto != 0) mnl_attr_put_u8(header, RTA_IP_PROTO, query.ipproto);
  if (query.sport != 0) mnl_attr_put_u16(header, RTA_SPORT, htons(query.sport));
  if (query.dport != 0) mnl_attr_put_u16(header, RTA_DPORT, htons(query.dport));
  if (query.flow_label != 0) mnl_attr_put_u32(header, kRtaFlowLabel, htonl(query.flow_label));
  if (query.uid) mnl_attr_put_u32(header, RTA_UID, *query.uid);
  if (mnl_socket_sendto(socket_, header, header->nlmsg_len) < 0) return errno;
  const ssize_t count = mnl_socket_recvfrom(socket_, buffer.data(), buffer.size());
  if (count < 0) return errno;
  const auto* reply = reinterpret_cast<const nlmsghdr*>(buffer.data());
  if (reply->nlmsg_type == NLMSG_ERROR) {
    return -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(reply))->error;
  }
  read_route(reply, fib_match, answer);
  return 0;
}

void RouteQuery::read_route(const void* message, bool fib_match, QueryAnswer& answer) {
  const auto* header = static_cast<const nlmsghdr*>(message);
  const auto* route = static_cast<const rtmsg*>(mnl_nlmsg_get_payload(header));
  QueryHop hop;
  std::vector<QueryHop> hops;
  net::Ipv6Address destination{};
  net::Ipv6Address source{};
  std::uint32_t table = route->rtm_table;
  std::uint32_t metric = 0;
  std::uint32_t nexthop_id = 0;
  for_each_attribute(header, sizeof(rtmsg), [&](const nlattr* attribute) {
    switch (mnl_attr_get_type(attribute)) {
      case RTA_DST:
        destination = address_of(attribute);
        break;
      case RTA_SRC:
        source = address_of(attribute);
        break;
      case RTA_TABLE:
        table = mnl_attr_get_u32(attribute);
        break;
      case RTA_PRIORITY:
        metric = mnl_attr_get_u32(attribute);
        break;
      case RTA_OIF:
        hop.device = name_of(mnl_attr_get_u32(attribute));
        break;
      case RTA_GATEWAY:
        hop.gateway = address_of(attribute);
        break;
      case RTA_PREFSRC:
        answer.preferred_source = address_of(attribute);
        break;
      case RTA_NH_ID:
        nexthop_id = mnl_attr_get_u32(attribute);
        break;
      case RTA_MULTIPATH:
        hops = read_hops(attribute);
        break;
      case RTA_METRICS:
        for_each_nested(attribute, [&](const nlattr* metric_attribute) {
          if (mnl_attr_get_type(metric_attribute) == RTAX_MTU)
            answer.mtu = mnl_attr_get_u32(metric_attribute);
        });
        break;
      default:
        break;
    }
  });
  if (!fib_match) {
    answer.chosen = hop;
    return;
  }
  answer.table = table;
  answer.destination = net::Prefix(destination, route->rtm_dst_len);
  answer.source = net::Prefix(source, route->rtm_src_len);
  answer.type = route->rtm_type;
  answer.protocol = route->rtm_protocol;
  answer.metric = metric;
  answer.nexthop_id = nexthop_id;
  answer.hops = hops.empty() ? std::vector<QueryHop>{hop} : std::move(hops);
}

}  // namespace sidestep::kernel
