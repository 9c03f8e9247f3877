import { expect, test } from "vitest";
import { owner } from "../caller.ts";
import { hashedNgrams } from "../memory/hashed-ngrams.ts";
import { openMemory } from "../memory/open-memory.ts";
import { silentLog } from "../log.ts";
import { systemRuntime } from "../runtime.ts";
import type { CallAnswer } from "../tools/call-tool.ts";
import { createTally } from "./tally.ts";

const { signal } = new AbortController();
const failure = (kind: "unknown" | "invalid" | "denied" | "aborted" | "failed"): CallAnswer => ({
  ok: false,
  kind,
  error: "",
});

test.each<[string, CallAnswer, { made: number; good: number }, number]>([
  ["that answered counts as good", { ok: true, data: "" }, { made: 1, good: 1 }, 1],
  ["that failed counts", failure("failed"), { made: 1, good: 0 }, 1],
  ["that was too slow counts", failure("aborted"), { made: 1, good: 0 }, 1],
  ["that the policy stopped does not count", failure("denied"), { made: 0, good: 0 }, 0],
  ["with wrong arguments does not count", failure("invalid"), { made: 0, good: 0 }, 0],
  ["of no tool does not count", failure("unknown"), { made: 0, good: 0 }, 0],
])("a tool call %s", async (_, answer, toolCalls, toolsUsed) => {
  const tally = createTally();
  const call = tally.callTool(async () => answer);
  expect(await call("tool", {}, { signal, caller: owner })).toBe(answer);
  expect(tally.counts()).toMatchObject({ toolCalls, toolsUsed });
});

test("a recall counts as good when something related was remembered", async () => {
  const tally = createTally();
  const runtime = systemRuntime(silentLog);
  const opened = openMemory({ path: ":memory:", embedder: hashedNgrams, runtime });
  if (!opened.ok) throw new Error(opened.fault);
  const memory = tally.memory(opened.memory);
  const caller = "owner";
  await memory.remember({ caller, content: "the sky is blue", type: "semantic" }, signal);
  await memory.recall("the sky is blue", { caller }, signal);
  await memory.recall("9 8 7", { caller }, signal);
  const { recalls, recalled } = tally.counts();
  expect(recalls).toEqual({ made: 2, good: 1 });
  expect(recalled.items).toBe(1);
  expect(recalled.confidence).toBeGreaterThan(0);
  memory.close();
});
