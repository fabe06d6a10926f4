#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes backbone.pcap: what R1 sends to R2's interface `west`, one packet for each thing a router can do.

    python3 make_backbone.py backbone.pcap

The same bytes come out each time, so a test compares them with the file that ships.
"""

import socket
import struct
import sys

R1_MAC = bytes.fromhex("020000000102")
WEST_MAC = bytes.fromhex("020000000201")
FIRST_SECOND = 1_700_000_000

ROUTING = 43
IPV6 = 41
UDP = 17
ICMPV6 = 58


def address(text):
    return socket.inet_pton(socket.AF_INET6, text)


def checksum(source, destination, next_header, payload):
    """The upper-layer checksum over the pseudo-header of RFC 8200, section 8.1."""
    summed = address(source) + address(destination)
    summed += struct.pack("!II", len(payload), next_header) + payload
    if len(summed) % 2:
        summed += b"\0"
    total = sum(struct.unpack(f"!{len(summed) // 2}H", summed))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF) or 0xFFFF


def ipv6(source, destination, next_header, payload, hop_limit=64):
    header = struct.pack("!IHBB", 6 << 28, len(payload), next_header, hop_limit)
    return header + address(source) + address(destination) + payload


def udp(source, destination, size=32, port=4000, hop_limit=64):
    text = (b"one step at a time, " * (size // 20 + 1))[:size]
    header = struct.pack("!HHHH", 49152, port, 8 + size, 0)
    value = checksum(source, destination, UDP, header + text)
    header = struct.pack("!HHHH", 49152, port, 8 + size, value)
    return ipv6(source, destination, UDP, header + text, hop_limit)


def echo_request(source, destination, sequence):
    body = struct.pack("!BBHHH", 128, 0, 0, 0x51DE, sequence) + bytes(range(32))
    value = checksum(source, destination, ICMPV6, body)
    return ipv6(source, destination, ICMPV6, body[:2] + struct.pack("!H", value) + body[4:])


def srv6(source, destination, segments_left, segment_list, inner):
    """An SRH (RFC 8754, section 2) around a packet; segment_list[0] is the last segment of the path."""
    last_entry = len(segment_list) - 1
    srh = struct.pack("!BBBBBBH", IPV6, 2 * len(segment_list), 4, segments_left, last_entry, 0, 0)
    srh += b"".join(address(segment) for segment in segment_list)
    return ipv6(source, destination, ROUTING, srh + inner)


def packets():
    r1, r2, r3 = "a:b:c:1::1", "a:b:c:2::1", "a:b:c:3::1"
    sid, last_segment = "a:b:c:2::f1:0", "a:b:c:3::d6"
    customer = udp("2001:db8:a::10", "2001:db8:b::20")
    path = [last_segment, sid]

    yield srv6(r1, sid, 1, path, customer)  # 1: End, then forwarded to R3
    yield udp(r1, r3)  # 2: plain forwarding
    yield udp(r1, r3, hop_limit=1)  # 3: time exceeded, as traceroute causes it
    yield echo_request(r1, r2, 1)  # 4: ping of the router
    yield udp(r1, r2)  # 5: for the router itself
    yield udp(r1, r3, size=1452)  # 6: 1500 bytes do not fit the leased line
    yield udp(r1, "2001:db8:cafe::1")  # 7: no route
    yield udp(r1, "2001:db8:bad::1")  # 8: blackhole
    yield udp(r1, "a:b:c:23::77")  # 9: on the link to R3, but nobody's address
    yield srv6(r1, sid, 0, path, customer)  # 10: the path ends at a SID that is not its end
    yield srv6(r1, sid, 1, path, customer)  # 11: and the backbone goes on


def main():
    with open(sys.argv[1], "wb") as capture:
        capture.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for index, packet in enumerate(packets()):
            frame = WEST_MAC + R1_MAC + struct.pack("!H", 0x86DD) + packet
            capture.write(struct.pack("<IIII", FIRST_SECOND + index, 0, len(frame), len(frame)))
            capture.write(frame)


if __name__ == "__main__":
    main()
