import { expect, it } from "vitest";
import { alpha, NOW } from "../test/messages.ts";
import { HeartbeatSchema } from "./messages/peer.ts";
import { parseMessage } from "./parse-message.ts";

it.each([
  [
    "a member that breaks its rule",
    { relay_id: alpha.id, timestamp: -1 },
    /^timestamp .*0 or more$/,
  ],
  ["a list", [], /^must be an object$/],
  ["no object", "text", /^(?!null)/],
])("the refusal of %s names the fault", (_, value, detail) => {
  const read = parseMessage(HeartbeatSchema, value);
  expect(read).toMatchObject({ ok: false, code: "federation.malformed" });
  expect(read.ok ? "" : read.detail).toMatch(detail);
});

it("members that the message does not have are left out", () => {
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
