import { sha256Hex } from "@agent/crypto";
import { hashArgs, verifyLedger } from "@agent/ledger";
import { signReceipt, verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { owner } from "../caller.ts";
import type { Guard } from "../policy/guard.ts";
import { createTestGuard } from "../testing/tools/test-guard.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import {
  createHangingTool,
  hugeTool,
  shoutTool,
  createTextTool,
  throwingTool,
} from "../testing/tools/test-tools.ts";
import { createToolCaller } from "../tools/calling/call-tool.ts";
import { defineTool } from "../tools/define-tool.ts";
import { createRegistry, type RegisteredTool } from "../tools/registry.ts";
import type { DelegateTask } from "./delegation/delegation.ts";
import { directExecutor } from "./executors/direct.ts";
import type { Executor } from "./executor.ts";
import { createTaskRunner, type RunOptions } from "./run-task.ts";
import type { SignedWork } from "./sign-work.ts";
import type { WorkTask } from "./task.ts";
import { buildTestOffer } from "../testing/tools/test-offer.ts";

const identity = createTestIdentity();
const notForYou = { status: "denied", result: "not for you" } as const;

interface RunnerOptions {
  readonly taskTimeoutMs?: number;
  readonly delegateTask?: DelegateTask;
  readonly executor?: Executor;
  readonly guard?: Guard;
  readonly signsLedgers?: boolean;
  /** Absent: the clock of the system. */
  readonly now?: () => number;
}

function runner(tool: RegisteredTool, options: RunnerOptions = {}) {
  const run = signer(tool, options);
  return async (task: Partial<WorkTask> = {}, given: Partial<RunOptions> = {}) =>
    (await run(task, given)).receipt;
}

/** Returns a runner whose work has the receipt and, with `signsLedgers`, the ledger of a task. */
function signer(tool: RegisteredTool, options: RunnerOptions = {}) {
  const system = createSystemRuntime(silentLog);
  const runtime = { ...system, now: options.now ?? system.now };
  const registry = createRegistry([tool]);
  const run = createTaskRunner({
    identity,
    deviceId: () => "device-1",
    tools: () => registry.definitions,
    offer: buildTestOffer(registry.definitions),
    callTool: createToolCaller({ registry, guard: options.guard ?? createTestGuard(), runtime }),
    executor: options.executor ?? directExecutor,
    delegateTask: options.delegateTask,
    signsLedgers: options.signsLedgers,
    taskTimeoutMs: options.taskTimeoutMs ?? 5_000,
    runtime,
  });
  return (task: Partial<WorkTask> = {}, given: Partial<RunOptions> = {}) =>
    run(
      {
        taskId: "task-1",
        prompt: "grüße",
        requiredCapabilities: [],
        submittedAt: Date.now(),
        ...task,
      },
      { caller: owner, ...given },
    );
}

function isSigned(receipt: ExecutionReceipt, taskId?: string): boolean {
  return verifyReceipt(receipt, { publicKey: identity.publicKey, taskId }).valid;
}

describe("receipts", () => {
  test("a receipt states agent, prompt and result, and verifies", async () => {
    const receipt = await runner(shoutTool)({ taskId: "r", relayTaskId: "r" });
    expect(receipt).toMatchObject({
      task_id: "r",
      relay_task_id: "r",
      agent_id: identity.agentId,
      public_key: identity.publicKey,
      device_id: "device-1",
      status: "completed",
      result: "GRÜSSE",
      tools_used: ["shout"],
      memories_formed: 0,
      prompt_hash: sha256Hex("grüße"),
      result_hash: sha256Hex("GRÜSSE"),
    });
    expect(isSigned(receipt, "r")).toBe(true);
    expect(isSigned({ ...receipt, result: "GRÜSSE!" }, "r")).toBe(false);
  });

  test("B12: the receipt of a task that waited for hours states when the work began, and is valid", async () => {
    const now = Date.now();
    const waited = await runner(shoutTool)({ submittedAt: now - 7_200_000 });
    expect(waited.submitted_at).toBeGreaterThanOrEqual(now);
    expect(isSigned(waited)).toBe(true);
    const prompt = await runner(shoutTool)({ submittedAt: now - 3_000_000 });
    expect(prompt.submitted_at).toBe(now - 3_000_000);
  });

  test("a receipt names no relay task for local work", async () => {
    expect(await runner(shoutTool)()).not.toHaveProperty("relay_task_id");
  });

  test("a result with a lone surrogate is signed", async () => {
    const broken = createTextTool("broken", () => ({ ok: true, data: "a\ud800b" }));
    const receipt = await runner(broken)();
    expect(receipt.result).toBe("a\ufffdb");
    expect(isSigned(receipt)).toBe(true);
  });
});

describe("a task that cannot be done ends in a signed failed receipt", () => {
  test("a task past its time limit ends as failed, and its tool is aborted", async () => {
    let aborted = false;
    const receipt = await runner(
      createHangingTool(() => (aborted = true)),
      { taskTimeoutMs: 30 },
    )();
    expect(receipt).toMatchObject({
      status: "failed",
      result: "The task did not finish within 30 ms",
      tools_used: ["hanging"],
    });
    expect(aborted).toBe(true);
    expect(isSigned(receipt)).toBe(true);
  });

  test("a task past the delegator's shorter limit ends as failed", async () => {
    const receipt = await runner(createHangingTool())({ wallClockMs: 20 });
    expect(receipt.result).toBe("The task did not finish within 15 ms");
  });

  test("a task that is cancelled before or while it runs ends as failed", async () => {
    const controller = new AbortController();
    const running = runner(createHangingTool())({}, { cancel: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ status: "failed", result: "The task was cancelled" });
    const never = await runner(shoutTool)({}, { cancel: AbortSignal.abort() });
    expect(never).toMatchObject({ status: "failed", tools_used: [] });
  });

  test("a task whose tool throws or returns 50 MB ends as failed", async () => {
    for (const tool of [throwingTool, hugeTool]) {
      const receipt = await runner(tool)();
      expect(receipt.status).toBe("failed");
      expect(receipt.result).not.toContain("hunter2");
      expect(isSigned(receipt)).toBe(true);
    }
  });

  test("a task whose executor throws ends as failed", async () => {
    const executor: Executor = { execute: () => Promise.reject(new Error("hunter2")) };
    const receipt = await runner(shoutTool, { executor })();
    expect(receipt).toMatchObject({ status: "failed", result: "The task failed" });
  });
});

describe("a task that may not be done ends in a signed denied receipt", () => {
  test("a task whose tool is outside its scope is denied without running it", async () => {
    let ran = false;
    const tool = createTextTool("tool", () => ({ ok: (ran = true), data: "" }));
    const receipt = await runner(tool)({ scope: ["other"] });
    expect(receipt).toMatchObject({ status: "denied", tools_used: [], delegated_scope: "other" });
    expect(ran).toBe(false);
    expect(isSigned(receipt)).toBe(true);
  });

  test("a task whose token expires between two tools is denied", async () => {
    let runs = 0;
    let now = Date.now();
    const endsAt = now + 20;
    const slow = createTextTool("slow", () => {
      runs += 1;
      now = endsAt;
      return { ok: true, data: "" };
    });
    const twice: Executor = {
      async execute(_, toolbox) {
        await toolbox.call("slow", { text: "" });
        const answer = await toolbox.call("slow", { text: "" });
        return {
          status: answer.ok ? "completed" : "denied",
          result: answer.ok ? "" : answer.error,
        };
      },
    };
    const run = runner(slow, { executor: twice, now: () => now });
    expect(await run({ scope: ["slow"], scopeExpiresAt: endsAt })).toMatchObject({
      status: "denied",
      result: "The delegation token has expired",
      tools_used: ["slow"],
    });
    expect(runs).toBe(1);
  });

  test("a task whose tool the policy refuses is denied", async () => {
    const risky = createTextTool("risky", () => ({ ok: true, data: "" }), 4);
    expect(await runner(risky)()).toMatchObject({ status: "denied", tools_used: [] });
  });

  test("a task that is refused as a whole is denied", async () => {
    const receipt = await runner(shoutTool)({}, { outcome: notForYou });
    expect(receipt).toMatchObject({ status: "denied", result: "not for you", tools_used: [] });
  });
});

describe("a delegation of a tool", () => {
  const worker = createTestIdentity("worker");
  const sub = (result: string, status: "completed" | "failed" = "completed") =>
    signReceipt(
      {
        task_id: "sub",
        relay_task_id: "sub",
        agent_id: worker.agentId,
        public_key: worker.publicKey,
        device_id: "d",
        submitted_at: 1,
        completed_at: 2,
        status,
        result,
        tools_used: [],
        memories_formed: 0,
        prompt_hash: sha256Hex(""),
        result_hash: sha256Hex(result),
      },
      worker.secretKey,
    );
  const delegating = createTextTool("delegating", async (prompt, { delegate }) => {
    if (delegate === undefined) return { ok: false, error: "no delegate" };
    const answer = await delegate({ capability: "count", prompt });
    return answer.ok
      ? { ok: true, data: `got ${answer.data}` }
      : { ok: true, data: "did it alone" };
  });

  test("a delegation nests the complete receipt, which verifies", async () => {
    const receipt = sub("42");
    const delegateTask: DelegateTask = async () => ({ ok: true, data: "42", receipt });
    const outer = await runner(delegating, { delegateTask })();
    expect(outer).toMatchObject({ result: "got 42", delegation_receipts: [receipt] });
    const verdict = verifyReceipt(outer, { publicKey: identity.publicKey });
    expect(verdict.nested.map((nested) => nested.valid)).toEqual([true]);
  });

  test("a failed delegation nests its receipt if there is one", async () => {
    const receipt = sub("broken", "failed");
    const failed: DelegateTask = async () => ({ ok: false, error: "broken", receipt });
    const outer = await runner(delegating, { delegateTask: failed })();
    expect(outer).toMatchObject({ result: "did it alone", delegation_receipts: [receipt] });
    const failingDelegate: DelegateTask = async () => ({ ok: false, error: "no agent" });
    expect(await runner(delegating, { delegateTask: failingDelegate })()).not.toHaveProperty(
      "delegation_receipts",
    );
  });

  test("a delegation ends together with its task", async () => {
    let signal: AbortSignal | undefined;
    const delegateTask: DelegateTask = (_, on) => {
      signal = on.signal;
      return new Promise(() => {});
    };
    await runner(delegating, { delegateTask, taskTimeoutMs: 20 })();
    expect(signal?.aborted).toBe(true);
  });

  test("delegation is not available without a relay", async () => {
    expect(await runner(delegating)()).toMatchObject({ status: "failed", result: "no delegate" });
  });
});

test("E10: large receipts of subcontractors do not fail the task that delegated", async () => {
  const many = createTextTool("many", async (prompt, { delegate }) => {
    for (let i = 0; i < 3; i++) await delegate?.({ capability: "c", prompt });
    return { ok: true, data: "x".repeat(400_000) };
  });
  const big = await runner(
    createTextTool("big", () => ({ ok: true, data: "y".repeat(400_000) })),
  )();
  const delegateTask: DelegateTask = async () => ({ ok: true, data: "", receipt: big });
  const receipt = await runner(many, { delegateTask })();
  expect(receipt).toMatchObject({ status: "completed", delegation_receipts: [big] });
  expect(isSigned(receipt)).toBe(true);
});

describe("ledgers", () => {
  const relayTask = { taskId: "r", relayTaskId: "r" };
  const eventsOf = ({ ledger }: SignedWork) => ledger?.timeline.map(({ type }) => type);

  test("a relay task gets a ledger that states its tool calls", async () => {
    const signed = await signer(shoutTool, { signsLedgers: true })(relayTask);
    expect(verifyLedger(signed.ledger ?? {}, { publicKey: identity.publicKey })).toMatchObject({
      valid: true,
    });
    expect(eventsOf(signed)).toEqual([
      "goal_started",
      "tool_invoked",
      "tool_result",
      "goal_completed",
    ]);
  });

  test.each([
    ["agent does not sign ledgers", false, relayTask, {}],
    ["task has no relay that could store it", true, {}, {}],
    ["task is denied before it runs", true, relayTask, { outcome: notForYou }],
  ])("there is no ledger if the %s", async (_, signsLedgers, task, given) => {
    expect(await signer(shoutTool, { signsLedgers })(task, given)).not.toHaveProperty("ledger");
  });

  test("the ledger of a task past its time limit states the tool as invoked and the goal as failed", async () => {
    const run = signer(createHangingTool(), { signsLedgers: true, taskTimeoutMs: 20 });
    const signed = await run(relayTask);
    expect(eventsOf(signed)).toEqual(["goal_started", "tool_invoked", "goal_completed"]);
    expect(signed.ledger?.status).toBe("failed");
  });

  test("a tool whose call waits for an approval at the time limit is stated neither as used nor as invoked", async () => {
    const guard: Guard = () => new Promise(() => {});
    const run = signer(shoutTool, { guard, signsLedgers: true, taskTimeoutMs: 20 });
    const signed = await run(relayTask);
    expect(signed.receipt.tools_used).toEqual([]);
    expect(eventsOf(signed)).toEqual(["goal_started", "goal_completed"]);
  });

  test("a tool is stated with the hash of the arguments that it gets, which the audit log has as well", async () => {
    const greet = defineTool({
      name: "greet",
      description: "",
      risk: 0,
      input: v.object({ to: v.optional(v.string(), "all") }),
      run: ({ to }) => ({ ok: true, data: to }),
    });
    const executor: Executor = {
      async execute(_, toolbox) {
        const answer = await toolbox.call("greet", undefined);
        return { status: "completed", result: answer.ok ? answer.data : answer.error };
      },
    };
    const audited: string[] = [];
    const guard: Guard = (call) => {
      audited.push(call.argsHash);
      return createTestGuard()(call);
    };
    const { receipt, ledger } = await signer(greet, { executor, guard, signsLedgers: true })(
      relayTask,
    );
    expect(receipt.result).toBe("all");
    expect(ledger?.timeline[1]?.payload).toMatchObject({ args_hash: hashArgs({ to: "all" }) });
    expect(audited).toEqual([hashArgs({ to: "all" })]);
  });

  test("a tool outside the scope of the delegation is not stated", async () => {
    const run = signer(shoutTool, { signsLedgers: true });
    const signed = await run({ ...relayTask, scope: ["other"] });
    expect(eventsOf(signed)).toEqual(["goal_started", "goal_completed"]);
  });
});
