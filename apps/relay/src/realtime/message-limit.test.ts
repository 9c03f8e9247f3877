import { describe, expect, test } from "vitest";
import { createMessageLimit } from "./message-limit.ts";

describe("the limit of 100 messages in any 10 seconds", () => {
  test("the limit refuses the 101st message and 19 more in a row, and the next one ends the connection", () => {
    const mayTake = createMessageLimit(1);
    const said = Array.from({ length: 121 }, (_, i) => mayTake(i));
    expect(said.slice(0, 100).every((verdict) => verdict === "take")).toBe(true);
    expect(said.slice(100, 120).every((verdict) => verdict === "refuse")).toBe(true);
    expect(said[120]).toBe("close");
  });

  test("the limit counts each message for 10 seconds, not until a fixed moment", () => {
    const mayTake = createMessageLimit(1);
    for (let i = 0; i < 100; i++) mayTake(i < 50 ? 0 : 9_000);
    expect(mayTake(9_999)).toBe("refuse");
    const atTen = Array.from({ length: 51 }, () => mayTake(10_000));
    expect(atTen.filter((verdict) => verdict === "take")).toHaveLength(50);
    expect(atTen.at(-1)).toBe("refuse");
  });

  test("the limit does not close a sender that pauses in between, however often it is refused", () => {
    const mayTake = createMessageLimit(1);
    for (let window = 0; window < 10; window++) {
      const said = Array.from({ length: 119 }, () => mayTake(window * 10_000));
      expect(said).not.toContain("close");
    }
  });

  test.each([
    [0.5, 50],
    [2, 200],
  ])("an AGENT_RATE_LIMIT_SCALE of %d makes the limit %i messages", (scale, allowed) => {
    const mayTake = createMessageLimit(scale);
    const said = Array.from({ length: allowed + 1 }, () => mayTake(0));
    expect(said.indexOf("refuse")).toBe(allowed);
  });

  test("an AGENT_RATE_LIMIT_SCALE of 0 switches the limit off", () => {
    const mayTake = createMessageLimit(0);
    const said = Array.from({ length: 10_000 }, () => mayTake(0));
    expect(new Set(said)).toEqual(new Set(["take"]));
  });
});
