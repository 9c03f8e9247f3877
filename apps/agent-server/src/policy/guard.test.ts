import { sha256Hex } from "@agent/crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owner } from "../caller.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { callText, connectClient } from "../testing/tools/connect-client.ts";
import { startStandaloneAgent } from "../testing/agents/start-agent.ts";
import { failingTool, shoutTool, createTextTool } from "../testing/tools/test-tools.ts";
import type { RunningAgent } from "../start-agent.ts";
import { type ApprovalAnswer, createApprovals } from "./approvals.ts";
import type { AuditLog } from "./audit-log.ts";
import { createGuard } from "./guard.ts";
import type { Decision } from "./policy-check.ts";

const secret = "my prompt is confidential";
const deploy = createTextTool("deploy", (text) => ({ ok: true, data: `deployed ${text}` }), 3);
const look = createTextTool("look", async () => ({ ok: true, data: await readFile(path, "utf8") }));
const pay = createTextTool("pay", () => ({ ok: true, data: "paid" }), 4);

let folder: string;
let path: string;
let running: RunningAgent;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-audit-"));
  path = join(folder, "new", "audit.jsonl");
  const started = await startStandaloneAgent({
    tools: [shoutTool, failingTool, look, deploy, pay],
    file: { auditLog: path },
  });
  if (!started.ok) throw new Error(started.faults.join("; "));
  ({ running } = started);
});
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true });
});

/**
 * Reads the log without the reading calls themselves, whose decisions flush buffered completions.
 */
async function audited(): Promise<Record<string, unknown>[]> {
  const lines = (await call("look", "")).trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ tool }) => tool !== "look");
}

function approvals(path_ = "", init: RequestInit = {}): Promise<Response> {
  const url = new URL(`/approvals${path_}`, running.url);
  const headers = { authorization: "Bearer secret", "content-type": "application/json" };
  return fetch(url, { headers, ...init });
}

const decide = (id: string, decision: unknown) =>
  approvals(`/${id}`, { method: "POST", body: JSON.stringify({ decision }) });

function idIn(text: string): string {
  return /approval_id (\S+)$/.exec(text)?.[1] ?? "";
}

async function call(name: string, text: string): Promise<string> {
  const client = await connectClient(running.url, "secret");
  const answer = await callText(client, name, { text });
  await client.close();
  return answer;
}

describe("the audit log", () => {
  test("the audit log has a line for each decision and completion, with only a hash of the arguments", async () => {
    const before = (await audited()).length;
    await call("shout", secret);
    await call("failing", "");
    await call("pay", "");
    const lines = (await audited()).slice(before);
    const args_hash = sha256Hex(JSON.stringify({ text: secret }));
    expect(lines).toMatchObject([
      {
        event: "tool.decided",
        tool: "shout",
        risk: 0,
        caller: "owner",
        trust: "trusted",
        args_hash,
        decision: "allowed",
      },
      { event: "tool.finished", tool: "shout", ok: true, call_id: lines[0]?.["call_id"] },
      { event: "tool.decided", tool: "failing", decision: "allowed" },
      { event: "tool.finished", tool: "failing", ok: false },
      { event: "tool.decided", tool: "pay", decision: "denied" },
    ]);
    expect(lines[4]?.["reason"]).toMatch(/^Policy denied: /);
    expect(await readFile(path, "utf8")).not.toContain(secret);
  });

  test("the audit log contains the decision before the tool runs", async () => {
    const seen = await call("look", "");
    expect(seen.trim().split("\n").at(-1)).toContain('"tool":"look"');
  });

  test("the audit log names the task of a tool call, and agent_task itself", async () => {
    const before = (await audited()).length;
    const client = await connectClient(running.url, "secret");
    const args = { prompt: "hi", required_capabilities: ["shout"], relay_task_id: "task-1" };
    await callText(client, "agent_task", args);
    await client.close();
    const decided = (await audited()).slice(before).filter((line) => "decision" in line);
    expect(decided).toMatchObject([{ tool: "agent_task" }, { tool: "shout", task_id: "task-1" }]);
  });

  test("the audit log is readable only by its owner", async () => {
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("an audit log that cannot be written stops the start", async () => {
    const started = await startStandaloneAgent({
      file: { auditLog: path, mcpServers: {} },
      tools: [],
    });
    if (!started.ok) throw new Error("a second agent may append to the same file");
    await started.running.stop();
    const refused = await startStandaloneAgent({ file: { auditLog: join(path, "x") } });
    expect(refused.ok ? [] : refused.faults).toEqual([
      expect.stringMatching(/^auditLog: .* cannot be written: /),
    ]);
  });
});

describe("a call that needs an approval", () => {
  test("an approved call runs once with the same arguments", async () => {
    const refused = await call("deploy", "site");
    expect(refused).toMatch(/^Governance: tool "deploy" requires approval \(R3_EXECUTE\)/);
    const listed = (await (await approvals()).json()) as { approvals: object[] };
    const approval_id = idIn(refused);
    expect(listed.approvals).toContainEqual(
      expect.objectContaining({ approval_id, tool: "deploy", arguments: { text: "site" } }),
    );
    expect(await (await decide(approval_id, "approve")).json()).toMatchObject({
      status: "approved",
    });
    expect(await call("deploy", "other")).toMatch(/^Governance: /);
    expect(await call("deploy", "site")).toBe("deployed site");
    expect(await call("deploy", "site")).toMatch(/^Governance: /);
    expect((await audited()).filter((line) => line["approval_id"] === approval_id)).toMatchObject([
      { decision: "approval_required" },
      { decision: "allowed" },
    ]);
  });

  test("a denied call stays refused", async () => {
    const approval_id = idIn(await call("deploy", "never"));
    await decide(approval_id, "deny");
    expect(await call("deploy", "never")).toBe("Policy denied: the owner refused this call");
  });

  test.each([
    ["an unknown id", "00000000-0000-7000-8000-000000000000", "approve", 404],
    ["an invalid decision", "x", "maybe", 400],
  ])("a decision with %s is refused", async (_, id, decision, status) => {
    expect((await decide(id, decision)).status).toBe(status);
  });

  test("a second decision on a call gets 409", async () => {
    const approval_id = idIn(await call("deploy", "twice"));
    await decide(approval_id, "deny");
    expect((await decide(approval_id, "approve")).status).toBe(409);
  });
});

describe("the guard", () => {
  const held: Decision = { ok: false, kind: "approval", message: "held" };
  const [approvalId, reason] = ["id", "why (code)"];

  /** Decides the same call twice, and returns the results and the lines of the audit log. */
  async function decideTwice(decision: Decision, answer?: ApprovalAnswer, refusal?: string) {
    const lines: Parameters<AuditLog["recordDecision"]>[0][] = [];
    const guard = createGuard({
      checkPolicy: () => decision,
      approver: { requestApproval: () => answer ?? { status: "full" } },
      audit: {
        recordDecision: (line) => Promise.resolve(void lines.push(line)),
        recordCompletion() {},
        close() {},
      },
      runtime: createSystemRuntime(silentLog),
    });
    const given = { tool: shoutTool.definition, caller: owner, args: {}, argsHash: "", refusal };
    return { results: [await guard(given), await guard(given)], lines };
  }

  test.each<[string, Decision, ApprovalAnswer | undefined, string | undefined, object, object]>([
    [
      "the policy allows",
      { ok: true },
      undefined,
      undefined,
      { ok: true },
      { decision: "allowed" },
    ],
    [
      "the tool refuses, whatever the policy says",
      { ok: true },
      undefined,
      "not connected",
      { ok: false, kind: "denied", message: "not connected" },
      { decision: "denied", reason: "not connected" },
    ],
    [
      "was approved",
      held,
      { status: "approved", approvalId },
      undefined,
      { ok: true },
      { decision: "allowed", approval_id: approvalId },
    ],
    [
      "was denied by the owner",
      held,
      { status: "denied", approvalId },
      undefined,
      { ok: false, kind: "denied" },
      { decision: "denied", approval_id: approvalId },
    ],
    [
      "waits for a decision",
      held,
      { status: "pending", approvalId },
      undefined,
      { ok: false, kind: "denied", message: "held, approval_id id" },
      { decision: "approval_required", reason: "held, approval_id id", approval_id: approvalId },
    ],
    [
      "finds no place to wait",
      held,
      { status: "full" },
      undefined,
      { ok: false, kind: "denied", message: "held" },
      { decision: "approval_required", reason: "held" },
    ],
    [
      "is refused by a quorum",
      held,
      { status: "refused", reason, approvalId },
      undefined,
      { ok: false, kind: "denied", message: `Policy denied: ${reason}` },
      { decision: "denied", approval_id: approvalId },
    ],
    [
      "cannot be decided now",
      held,
      { status: "unavailable", reason },
      undefined,
      { ok: false, kind: "unavailable", message: `Policy denied: ${reason}` },
      { decision: "denied" },
    ],
  ])(
    "the guard decides and records each call that %s",
    async (_, decision, answer, refusal, result, line) => {
      const { results, lines } = await decideTwice(decision, answer, refusal);
      expect(results).toMatchObject([result, result]);
      expect(lines).toMatchObject([line, line]);
      expect(new Set(lines.map(({ call_id }) => call_id)).size).toBe(2);
    },
  );
});

test("no tool runs without its line in the audit log", async () => {
  const runtime = createSystemRuntime(silentLog);
  const guard = createGuard({
    checkPolicy: () => ({ ok: true }),
    approver: createApprovals(runtime),
    audit: {
      recordDecision: () => Promise.reject(new Error("no space left on device")),
      recordCompletion() {},
      close() {},
    },
    runtime,
  });
  const given = { tool: shoutTool.definition, caller: owner, args: {}, argsHash: "" };
  expect(await guard(given)).toEqual({
    ok: false,
    kind: "denied",
    message: "Policy denied: the audit log cannot be written",
  });
});

test("a call during which the clock is set back is recorded with a duration of 0", async () => {
  let now = 1_790_000_000_000;
  const durations: number[] = [];
  const runtime = { ...createSystemRuntime(silentLog), now: () => now };
  const guard = createGuard({
    checkPolicy: () => ({ ok: true }),
    approver: createApprovals(runtime),
    audit: {
      recordDecision: () => Promise.resolve(),
      recordCompletion: ({ duration_ms }) => void durations.push(duration_ms),
      close() {},
    },
    runtime,
  });
  const given = { tool: shoutTool.definition, caller: owner, args: {}, argsHash: "" };
  for (const step of [250, -3_600_000]) {
    const decided = await guard(given);
    now += step;
    if (decided.ok) decided.recordCompletion(true);
  }
  expect(durations).toEqual([250, 0]);
});
