import { expect, it } from "vitest";
import { alpha, NOW } from "../test/messages.ts";
import { HeartbeatSchema } from "./messages/peer.ts";
import { parseMessage } from "./parse-message.ts";

it.each([
  ["a member that breaks its rule", { relay_id: alpha.id, timestamp: -1 }, /^timestamp has to be/],
  ["a list", [], /^has to be an object$/],
  ["no object", "text", /^(?!null)/],
])("A refusal of %s names what is wrong", (_, value, detail) => {
  const read = parseMessage(HeartbeatSchema, value);
  expect(read).toMatchObject({ ok: false, code: "federation.malformed" });
  expect(read.ok ? "" : read.detail).toMatch(detail);
});

it("Members that the message does not have are left out of what is read", () => {
  const heartbeat = {
    relay_id: alpha.id,
    timestamp: NOW,
    agent_count: 0,
    signature: "A".repeat(86),
  };
  expect(parseMessage(HeartbeatSchema, { ...heartbeat, prompt: "x" })).toEqual({
    ok: true,
    message: heartbeat,
  });
});
