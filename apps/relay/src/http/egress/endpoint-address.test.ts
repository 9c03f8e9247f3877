import { expect, test } from "vitest";
import {
  type AddressClass,
  classifyAddress,
  isLocalhost,
  isPublicHost,
} from "./endpoint-address.ts";

const addresses: Record<AddressClass, readonly string[]> = {
  never: [
    "169.254.169.254",
    "169.254.0.1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::a83f:8110",
    "2002:a9fe:a9fe::",
    "::ffff:0:a9fe:a9fe",
    "2001::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "255.255.255.255",
    "ff02::1",
    "not an address",
  ],
  private: [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::",
    "64:ff9b::1",
    "64:ff9b:1::1",
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "198.18.0.1",
    "fc00::1",
    "fdff::1",
    "fec0::1",
    "203.0.113.1",
    "2001:db8::1",
  ],
  public: [
    "1.1.1.1",
    "172.32.0.1",
    "100.128.0.1",
    "169.253.255.255",
    "64:ff9b::808:808",
    "64:ff9b::8.8.8.8",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
  ],
};

for (const [found, texts] of Object.entries(addresses)) {
  test.each(texts)(`%s is classified as ${found}`, (text) => {
    expect(classifyAddress(text)).toBe(found);
  });
}

test.each([
  ["relay.example", true],
  ["relay.example.", true],
  ["8.8.8.8", true],
  ["[2606:4700::1111]", true],
  ["localhost", false],
  ["a.localhost", false],
  ["relay", false],
  ["relay.local", false],
  ["relay.svc.internal", false],
  ["relay.internal.example", true],
  ["127.0.0.1", false],
  ["192.168.0.10", false],
  ["[::1]", false],
  ["169.254.1.1", false],
])("the host %s of a base URL is public: %s", (host, expected) => {
  expect(isPublicHost(host)).toBe(expected);
});

test.each([
  ["localhost", true],
  ["LocalHost.", true],
  ["a.localhost", true],
  ["notlocalhost", false],
  ["localhost.example", false],
])("the name %s means this machine: %s", (host, expected) => {
  expect(isLocalhost(host)).toBe(expected);
});
