// SPDX-License-Identifier: Apache-2.0
#include "kernel/raw_rule.hpp"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernel/kernel_router.hpp"

namespace sidestep::kernel {
namespace {

// Newer than the headers of Debian 12 (linux/fib_rules.h of 6.15).
constexpr std::uint16_t kFraDscp = 25;
constexpr std::uint16_t kFraFlowLabel = 26;
constexpr std::uint16_t kFraFlowLabelMask = 27;
constexpr std::uint16_t kFraDscpMask = 30;

struct Masked {
  std::uint32_t value = 0;
  std::uint32_t mask = 0;
  bool has_mask = false;
};

Masked masked(const std::string& word) {
  const auto slash = word.find('/');
  Masked result{.value = static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 0))};
  if (slash != std::string::npos) {
    result.mask = static_cast<std::uint32_t>(std::strtoul(word.c_str() + slash + 1, nullptr, 0));
    result.has_mask = true;
  }
  return result;
}

std::uint32_t number(const std::string& word) {
  return static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 0));
}

std::uint32_t table_number(const std::string& word) {
  if (word == "main") return RT_TABLE_MAIN;
  if (word == "local") return RT_TABLE_LOCAL;
  return number(word);
}

bool put_prefix(nlmsghdr* header, std::uint16_t attribute, const std::string& word,
                std::uint8_t& length) {
  if (word == "all" || word == "any" || word == "default") return true;
  const auto slash = word.find('/');
  in6_addr address{};
  if (inet_pton(AF_INET6, word.substr(0, slash).c_str(), &address) != 1) return false;
  length =
      slash == std::string::npos ? 128 : static_cast<std::uint8_t>(number(word.substr(slash + 1)));
  if (length != 0) mnl_attr_put(header, attribute, sizeof address, &address);
  return true;
}

std::uint8_t protocol_number(const std::string& word) {
  if (word == "tcp") return 6;
  if (word == "udp") return 17;
  if (word == "ipv6-icmp" || word == "icmpv6") return 58;
  return static_cast<std::uint8_t>(number(word));
}

fib_rule_port_range port_range(const std::string& word) {
  const auto dash = word.find('-');
  const auto first = static_cast<std::uint16_t>(number(word.substr(0, dash)));
  return {first, dash == std::string::npos
                     ? first
                     : static_cast<std::uint16_t>(number(word.substr(dash + 1)))};
}

/// Puts one selector or action; false when the word is unknown.
bool put_word(nlmsghdr* header, fib_rule_hdr* rule, const std::string& word,
              const std::string& value) {
  if (word == "pref" || word == "priority" || word == "preference" || word == "order") {
    mnl_attr_put_u32(header, FRA_PRIORITY, number(value));
  } else if (word == "from") {
    return put_prefix(header, FRA_SRC, value, rule->src_len);
  } else if (word == "to") {
    return put_prefix(header, FRA_DST, value, rule->dst_len);
  } else if (word == "iif") {
    mnl_attr_put_strz(header, FRA_IIFNAME, value.c_str());
  } else if (word == "oif") {
    mnl_attr_put_strz(header, FRA_OIFNAME, value.c_str());
  } else if (word == "fwmark") {
    const Masked mark = masked(value);
    mnl_attr_put_u32(header, FRA_FWMARK, mark.value);
    if (mark.has_mask) mnl_attr_put_u32(header, FRA_FWMASK, mark.mask);
  } else if (word == "dscp") {
    const Masked dscp = masked(value);
    mnl_attr_put_u8(header, kFraDscp, static_cast<std::uint8_t>(dscp.value));
    if (dscp.has_mask) mnl_attr_put_u8(header, kFraDscpMask, static_cast<std::uint8_t>(dscp.mask));
  } else if (word == "flowlabel") {
    const Masked label = masked(value);
    mnl_attr_put_u32(header, kFraFlowLabel, htonl(label.value));
    mnl_attr_put_u32(header, kFraFlowLabelMask, htonl(label.has_mask ? label.mask : 0xfffff));
  } else if (word == "ipproto") {
    mnl_attr_put_u8(header, FRA_IP_PROTO, protocol_number(value));
  } else if (word == "sport" || word == "dport") {
    const fib_rule_port_range range = port_range(value);
    mnl_attr_put(header, word == "sport" ? FRA_SPORT_RANGE : FRA_DPORT_RANGE, sizeof range, &range);
  } else if (word == "tos" || word == "dsfield") {
    rule->tos = static_cast<std::uint8_t>(number(value));
  } else if (word == "uidrange") {
    const auto dash = value.find('-');
    const fib_rule_uid_range range{
        number(value.substr(0, dash)),
        number(dash == std::string::npos ? value : value.substr(dash + 1))};
    mnl_attr_put(header, FRA_UID_RANGE, sizeof range, &range);
  } else if (word == "tun_id") {
    const std::uint32_t key[2] = {0, htonl(number(value))};
    mnl_attr_put(header, FRA_TUN_ID, sizeof key, key);
  } else if (word == "lookup" || word == "table") {
    mnl_attr_put_u32(header, FRA_TABLE, table_number(value));
    rule->action = FR_ACT_TO_TBL;
  } else if (word == "goto") {
    mnl_attr_put_u32(header, FRA_GOTO, number(value));
    rule->action = FR_ACT_GOTO;
  } else if (word == "suppress_prefixlength") {
    mnl_attr_put_u32(header, FRA_SUPPRESS_PREFIXLEN, number(value));
  } else if (word == "suppress_ifgroup") {
    mnl_attr_put_u32(header, FRA_SUPPRESS_IFGROUP, number(value));
  } else {
    return false;
  }
  return true;
}

/// Actions and modifiers that stand alone; false when the word is not one.
bool put_flag(fib_rule_hdr* rule, const std::string& word) {
  if (word == "not") {
    rule->flags |= FIB_RULE_INVERT;
  } else if (word == "unreachable") {
    rule->action = FR_ACT_UNREACHABLE;
  } else if (word == "prohibit") {
    rule->action = FR_ACT_PROHIBIT;
  } else if (word == "blackhole") {
    rule->action = FR_ACT_BLACKHOLE;
  } else if (word == "nop") {
    rule->action = FR_ACT_NOP;
  } else {
    return false;
  }
  return true;
}

}  // namespace

int apply_raw_rule(mnl_socket* socket, const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 2) return -1;
  const bool remove = abbreviates(words[1], "delete") || words[1] == "del";
  std::array<char, 4096> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = remove ? RTM_DELRULE : RTM_NEWRULE;
  header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK |
                                                   (remove ? 0 : NLM_F_CREATE | NLM_F_EXCL));
  header->nlmsg_seq = 7;
  auto* rule = static_cast<fib_rule_hdr*>(mnl_nlmsg_put_extra_header(header, sizeof(fib_rule_hdr)));
  rule->family = AF_INET6;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (put_flag(rule, words[i])) continue;
    if (i + 1 >= words.size() || !put_word(header, rule, words[i], words[i + 1])) return -1;
    ++i;
  }
  if (!remove && rule->action == 0) {  // what iproute2 does without an action
    mnl_attr_put_u32(header, FRA_TABLE, RT_TABLE_MAIN);
    rule->action = FR_ACT_TO_TBL;
  }
  if (mnl_socket_sendto(socket, header, header->nlmsg_len) < 0) return errno;
  const ssize_t count = mnl_socket_recvfrom(socket, buffer.data(), buffer.size());
  if (count < 0) return errno;
  const auto* answer = reinterpret_cast<const nlmsghdr*>(buffer.data());
  if (answer->nlmsg_type != NLMSG_ERROR) return -1;
  return -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(answer))->error;
}

}  // namespace sidestep::kernel
