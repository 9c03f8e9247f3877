import { expect, test } from "vitest";
import { spreadByAgent } from "./spread-by-agent.ts";

test.each([
  ["of no agent", "", ""],
  ["of one agent", "a1 a2 a3", "a1 a2 a3"],
  ["of an agent behind those of another", "a1 a2 a3 b1", "a1 b1 a2 a3"],
  ["of three agents", "a1 a2 b1 a3 c1 b2", "a1 b1 c1 a2 b2 a3"],
])("the calls %s are spread so that each agent's first one comes first", (_, given, expected) => {
  const calls = given.split(" ").map((text) => ({ agent_id: text.slice(0, 1), text }));
  expect(
    spreadByAgent(calls)
      .map(({ text }) => text)
      .join(" "),
  ).toBe(expected);
});
