import { expect, test } from "vitest";
import { owner } from "../caller.ts";
import { hashedNgramEmbedder } from "../memory/hashed-ngram-embedder.ts";
import { openMemory } from "../memory/open-memory.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import type { CallAnswer } from "../tools/calling/call-tool.ts";
import { createUsageCounter } from "./usage-counter.ts";

const { signal } = new AbortController();
const failure = (kind: "unknown" | "invalid" | "denied" | "aborted" | "failed"): CallAnswer => ({
  ok: false,
  kind,
  error: "",
});

test.each<[string, CallAnswer, { total: number; succeeded: number }, number]>([
  ["that answered counts as a success", { ok: true, data: "" }, { total: 1, succeeded: 1 }, 1],
  ["that failed counts as a failure", failure("failed"), { total: 1, succeeded: 0 }, 1],
  ["that was too slow counts as a failure", failure("aborted"), { total: 1, succeeded: 0 }, 1],
  ["that the policy stopped does not count", failure("denied"), { total: 0, succeeded: 0 }, 0],
  ["with wrong arguments does not count", failure("invalid"), { total: 0, succeeded: 0 }, 0],
  ["of an unknown tool does not count", failure("unknown"), { total: 0, succeeded: 0 }, 0],
])("a tool call %s", async (_, answer, toolCalls, toolsUsed) => {
  const tally = createUsageCounter();
  const call = tally.countToolCalls(async () => answer);
  expect(await call("tool", {}, { signal, caller: owner })).toBe(answer);
  expect(tally.counts()).toMatchObject({ toolCalls, toolsUsed });
});

test("a recall succeeds when it finds a related memory", async () => {
  const tally = createUsageCounter();
  const runtime = createSystemRuntime(silentLog);
  const opened = openMemory({ path: ":memory:", embedder: hashedNgramEmbedder, runtime });
  if (!opened.ok) throw new Error(opened.fault);
  const memory = tally.countRecalls(opened.memory);
  const caller = "owner";
  await memory.remember({ caller, content: "the sky is blue", type: "semantic" }, signal);
  await memory.recall("the sky is blue", { caller }, signal);
  await memory.recall("9 8 7", { caller }, signal);
  const { recalls, recalled } = tally.counts();
  expect(recalls).toEqual({ total: 2, succeeded: 1 });
  expect(recalled.items).toBe(1);
  expect(recalled.confidence).toBeGreaterThan(0);
  memory.close();
});
