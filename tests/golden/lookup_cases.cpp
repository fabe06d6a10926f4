// SPDX-License-Identifier: Apache-2.0
#include "golden/lookup_cases.hpp"

namespace sidestep::golden {

std::string lookup_lab() {
  return "sysctl -w net.ipv6.conf.all.forwarding=1\n"
         "link add name r-a address 02:00:00:00:00:0a type dummy\n"
         "link add name r-b address 02:00:00:00:00:0b type dummy\n"
         "link set r-a up\n"
         "link set r-b up\n"
         "address add 2001:db8:a::1/64 dev r-a\n"
         "address add 2001:db8:b::1/64 dev r-b\n";
}

const std::vector<LookupCase>& lookup_cases() {
  static const std::vector<LookupCase> cases = {
      {"SourceSpecificRoutesHideThePlainOne",
       "A prefix with source-specific routes is passed over for other sources, its own plain route "
       "included.",
       "route add 2001:db8:1::/48 via 2001:db8:b::3\n"
       "route add 2001:db8:1:1::/64 via 2001:db8:a::2\n"
       "route add 2001:db8:1:1::/64 from 2001:db8:5::/64 via 2001:db8:b::2\n",
       {{"2001:db8:1:1::1 from 2001:db8:5::1 iif r-a",
         "via 2001:db8:b::2 dev r-b 2001:db8:1:1::/64 from 2001:db8:5::/64 table 254"},
        {"2001:db8:1:1::1 from 2001:db8:6::1 iif r-a",
         "via 2001:db8:b::3 dev r-b 2001:db8:1::/48 table 254"},
        {"2001:db8:1:1::1", "via 2001:db8:b::3 dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"SourceSpecificRoutesWithNothingShorter",
       "The same without a shorter prefix: no route.",
       "route add 2001:db8:1:1::/64 via 2001:db8:a::2\n"
       "route add 2001:db8:1:1::/64 from 2001:db8:5::/64 via 2001:db8:b::2\n",
       {{"2001:db8:1:1::1 from 2001:db8:6::1 iif r-a", "ENETUNREACH"},
        {"2001:db8:1:1::1", "ENETUNREACH"}},
       {}},
      {"SourceSpecificDefaultLeavesThePlainDefault",
       "At ::/0 both kinds of routes work as people expect.",
       "route add default via 2001:db8:a::2\n"
       "route add default from 2001:db8:5::/64 via 2001:db8:b::2\n",
       {{"2001:db8:1::1 from 2001:db8:5::1 iif r-a",
         "via 2001:db8:b::2 dev r-b ::/0 from 2001:db8:5::/64 table 254"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "via 2001:db8:a::2 dev r-a ::/0 table 254"}},
       {}},
      {"EqualDeviceRoutesPreferTheIngressDevice",
       "Among equal routes without gateway the one through the ingress device wins; without one "
       "the first.",
       "route add 2001:db8:1::/48 dev r-b\n"
       "route append 2001:db8:1::/48 dev r-a\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "dev r-a 2001:db8:1::/48 table 254"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "dev r-b 2001:db8:1::/48 table 254"},
        {"2001:db8:1::1", "dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"OutputDeviceIsStrictOnlyWithoutSource",
       "Without a source the output device must match; with one it is only a preference.",
       "route add 2001:db8:1::/48 dev r-b metric 10\n"
       "route add 2001:db8:1::/48 dev r-a metric 20\n",
       {{"2001:db8:1::1 oif r-a", "dev r-a 2001:db8:1::/48 table 254"},
        {"2001:db8:1::1 from 2001:db8:a::1 oif r-a", "dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"UnreachableBesideARouteWins",
       "The first of equal score is used, and an unreachable route is usable.",
       "route add unreachable 2001:db8:1::/48\n"
       "route append 2001:db8:1::/48 via 2001:db8:b::2\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "EHOSTUNREACH"}},
       {}},
      {"SuppressedDefaultContinues",
       "A default in table 100 is suppressed and the walk continues.",
       "route add default via 2001:db8:b::2 table 100\n"
       "route add 2001:db8:2::/48 via 2001:db8:b::3 table 100\n"
       "route add default via 2001:db8:a::2\n"
       "rule add pref 10 lookup 100 suppress_prefixlength 0\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "via 2001:db8:a::2 dev r-a ::/0 table 254"},
        {"2001:db8:2::1 from 2001:db8:6::1 iif r-b",
         "via 2001:db8:b::3 dev r-b 2001:db8:2::/48 table 100"}},
       {}},
      {"SuppressedByTheLastRuleIsUnreachable",
       "As the last rule: unreachable, not the suppressed route.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 40000 lookup 100 suppress_prefixlength 0\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "ENETUNREACH"}},
       {}},
      {"SuppressByGroupOfDevices",
       "A result whose device is in the group is rejected.",
       "link set r-b group 7\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2 table 100\n"
       "route add 2001:db8:2::/48 via 2001:db8:a::2 table 100\n"
       "rule add pref 10 lookup 100 suppress_ifgroup 7\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "ENETUNREACH"},
        {"2001:db8:2::1 from 2001:db8:6::1 iif r-b",
         "via 2001:db8:a::2 dev r-a 2001:db8:2::/48 table 100"}},
       {}},
      {"ThrowContinuesAndUnreachableStops",
       "A throw route yields to the next rule, an unreachable one ends the walk.",
       "route add throw 2001:db8:1::/48 table 100\n"
       "route add unreachable 2001:db8:2::/48 table 100\n"
       "route add prohibit 2001:db8:3::/48 table 100\n"
       "route add blackhole 2001:db8:4::/48 table 100\n"
       "route add default via 2001:db8:a::2\n"
       "rule add pref 10 lookup 100\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "via 2001:db8:a::2 dev r-a ::/0 table 254"},
        {"2001:db8:2::1 from 2001:db8:6::1 iif r-b", "EHOSTUNREACH"},
        {"2001:db8:3::1 from 2001:db8:6::1 iif r-b", "EACCES"},
        {"2001:db8:4::1 from 2001:db8:6::1 iif r-b", "EINVAL"}},
       {}},
      {"RuleActionsAndTheirErrors",
       "An unreachable rule says ENETUNREACH where an unreachable route says EHOSTUNREACH.",
       "rule add pref 10 to 2001:db8:1::/48 unreachable\n"
       "rule add pref 11 to 2001:db8:2::/48 prohibit\n"
       "rule add pref 12 to 2001:db8:3::/48 blackhole\n"
       "route add unreachable 2001:db8:4::/48\n",
       {{"2001:db8:1::1", "ENETUNREACH"},
        {"2001:db8:2::1", "EACCES"},
        {"2001:db8:3::1", "EINVAL"},
        {"2001:db8:4::1", "EHOSTUNREACH"}},
       {}},
      {"NotFromMatchesWithoutSource",
       "Without a source `from` does not match, so `not from` does.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 not from 2001:db8:5::/48 lookup 100\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 from 2001:db8:5::1 iif r-a", "ENETUNREACH"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "via 2001:db8:b::2 dev r-b ::/0 table 100"}},
       {}},
      {"RuleDeletionTakesEffectWithTheFirstAddedRule",
       "Until a rule was added the walk is hard-wired: local, then main.",
       "rule del pref 32766\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"RuleDeletionAfterARuleWasAdded",
       "After any rule was added, main is not looked at any more.",
       "rule del pref 32766\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2\n"
       "rule add pref 10 fwmark 5 lookup 100\n",
       {{"2001:db8:1::1", "ENETUNREACH"}},
       {}},
      {"UidOfForwardedAndAskedPackets",
       "A control-plane question about an ingress device has no user at all.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 uidrange 0-0 lookup 100\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 uid 7", "ENETUNREACH"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "ENETUNREACH"}},
       {}},
      {"PortsAndProtocols",
       "Selectors on protocol and ports.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 ipproto udp dport 2000-2300 lookup 100\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a ipproto 17 dport 2300",
         "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-a ipproto 17 dport 2301", "ENETUNREACH"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-a ipproto 6 dport 2000", "ENETUNREACH"}},
       {}},
      {"TosWithoutEcn",
       "The flow's ECN bits are ignored.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 tos 0x10 lookup 100\n",
       {{"2001:db8:1::1 tos 0x12", "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 tos 0x14", "ENETUNREACH"}},
       {}},
      {"DscpCanSelectZero",
       "`dscp 0` selects packets without a class, which `tos 0` cannot.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 dscp 0 lookup 100\n",
       {{"2001:db8:1::1 tos 0x03", "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 tos 0x04", "ENETUNREACH"}},
       {}},
      {"FlowLabelWithMask",
       "A flow label under a mask.",
       "route add default via 2001:db8:b::2 table 100\n"
       "rule add pref 10 flowlabel 0x5/0xf lookup 100\n",
       {{"2001:db8:1::1 flowlabel 0x15", "via 2001:db8:b::2 dev r-b ::/0 table 100"},
        {"2001:db8:1::1 flowlabel 0x16", "ENETUNREACH"}},
       {}},
      {"GotoAndItsTarget",
       "goto passes over rules; a target that is not there is skipped; backward is refused.",
       "route add default via 2001:db8:b::2 table 100\n"
       "route add default via 2001:db8:a::2 table 101\n"
       "rule add pref 10 to 2001:db8:1::/48 goto 30\n"
       "rule add pref 11 to 2001:db8:2::/48 goto 31\n"
       "rule add pref 20 lookup 100\n"
       "rule add pref 30 lookup 101\n"
       "rule add pref 40 goto 40\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "via 2001:db8:a::2 dev r-a ::/0 table 101"},
        {"2001:db8:2::1 from 2001:db8:6::1 iif r-a", "via 2001:db8:b::2 dev r-b ::/0 table 100"}},
       {{"rule add pref 40 goto 40", "EINVAL"}}},
      {"UnicastThroughLoIsARejectInDisguise",
       "Asking succeeds although packets get an error.",
       "route add 2001:db8:1::/48 dev lo\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "dev lo 2001:db8:1::/48 table 254"}},
       {}},
      {"MulticastTypeOnAUnicastPrefix",
       "A route of type multicast is found like any other.",
       "route add multicast 2001:db8:93::/64 dev r-b\n",
       {{"2001:db8:93::1 from 2001:db8:6::1 iif r-a", "dev r-b 2001:db8:93::/64 table 254"}},
       {}},
      {"ReplaceTakesTheFirstOfItsKind",
       "Replacing by a route without gateway replaces the first without gateway, not the first.",
       "route add 2001:db8:1::/48 via 2001:db8:b::9\n"
       "route append 2001:db8:1::/48 dev r-a\n"
       "route append 2001:db8:1::/48 dev r-b\n"
       "route replace 2001:db8:1::/48 dev r-a mtu 1400\n"
       "route del 2001:db8:1::/48 via 2001:db8:b::9\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a", "dev r-a 2001:db8:1::/48 table 254"},
        {"2001:db8:1::1 from 2001:db8:6::1 iif r-b", "dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"DeleteWithoutMetricTakesTheLowest",
       "The lowest metric goes, with its whole ring.",
       "route add 2001:db8:1::/48 metric 10 nexthop via 2001:db8:a::2 nexthop via 2001:db8:b::2\n"
       "route add 2001:db8:1::/48 metric 20 via 2001:db8:b::3\n"
       "route del 2001:db8:1::/48\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a",
         "via 2001:db8:b::3 dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"AddAppendReplaceChange",
       "What add, append, replace and change do beside routes of the same metric.",
       "route add 2001:db8:1::/48 via 2001:db8:a::2\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2\n"
       "route append 2001:db8:1::/48 via 2001:db8:a::2\n"
       "route change 2001:db8:2::/48 via 2001:db8:b::2\n"
       "route replace 2001:db8:1::/48 nexthop via 2001:db8:b::4 nexthop via 2001:db8:b::5\n"
       "route replace 2001:db8:1::/48 via 2001:db8:b::6\n",
       {{"2001:db8:1::1 from 2001:db8:6::1 iif r-a",
         "via 2001:db8:b::6 dev r-b 2001:db8:1::/48 table 254"}},
       {{"route add 2001:db8:1::/48 via 2001:db8:b::2", "EEXIST"},
        {"route append 2001:db8:1::/48 via 2001:db8:a::2", "EEXIST"},
        {"route change 2001:db8:2::/48 via 2001:db8:b::2", "ENOENT"}}},
      {"GatewaysThatAreRefused",
       "Link-local without a device, one's own address, off-link, through another gateway.",
       "route add 2001:db8:1::/48 via fe80::1\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::1\n"
       "route add 2001:db8:1::/48 via 2001:db8:77::1\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::2 dev r-b\n"
       "route add 2001:db8:2::/48 via 2001:db8:a::2\n"
       "route add 2001:db8:1::/48 via 2001:db8:2::2\n"
       "route add 2001:db8:1::/48 via 2001:db8:77::1 dev r-b onlink\n",
       {{"2001:db8:1::1", "via 2001:db8:77::1 dev r-b 2001:db8:1::/48 table 254"}},
       {{"route add 2001:db8:1::/48 via fe80::1", "EINVAL"},
        {"route add 2001:db8:1::/48 via 2001:db8:a::1", "EINVAL"},
        {"route add 2001:db8:1::/48 via 2001:db8:77::1", "EHOSTUNREACH"},
        {"route add 2001:db8:1::/48 via 2001:db8:a::2 dev r-b", "EHOSTUNREACH"},
        {"route add 2001:db8:1::/48 via 2001:db8:2::2", "EHOSTUNREACH"}}},
      {"LinkLocalIsStrictToTheIngressDevice",
       "A link-local destination is looked up on the link it came by.",
       "",
       {{"fe80::77 from fe80::2 iif r-a", "dev r-a fe80::/64 table 254"},
        {"fe80::77 from fe80::2 iif r-b", "dev r-b fe80::/64 table 254"}},
       {}},
      {"SubnetAnycastOfARouter",
       "The subnet anycast addresses are local while the device forwards.",
       "",
       {{"2001:db8:a:: from 2001:db8:a::2 iif r-a", "dev lo 2001:db8:a::/128 table 255"},
        {"fe80:: from fe80::2 iif r-a", "dev lo fe80::/128 table 255"}},
       {}},
      {"NoSubnetAnycastOfAHost",
       "When the device stops forwarding they are gone.",
       "sysctl -w net.ipv6.conf.r-a.forwarding=0\n",
       {{"2001:db8:a:: from 2001:db8:a::2 iif r-a", "dev r-a 2001:db8:a::/64 table 254"}},
       {}},
      {"AdminDownTakesRoutesAndAddresses",
       "Routes through a device that goes down are deleted for good; ring members only sleep.",
       "route add 2001:db8:1::/48 via 2001:db8:b::2\n"
       "route add 2001:db8:2::/48 nexthop via 2001:db8:a::2 nexthop via 2001:db8:b::2\n"
       "link set r-b down\n"
       "link set r-b up\n",
       {{"2001:db8:1::1", "ENETUNREACH"}, {"2001:db8:b::1", "ENETUNREACH"}},
       {}},
      {"CarrierLossIsIgnoredByDefault",
       "A route without carrier is still used, unless the device says otherwise.",
       "route add 2001:db8:1::/48 via 2001:db8:b::2 metric 10\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::2 metric 20\n"
       "link set r-b carrier off\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"CarrierLossHeeded",
       "With ignore_routes_with_linkdown the next metric is used.",
       "sysctl -w net.ipv6.conf.r-b.ignore_routes_with_linkdown=1\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2 metric 10\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::2 metric 20\n"
       "link set r-b carrier off\n",
       {{"2001:db8:1::1", "via 2001:db8:a::2 dev r-a 2001:db8:1::/48 table 254"}},
       {}},
      {"HostAvoidsFailedNeighbors",
       "A host passes over a gateway that does not answer, a router does not.",
       "neigh add 2001:db8:b::2 lladdr 02:00:00:00:0b:02 dev r-b nud failed\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2 metric 10\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::2 metric 20\n"
       "sysctl -w net.ipv6.conf.all.forwarding=0\n",
       {{"2001:db8:1::1", "via 2001:db8:a::2 dev r-a 2001:db8:1::/48 table 254"}},
       {}},
      {"RouterKeepsFailedNeighbors",
       "The same as a router.",
       "neigh add 2001:db8:b::2 lladdr 02:00:00:00:0b:02 dev r-b nud failed\n"
       "route add 2001:db8:1::/48 via 2001:db8:b::2 metric 10\n"
       "route add 2001:db8:1::/48 via 2001:db8:a::2 metric 20\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254"}},
       {}},
      {"NexthopObjectWithSource",
       "Nexthop objects and source-specific routes do not go together.",
       "nexthop add id 1 via 2001:db8:b::2 dev r-b\n"
       "route add 2001:db8:1::/48 from 2001:db8:5::/64 nhid 1\n"
       "route add 2001:db8:1::/48 nhid 1\n",
       {{"2001:db8:1::1", "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254"}},
       {{"route add 2001:db8:1::/48 from 2001:db8:5::/64 nhid 1", "EINVAL"}}},
      {"NexthopDeletionTakesItsRoutes",
       "The routes of a nexthop object die with it.",
       "nexthop add id 1 via 2001:db8:b::2 dev r-b\n"
       "route add 2001:db8:1::/48 nhid 1\n"
       "nexthop del id 1\n",
       {{"2001:db8:1::1", "ENETUNREACH"}},
       {}},
      {"BlackholeNexthopObject",
       "A blackhole object makes the route a blackhole.",
       "nexthop add id 1 blackhole\n"
       "route add 2001:db8:1::/48 nhid 1\n",
       {{"2001:db8:1::1", "EINVAL"}},
       {}},
      {"UserLocalPrefix",
       "A whole prefix may be local.",
       "route add local 2001:db8:1::/48 dev lo\n",
       {{"2001:db8:1::77 from 2001:db8:6::1 iif r-a", "dev lo 2001:db8:1::/48 table 255"}},
       {}},
  };
  return cases;
}

}  // namespace sidestep::golden
