import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifyAgentIdKey } from "./keys/key-id.ts";

interface Case {
  readonly id: number;
  readonly agent_id: string;
  readonly public_key: string;
  readonly succession: object | readonly object[];
  readonly expect: "valid" | "invalid";
  readonly why: string;
}

const vectors = new URL("../../../vectors/own/agent-successions.jsonl", import.meta.url);
const cases = readFileSync(vectors, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

test.each(cases)("D1: vector $id of an id's succession is $expect: $why", (vector) => {
  const chain = [vector.succession].flat();
  const verified = verifyAgentIdKey(vector.agent_id, vector.public_key, chain);
  expect(verified.ok).toBe(vector.expect === "valid");
});

test("D1: the vectors of successions hold both kinds of cases", () => {
  expect(new Set(cases.map((vector) => vector.expect))).toEqual(new Set(["valid", "invalid"]));
});
