import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import {
  anonymousCaller,
  operatorCaller,
  type AgentCaller,
  type Caller,
} from "../identity/caller.ts";
import { createShownOffers } from "./shown-offers.ts";

const offerAt = (unit_cost: number, capability = "a") => ({
  capabilities: [capability],
  pricing: [{ capability, unit_cost }],
});
const agent = (agentId: string): AgentCaller => ({
  kind: "agent",
  agentId,
  deviceId: "d",
  tokenId: "t",
  scopes: new Set(),
  expiresAt: 0,
  hasEnded: () => false,
});
const by = (caller: Caller, address = "192.0.2.1") => ({ caller, clientIp: () => address });

describe("A12: the offers that cards have shown", () => {
  test("A12: an offer is stored for the caller, or for its address if it has no token", () => {
    const shown = createShownOffers();
    shown.record(by(agent("x")), "worker", offerAt(1));
    expect(shown.latest(by(agent("x"), "192.0.2.9"), "worker")).toEqual(offerAt(1));
    for (const other of [agent("y"), operatorCaller, anonymousCaller]) {
      expect(shown.latest(by(other), "worker")).toBeUndefined();
    }
    expect(shown.latest(by(agent("x")), "another")).toBeUndefined();
    shown.record(by(anonymousCaller), "worker", offerAt(2));
    expect(shown.latest(by(agent("y")), "worker")).toEqual(offerAt(2));
    expect(shown.latest(by(agent("y"), "192.0.2.2"), "worker")).toBeUndefined();
  });

  test("A12: an offer shown to the operator is stored for its token, not for its address", () => {
    const shown = createShownOffers();
    shown.record(by(operatorCaller), "worker", offerAt(1));
    expect(shown.latest(by(operatorCaller, "192.0.2.9"), "worker")).toEqual(offerAt(1));
    expect(shown.latest(by(anonymousCaller), "worker")).toBeUndefined();
  });

  test("A12: an offer shown to the caller takes precedence over those shown to its address", () => {
    const shown = createShownOffers();
    shown.record(by(anonymousCaller), "worker", offerAt(1));
    shown.record(by(agent("x")), "worker", offerAt(2));
    shown.record(by(anonymousCaller), "worker", offerAt(3));
    expect(shown.latest(by(agent("x")), "worker")).toEqual(offerAt(2));
    expect(shown.latest(by(agent("y")), "worker")).toEqual(offerAt(3));
  });

  test("A12: the size of a caller's offers is limited: the oldest are dropped, but never the newest one", () => {
    const shown = createShownOffers();
    const reader = by(agent("x"));
    const large = offerAt(1, "a".repeat(limits.cardReaderCharacters / 5));
    for (const name of ["one", "two", "three"]) shown.record(reader, name, large);
    expect(shown.latest(reader, "one")).toBeUndefined();
    expect(shown.latest(reader, "two")).toEqual(large);
    const huge = offerAt(1, "a".repeat(limits.cardReaderCharacters));
    shown.record(reader, "four", huge);
    expect(shown.latest(reader, "three")).toBeUndefined();
    expect(shown.latest(reader, "four")).toEqual(huge);
  });

  test("A12: an offer that is shown again counts as new among those of its agent and its caller", () => {
    const shown = createShownOffers();
    const reader = by(agent("x"));
    const large = offerAt(1, "a".repeat(limits.cardReaderCharacters / 5));
    for (const name of ["one", "two", "one", "three"]) shown.record(reader, name, large);
    expect(shown.latest(reader, "one")).toEqual(large);
    expect(shown.latest(reader, "two")).toBeUndefined();
    for (let i = 1; i < limits.cardReaders; i += 1) {
      shown.record(by(agent(`reader ${i}`)), "worker", offerAt(1));
    }
    shown.record(reader, "one", offerAt(2));
    shown.record(by(agent("last")), "worker", offerAt(1));
    expect(shown.latest(reader, "one")).toEqual(offerAt(2));
    expect(shown.latest(by(agent("reader 1")), "worker")).toBeUndefined();
  });

  test("A12: the number of callers is limited, and no caller displaces an offer of another", () => {
    const shown = createShownOffers();
    shown.record(by(agent("first")), "worker", offerAt(1));
    for (let i = 0; i < 2_000; i += 1) shown.record(by(agent("busy")), `agent ${i}`, offerAt(1));
    expect(shown.latest(by(agent("first")), "worker")).toEqual(offerAt(1));
    for (let i = 0; i < limits.cardReaders; i += 1) {
      shown.record(by(agent(`reader ${i}`)), "worker", offerAt(1));
    }
    expect(shown.latest(by(agent("first")), "worker")).toBeUndefined();
  });
});
