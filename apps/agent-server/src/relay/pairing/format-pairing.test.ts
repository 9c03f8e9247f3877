import { describe, expect, test } from "vitest";
import {
  buildPairingLink,
  formatDeviceName,
  formatFingerprint,
  isSecurePage,
} from "./format-pairing.ts";

test("a fingerprint is shown in groups of four", () => {
  expect(formatFingerprint("0123456789abcdef")).toBe("0123 4567 89ab cdef");
});

test.each([
  ["a phone", '"a phone"'],
  ["a\u001B[2Jphone\r\nkey: 0000", '"a\u{FFFD}[2Jphone\u{FFFD}\u{FFFD}key: 0000"'],
  ["\u202Eenohp", '"\u{FFFD}enohp"'],
])("the name %j of a device is shown as %j", (name, shown) => {
  expect(formatDeviceName(name)).toBe(shown);
});

test("the link names the page, and the code in its fragment alone", () => {
  const link = new URL(buildPairingLink("https://relay.example/base/", "ABC234"));
  expect(link.pathname).toBe("/base/console/me");
  expect(link.search).toBe("");
  expect(link.hash).toBe("#pair=ABC234");
});

describe("the addresses on which a browser creates keys", () => {
  test.each([
    ["https://relay.example", true],
    ["http://127.0.0.1:3000", true],
    ["http://[::1]:3000", true],
    ["http://localhost:3000", true],
    ["http://relay.example", false],
    ["http://127.0.0.1.example", false],
    ["http://192.168.1.4:3000", false],
  ])("on a page of %s: %s", (url, isSecure) => {
    expect(isSecurePage(url)).toBe(isSecure);
  });
});
