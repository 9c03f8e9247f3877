import type { CallRefusal } from "@agent/client";
import { expect, test } from "vitest";
import { createFastRuntime } from "../../testing/agents/fast-runtime.ts";
import { createReleaseClaim } from "./release-claim.ts";

type Client = NonNullable<ReturnType<Parameters<typeof createReleaseClaim>[0]["client"]>>;

/** Releases a claim at a relay that refuses like this each time; returns how often it was asked. */
async function countAttempts(refusal: Pick<CallRefusal, "code" | "status">): Promise<number> {
  let asked = 0;
  const client = {
    getTask: async () => ({ ok: true, body: { task: { agent_id: "target" } } }),
    releaseClaim: async () => {
      asked += 1;
      return { ok: false, message: "", ...refusal };
    },
  } as unknown as Client;
  const runtime = createFastRuntime();
  await createReleaseClaim({ agentId: "me", client: () => client, runtime })("task");
  return asked;
}

test.each([
  ["rate.exceeded", 429, 3],
  ["server.unavailable", 503, 3],
  ["network.unreachable", 0, 3],
  ["task.not_claimed", 409, 1],
])("E9: a release refused with %s and status %i is sent %i times", async (code, status, times) => {
  expect(await countAttempts({ code, status })).toBe(times);
});
