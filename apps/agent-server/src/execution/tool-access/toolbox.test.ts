import { describe, expect, test } from "vitest";
import type { CallAnswer } from "../../tools/calling/call-tool.ts";
import { owner } from "../../caller.ts";
import { WorkPostponed } from "../work-postponed.ts";
import { createToolbox } from "./toolbox.ts";

/** A toolbox whose tools are named like what becomes of their calls. */
function newToolbox() {
  const answers: Record<string, CallAnswer> = {
    ran: { ok: true, data: "done" },
    denied: { ok: false, kind: "denied", error: "no" },
    unavailable: { ok: false, kind: "unavailable", error: "not now" },
  };
  const used = new Set<string>();
  const toolbox = createToolbox({
    offered: { tools: [], toolsFor: () => [], has: () => true, hasSeveralPrices: false },
    callTool: async (name, _args, _context, onRun) => {
      if (name === "ran") onRun?.("hash")?.(true);
      return answers[name] ?? { ok: false, kind: "unknown", error: "" };
    },
    context: { caller: owner, signal: new AbortController().signal },
    rights: {},
    used,
    now: Date.now,
  });
  return { call: (name: string) => toolbox.call(name, {}), used };
}

describe("E9: a call that cannot be decided about at the moment", () => {
  test("E9: an undecided call postpones a task of which nothing was done", async () => {
    const { call, used } = newToolbox();
    await call("denied");
    await expect(call("unavailable")).rejects.toThrow(WorkPostponed);
    expect([...used]).toEqual([]);
  });

  test("E9: an undecided call fails in a task that has run a tool", async () => {
    const { call, used } = newToolbox();
    await call("ran");
    expect(await call("unavailable")).toMatchObject({ ok: false, kind: "unavailable" });
    expect([...used]).toEqual(["ran"]);
  });
});
