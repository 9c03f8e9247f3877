import { hashArgs } from "@agent/ledger";
import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../../caller.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestGuard } from "../../testing/tools/test-guard.ts";
import {
  failingTool,
  createHangingTool,
  hugeTool,
  shoutTool,
  createTextTool,
  throwingTool,
} from "../../testing/tools/test-tools.ts";
import { createToolCaller } from "./call-tool.ts";
import { compileTool } from "./compile-tool.ts";
import type { JsonObject, ToolAnswer, ToolContext } from "../definition.ts";
import { createRegistry } from "../registry.ts";

const logged: string[] = [];
const runtime = createSystemRuntime((_, event, fields) =>
  logged.push(event + JSON.stringify(fields)),
);
const callers: Caller[] = [];
const risky = createTextTool("risky", () => ({ ok: true, data: "done" }), 3);
const wrongAnswers: Record<string, unknown> = {
  "a number": 7,
  nothing: undefined,
  null: null,
  "an object of other members": {},
  "a result that is no text": { ok: true, data: 7 },
};
const wrongAnswer = createTextTool("wrong", (what) => wrongAnswers[what] as ToolAnswer);
const picky = (): never => {
  throw new Error("password=hunter2");
};
const thrown: Record<string, () => unknown> = {
  nothing: () => null,
  "an object without a text": () => Object.create(null) as unknown,
  "an object that throws for its text": () => ({ toString: picky }),
};
const throwingAny = createTextTool("throwing-any", (what) => {
  throw thrown[what]?.();
});
const rich: Record<string, () => object> = {
  "a number too large": () => ({ n: 1n }),
  "a ring": () => {
    const ring: Record<string, unknown> = {};
    return Object.assign(ring, { ring });
  },
  "what cannot be read": () => new Proxy({}, { ownKeys: picky }),
  "what cannot be written": () => ({ toJSON: picky }),
};
const structured = createTextTool("structured", (what) => ({
  ok: true,
  data: "",
  structuredContent: rich[what]?.() as JsonObject,
}));
const listing = compileTool({
  definition: {
    name: "listing",
    description: "",
    inputSchema: { type: "object", properties: { list: { items: { pattern: "^x$" } } } },
    risk: 0,
  },
  handler: () => ({ ok: true, data: "" }),
});
const changing = { n: 1, toJSON: () => ({ n: changing.n }) };
const rethinking = createTextTool("rethinking", () => {
  const block = { type: "text" as const, text: "first" };
  setImmediate(() => (block.text = "then another"));
  return { ok: true, data: "", content: [block], structuredContent: changing };
});
const wide = createTextTool("wide", () => ({
  ok: true,
  data: "",
  structuredContent: { text: "\u20ac".repeat(3_000_000) },
}));
const seeing = createTextTool("seeing", (_, { caller }) => {
  callers.push(caller);
  return { ok: true, data: "seen" };
});
const callTool = createToolCaller({
  registry: createRegistry([
    shoutTool,
    failingTool,
    throwingTool,
    throwingAny,
    structured,
    rethinking,
    listing,
    wide,
    hugeTool,
    createHangingTool(),
    risky,
    wrongAnswer,
    seeing,
  ]),
  guard: createTestGuard(),
  runtime,
});

function call(name: string, args: unknown = { text: "hello" }, context: Partial<ToolContext> = {}) {
  const { signal } = new AbortController();
  return callTool(name, args, { signal, caller: owner, ...context });
}

test("an allowed tool runs and returns its result", async () => {
  expect(await call("shout")).toEqual({ ok: true, data: "HELLO" });
});

test.each(["no-such-tool", "shout", "risky", "failing", "seeing"])(
  "a run of the tool %s is reported only if its call is allowed, once it begins and once it ends",
  async (name) => {
    const events: unknown[] = [];
    const context = { signal: new AbortController().signal, caller: owner };
    const args = name === "shout" ? {} : { text: "hello" };
    const answer = await callTool(name, args, context, (argsHash) => {
      events.push(argsHash);
      return (ok) => events.push(ok);
    });
    const ran = name === "failing" || name === "seeing";
    expect(events).toEqual(ran ? [hashArgs(args), answer.ok] : []);
  },
);

describe("a tool that does not run", () => {
  test("an unknown tool is named without characters that no name has", async () => {
    const error = 'Unknown tool "no??agent?x"';
    expect(await call("no\n[agent:x")).toEqual({ ok: false, kind: "unknown", error });
  });

  test.each([[{}], [{ text: 7 }], [null], ["text"], [[]]])(
    "a tool does not run with the invalid arguments %j",
    async (args) => {
      expect(await call("shout", args)).toMatchObject({ ok: false, kind: "invalid" });
    },
  );

  test("the refusal of arguments is short, however many faults they have", async () => {
    const list = Array.from({ length: 9_000 }, () => "\ud83d");
    const answer = await call("listing", { list });
    expect(answer).toMatchObject({ ok: false, kind: "invalid" });
    const [, fault = ""] = ("error" in answer ? answer.error : "").split('tool "listing": ');
    expect(fault).toMatch(/^list\.0: must match pattern/);
    expect([fault.length <= 1_000, fault.isWellFormed()]).toEqual([true, true]);
  });

  test("a tool that the policy refuses or that needs an approval does not run", async () => {
    expect(await call("risky")).toMatchObject({ kind: "denied" });
  });

  test("arguments are checked before the policy", async () => {
    expect(await call("risky", {})).toMatchObject({ kind: "invalid" });
  });
});

describe("a tool that goes wrong", () => {
  test("a tool's own error text is the answer", async () => {
    expect(await call("failing")).toEqual({ ok: false, kind: "failed", error: "no luck today" });
  });

  test("an exception of a tool is logged and not shown to the caller", async () => {
    const answer = await call("throwing");
    expect(answer).toEqual({ ok: false, kind: "failed", error: 'Tool "throwing" failed' });
    expect(logged.join()).toContain("hunter2");
  });

  test("a result of 50 MB is refused", async () => {
    const error = 'Tool "huge" returned more than 524288 bytes';
    expect(await call("huge")).toEqual({ ok: false, kind: "failed", error });
  });

  test.each(Object.keys(wrongAnswers))(
    "%s as an answer is a failure, and the log states what it must be",
    async (text) => {
      logged.length = 0;
      expect(await call("wrong", { text })).toMatchObject({ kind: "failed" });
      expect(logged.join()).toContain("handler must return {ok: true, data}");
    },
  );

  test.each(Object.keys(thrown))("throwing %s is an ordinary failure", async (text) => {
    const error = 'Tool "throwing-any" failed';
    expect(await call("throwing-any", { text })).toEqual({ ok: false, kind: "failed", error });
  });

  test.each(Object.keys(rich))(
    "structured content without a JSON form (%s) is a failure",
    async (text) => {
      const error = 'Tool "structured" failed';
      expect(await call("structured", { text })).toEqual({ ok: false, kind: "failed", error });
    },
  );

  test("changes after a tool's answer do not affect the answer", async () => {
    const answer = await call("rethinking");
    changing.n = 2;
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(JSON.parse(JSON.stringify(answer))).toEqual({
      ok: true,
      data: "",
      content: [{ type: "text", text: "first" }],
      structuredContent: { n: 1 },
    });
  });

  test("structured content of more than 8 MiB is refused, counted in bytes", async () => {
    const error = 'Tool "wide" returned more than 8388608 bytes';
    expect(await call("wide")).toEqual({ ok: false, kind: "failed", error });
  });

  test("a tool that ignores its signal is not awaited", async () => {
    const controller = new AbortController();
    const answer = call("hanging", { text: "" }, { signal: controller.signal });
    controller.abort();
    expect(await answer).toMatchObject({ ok: false, kind: "aborted" });
  });

  test("no tool starts once the signal is aborted", async () => {
    const before = callers.length;
    const context = { signal: AbortSignal.abort(), caller: owner };
    const begun: string[] = [];
    const onRun = (argsHash: string) => void begun.push(argsHash);
    expect(await callTool("seeing", { text: "" }, context, onRun)).toMatchObject({
      kind: "aborted",
    });
    expect([callers.length, begun]).toEqual([before, []]);
  });
});

test("the handler receives the caller", async () => {
  const caller: Caller = { kind: "agent", agentId: "a", trust: "verified" };
  await call("seeing", { text: "" }, { caller });
  expect(callers.at(-1)).toBe(caller);
});
