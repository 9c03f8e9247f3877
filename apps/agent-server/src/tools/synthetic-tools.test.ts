import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import type { Executor } from "../execution/executor.ts";
import { createQueryAnswerer } from "../execution/executors/query-answerer.ts";
import { silentLog } from "../log.ts";
import { hashedNgramEmbedder } from "../memory/hashed-ngram-embedder.ts";
import { openMemory } from "../memory/open-memory.ts";
import { createTestGuard } from "../testing/tools/test-guard.ts";
import { createSystemRuntime } from "../runtime.ts";
import { agentCredentialsTool } from "./built-in/agent-credentials.ts";
import { agentQueryTool } from "./built-in/agent-query.ts";
import { agentRecallTool } from "./built-in/agent-recall.ts";
import { agentRememberTool } from "./built-in/agent-remember.ts";
import { agentServiceListingTool } from "./built-in/agent-service-listing.ts";
import { createToolCaller } from "./calling/call-tool.ts";
import { createRegistry } from "./registry.ts";

const runtime = createSystemRuntime(silentLog);
const alice: Caller = { kind: "agent", agentId: "alice", trust: "verified" };
const stranger: Caller = { kind: "agent", agentId: "stranger", trust: "first_contact" };
const listing = { capabilities: ["shout"], pricing: [] };

/** The tools as a caller reaches them, through the policy check. */
function newTools(model?: Executor) {
  const opened = openMemory({ path: ":memory:", embedder: hashedNgramEmbedder, runtime });
  if (!opened.ok) throw new Error(opened.fault);
  const { memory } = opened;
  const registry = createRegistry([
    agentQueryTool(createQueryAnswerer({ memory, model, runtime })),
    agentRememberTool(memory),
    agentRecallTool(memory),
    agentServiceListingTool(listing),
    agentCredentialsTool({
      present: async () => ({ ok: true, presentation: { type: ["VerifiablePresentation"] } }),
    }),
  ]);
  const callTool = createToolCaller({
    registry,
    guard: createTestGuard(),
    runtime,
  });
  const { signal } = new AbortController();
  return {
    memory,
    registry,
    call: (name: string, args: unknown, caller: Caller = owner) =>
      callTool(name, args, { signal, caller }),
    ask: async (name: string, args: unknown, caller: Caller = owner): Promise<unknown> => {
      const answer = await callTool(name, args, { signal, caller });
      if (!answer.ok) throw new Error(answer.error);
      return JSON.parse(answer.data);
    },
  };
}

/** Returns its prompt in capitals. */
const echo: Executor = {
  answersWithoutTools: true,
  execute: async ({ prompt }, { tools }) => ({
    status: "completed",
    result: `${tools.length} tools: ${prompt.toUpperCase()}`,
  }),
};

test("synthetic tools have the risks of the specification", () => {
  const risks = newTools().registry.definitions.map(({ name, risk }) => [name, risk]);
  expect(Object.fromEntries(risks)).toEqual({
    agent_query: 2,
    agent_remember: 2,
    agent_recall: 1,
    agent_service_listing: 0,
    agent_credentials: 0,
  });
});

describe("agent_remember", () => {
  test("agent_remember returns the id of the memory", async () => {
    const { ask } = newTools();
    const answer = await ask("agent_remember", { content: "The sky is blue" });
    expect(answer).toEqual({ node_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown });
  });

  test.each(["medical", "financial", "secret", "Personal", "none ", ""])(
    "agent_remember refuses the sensitivity %j, also from the owner, and stores nothing",
    async (sensitivity) => {
      const { call, memory } = newTools();
      const answer = await call("agent_remember", { content: "x", sensitivity });
      expect(answer).toMatchObject({ ok: false, kind: "failed" });
      expect(memory.count()).toBe(0);
    },
  );

  test.each([
    {},
    { content: "" },
    { content: 7 },
    { content: "\ud800" },
    { content: "x", sensitivity: 1 },
  ])("agent_remember refuses the arguments %j", async (args) => {
    expect(await newTools().call("agent_remember", args)).toMatchObject({ kind: "invalid" });
  });

  test("agent_remember stores nothing under a misspelled sensitivity, which would be shown to others", async () => {
    const { call, memory } = newTools();
    const answer = await call("agent_remember", { content: "x", sensitivty: "medical" });
    expect(answer).toMatchObject({
      kind: "invalid",
      error: expect.stringContaining("sensitivty: is not allowed") as unknown,
    });
    expect(memory.count()).toBe(0);
  });

  test("agent_remember needs an approval for an unknown agent", async () => {
    const { call, memory } = newTools();
    const answer = await call("agent_remember", { content: "x" }, stranger);
    expect(answer).toMatchObject({ ok: false, kind: "denied" });
    expect(memory.count()).toBe(0);
  });
});

describe("agent_recall", () => {
  test("agent_recall returns the caller's memories that are not sensitive", async () => {
    const { ask } = newTools();
    await ask("agent_remember", { content: "The sky is blue" }, alice);
    await ask("agent_remember", { content: "The sky of alice", sensitivity: "personal" }, alice);
    expect(await ask("agent_recall", { query: "sky" }, alice)).toMatchObject([
      { content: "The sky is blue", memory_type: "semantic", half_life_days: 30 },
    ]);
    expect(await ask("agent_recall", { query: "sky" })).toEqual([]);
  });

  test.each([1, 2])("agent_recall returns at most the requested %i items", async (limit) => {
    const { ask } = newTools();
    for (const n of [1, 2, 3]) await ask("agent_remember", { content: `note ${n}` });
    expect(await ask("agent_recall", { query: "note", limit })).toHaveLength(limit);
  });

  test.each([
    {},
    { query: "" },
    { query: "x", limit: 0 },
    { query: "x", limit: 101 },
    { query: "x", limit: 1.5 },
    { query: "x", limit: "3" },
  ])("agent_recall refuses the arguments %j", async (args) => {
    expect(await newTools().call("agent_recall", args)).toMatchObject({ kind: "invalid" });
  });
});

describe("agent_query without a model", () => {
  test("agent_query without a model answers from the caller's memories and stores none", async () => {
    const { ask, memory } = newTools();
    await ask("agent_remember", { content: "The capital of France is Paris" });
    expect(await ask("agent_query", { message: "What is the capital of France?" })).toEqual({
      response: "The capital of France is Paris",
      memories_formed: 0,
    });
    expect(memory.count()).toBe(1);
  });

  test("agent_query without a model states that no memory is related", async () => {
    const { ask } = newTools();
    await ask("agent_remember", { content: "The capital of France is Paris" });
    const message = "What does the user like to eat in the morning?";
    expect(await ask("agent_recall", { query: message })).toHaveLength(1);
    expect(await ask("agent_query", { message })).toMatchObject({
      response: "I remember nothing about this.",
    });
  });

  test("agent_query without a model uses no memories of other callers", async () => {
    const { ask } = newTools();
    await ask("agent_remember", { content: "The capital of France is Paris" }, alice);
    expect(await ask("agent_query", { message: "What is the capital of France?" })).toEqual({
      response: "I remember nothing about this.",
      memories_formed: 0,
    });
  });
});

describe("agent_query with a model", () => {
  test("agent_query gives the model no tools and stores the exchange for the caller", async () => {
    const { ask } = newTools(echo);
    expect(await ask("agent_query", { message: "hello there" }, alice)).toEqual({
      response: "0 tools: HELLO THERE",
      memories_formed: 1,
    });
    expect(await ask("agent_recall", { query: "hello there" }, alice)).toMatchObject([
      { content: "Asked: hello there\nAnswered: 0 tools: HELLO THERE", memory_type: "episodic" },
    ]);
    expect(await ask("agent_recall", { query: "hello there" })).toEqual([]);
  });

  test("agent_query passes the caller's memories that are not sensitive to the model", async () => {
    const { ask } = newTools(echo);
    await ask("agent_remember", { content: "my cat is Tom" }, alice);
    await ask("agent_remember", { content: "my cat is ill", sensitivity: "personal" }, alice);
    await ask("agent_remember", { content: "my cat is Kit" });
    const { response } = (await ask("agent_query", { message: "who is my cat?" }, alice)) as {
      response: string;
    };
    expect(response).toContain("MY CAT IS TOM");
    expect(response).not.toMatch(/ILL|KIT/);
  });

  test("agent_query answers even if the exchange cannot be stored", async () => {
    const { memory } = newTools();
    const refusal = { ok: false, code: "memory.not_embedded", detail: "down" } as const;
    const forgetful = { ...memory, remember: async () => refusal };
    const converse = createQueryAnswerer({ memory: forgetful, model: echo, runtime });
    const { signal } = new AbortController();
    expect(await converse("hello", { caller: alice, signal })).toMatchObject({
      ok: true,
      memoriesFormed: 0,
    });
  });

  test("agent_query returns the model's failure and stores nothing", async () => {
    const { call, memory } = newTools({
      answersWithoutTools: true,
      execute: async () => ({ status: "failed", result: "no luck" }),
    });
    expect(await call("agent_query", { message: "hello" })).toMatchObject({ error: "no luck" });
    expect(memory.count()).toBe(0);
  });
});

test("agent_service_listing returns the listing, agent_credentials the presentation", async () => {
  const { ask } = newTools();
  expect(await ask("agent_service_listing", {}, stranger)).toEqual(listing);
  expect(await ask("agent_credentials", {}, stranger)).toEqual({
    type: ["VerifiablePresentation"],
  });
});
