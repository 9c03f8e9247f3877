import { describe, expect, test } from "vitest";
import { describeBrowser, normalizeCode, takePairingCode } from "./take-pairing-code.ts";

describe("the code of a pairing link", () => {
  test("OB1: the code of a pairing link is removed from the address before anything else happens", () => {
    const addresses: string[] = [];
    const place = { hash: "#pair=abc-234", pathname: "/console/me", search: "" };
    expect(takePairingCode(place, (address) => addresses.push(address))).toBe("ABC234");
    expect(addresses).toEqual(["/console/me"]);
  });

  test("a damaged code is removed from the address too, and other fragments remain", () => {
    const addresses: string[] = [];
    const take = (hash: string) =>
      takePairingCode({ hash, pathname: "/console/me", search: "" }, (to) => addresses.push(to));
    expect(take("#pair=<b>")).toBeUndefined();
    expect(addresses).toHaveLength(1);
    expect(take("#/account")).toBeUndefined();
    expect(addresses).toHaveLength(1);
  });

  test.each([
    ["abc 234", "ABC234"],
    ["ABC234\n", "ABC234"],
    ["ABC23", undefined],
    ["ABC230", undefined],
    ["", undefined],
  ])("the code is read from %j as %j", (text, code) => {
    expect(normalizeCode(text)).toBe(code);
  });
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36", "Chrome on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0) Chrome/156.0 Safari/537.36 Edg/156.0", "Edge on Windows"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) Safari/604.1", "Safari on iPhone"],
  ["curl", "A browser"],
])("the browser %s is called %s", (userAgent, name) => {
  expect(describeBrowser(userAgent)).toBe(name);
});
