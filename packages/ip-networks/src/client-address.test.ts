import { expect, test } from "vitest";
import { createClientAddressFinder } from "./client-address.ts";
import { listCountedNetworks } from "./counted-networks.ts";

const proxies = ["10.0.0.0/8", "fd00::/8", "192.0.2.7"];

test.each<[string, readonly string[], string | undefined, string | undefined, string]>([
  ["no trusted proxy: the header counts for nothing", [], "203.0.113.9", "1.1.1.1", "203.0.113.9"],
  ["a socket that is not a proxy", proxies, "203.0.113.9", "1.1.1.1", "203.0.113.9"],
  ["a client that claims to be a proxy", proxies, "203.0.113.9", "10.1.2.3", "203.0.113.9"],
  ["a proxy without the header", proxies, "10.1.2.3", undefined, "10.1.2.3"],
  ["a proxy with one entry", proxies, "10.1.2.3", "198.51.100.4", "198.51.100.4"],
  ["a single trusted address", proxies, "192.0.2.7", "198.51.100.4", "198.51.100.4"],
  ["the neighbour of that address", proxies, "192.0.2.8", "198.51.100.4", "192.0.2.8"],
  [
    "what a client invents stands left",
    proxies,
    "10.1.2.3",
    "1.1.1.1, 198.51.100.4",
    "198.51.100.4",
  ],
  [
    "a client that invents a proxy behind itself",
    proxies,
    "10.1.2.3",
    "1.1.1.1, 10.9.9.9, 198.51.100.4",
    "198.51.100.4",
  ],
  ["a chain of proxies", proxies, "10.1.2.3", "198.51.100.4, 10.9.9.9,fd00::5", "198.51.100.4"],
  ["only proxies", proxies, "10.1.2.3", "10.5.5.5, 10.6.6.6", "10.1.2.3"],
  [
    "thousands of entries",
    proxies,
    "10.1.2.3",
    `${"1.1.1.1, ".repeat(5_000)}198.51.100.4`,
    "198.51.100.4",
  ],
  ["an unreadable entry", proxies, "10.1.2.3", "198.51.100.4, unknown", "10.1.2.3"],
  [
    "an unreadable entry further left",
    proxies,
    "10.1.2.3",
    "unknown, 198.51.100.4",
    "198.51.100.4",
  ],
  ["an empty entry", proxies, "10.1.2.3", "198.51.100.4,", "10.1.2.3"],
  ["an IPv4 address in another notation", proxies, "10.1.2.3", "198.51.100.04", "10.1.2.3"],
  ["an address that is too long", proxies, "10.1.2.3", "1:2:3:4:5:6:7:8:9", "10.1.2.3"],
  ["an empty header", proxies, "10.1.2.3", "", "10.1.2.3"],
  ["a port behind the address", proxies, "10.1.2.3", "198.51.100.4:4711", "198.51.100.4"],
  ["IPv6 in brackets with a port", proxies, "fd00::1", "[2001:DB8:0::1]:4711", "2001:db8::1"],
  ["a mapped proxy and a mapped client", proxies, "::ffff:10.1.2.3", "::ffff:1.2.3.4", "1.2.3.4"],
  ["a mapped client in hexadecimal", proxies, "10.1.2.3", "::FFFF:102:304", "1.2.3.4"],
  ["a mapped proxy in the chain", proxies, "10.1.2.3", "1.2.3.4, ::ffff:10.1.2.4", "1.2.3.4"],
  ["a mapped socket address", [], "::ffff:203.0.113.9", undefined, "203.0.113.9"],
  ["an address with a zone", [], "fe80::1%eth0", undefined, "fe80::1"],
  ["a socket that is closed already", proxies, undefined, "198.51.100.4", "unknown"],
])("the client behind %s is found", (_, trusted, socket, forwardedFor, expected) => {
  expect(createClientAddressFinder(trusted)(socket, forwardedFor)).toBe(expected);
});

test.each([
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff:ffff:ffff:ffff", true],
  ["2001:db8::1", "2001:db8:0:0:9::", true],
  ["::1", "::2", true],
  ["64:ff9b::1.2.3.4", "64:ff9b::5.6.7.8", true],
  ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
  ["2001:db8::1", "2001:db8:0:1::1", false],
  ["::ffff:192.0.2.1", "::ffff:192.0.2.2", false],
  ["192.0.2.1", "192.0.2.2", false],
])("H9: %s and %s are counted as one client: %s", (one, other, isSame) => {
  const find = createClientAddressFinder([]);
  const [first, second] = [one, other].map(
    (socket) => listCountedNetworks(find(socket, undefined))[0]?.name,
  );
  expect(first === second).toBe(isSame);
});

test("a client counts as the same although it changes its X-Forwarded-For with every request", () => {
  const direct = createClientAddressFinder([]);
  const behindProxy = createClientAddressFinder(proxies);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const forged = `198.51.100.${attempt}`;
    expect(direct("203.0.113.9", forged)).toBe("203.0.113.9");
    expect(behindProxy("10.0.0.1", `${forged}, 203.0.113.9`)).toBe("203.0.113.9");
  }
});
