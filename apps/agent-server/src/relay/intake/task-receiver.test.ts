import type { SendResult } from "@agent/client";
import { createManualClock } from "@agent/testkit";
import type { ClientMessage, Task } from "@agent/wire";
import { describe, expect, test } from "vitest";
import type { WorkAnswer } from "../../execution/work.ts";
import type { Log } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { buildTestReceipt } from "../../testing/tools/test-receipt.ts";
import { createTaskReceiver } from "./task-receiver.ts";

const me = "me";

function task(id: string, change: Partial<Task> = {}): Task {
  return {
    task_id: id,
    agent_id: me,
    prompt: "p",
    submitted_at: 1,
    status: "pending",
    submitted_by: null,
    assigned_to: null,
    required_capabilities: [],
    expires_at: 2,
    wall_clock_ms: null,
    step_id: null,
    routing_choice: null,
    estimated_cost: 0,
    amount_locked: 0,
    ...change,
  };
}

function newIntake(socket: SendResult | (() => SendResult) = { ok: true }) {
  const messages: ClientMessage[] = [];
  const clock = createManualClock();
  const logged: string[] = [];
  const log: Log = (level, event) => void logged.push(`${level} ${event}`);
  const sent: string[] = [];
  const started: string[] = [];
  const tokens: unknown[] = [];
  const cancelled: string[] = [];
  const withdrawn: string[] = [];
  const signed = new Set<string>();
  const targets: unknown[] = [];
  const finish = new Map<string, (answer: WorkAnswer) => void>();
  const intake = createTaskReceiver({
    agentId: me,
    relayId: () => "relay",
    capabilities: ["shout"],
    rejections: { note: () => {} },
    work: {
      accept: ({ relayTaskId = "", targetAgentId, delegationToken }) => {
        started.push(relayTaskId);
        targets.push(targetAgentId);
        tokens.push(delegationToken);
        return new Promise((resolve) => finish.set(relayTaskId, resolve));
      },
      find: () => undefined,
      cancel: (id) => void cancelled.push(id),
      withdraw: (id) => {
        withdrawn.push(id);
        return signed.has(id) ? "signed" : finish.has(id) ? "stopping" : "unknown";
      },
      stop: async () => {},
    },
    send(message: ClientMessage) {
      const result = typeof socket === "function" ? socket() : socket;
      if (result.ok) sent.push(`${message.type} ${"task_id" in message ? message.task_id : ""}`);
      if (result.ok) messages.push(message);
      return result;
    },
    runtime: { ...createSystemRuntime(log), ...clock },
  });
  return {
    logged,
    messages,
    cancelled,
    signed,
    withdrawn,
    clock,
    intake,
    sent,
    started,
    targets,
    tokens,
    claimed: (id: string) => intake.onMessage({ type: "claimed", task_id: id, lease_until: 0 }),
    end: async (id: string, answer: WorkAnswer = { ok: true, receipt: buildTestReceipt(id) }) => {
      finish.get(id)?.(answer);
      await clock.advance(0);
    },
  };
}

describe("a task that the relay assigns", () => {
  test("an assigned task is claimed, and runs for its target once the claim is granted", async () => {
    const { intake, sent, started, targets, claimed, end } = newIntake();
    const assigned = task("t", { agent_id: "target", assigned_to: me });
    intake.onMessage({ type: "task_assigned", task: assigned, expires_at: 1 });
    expect([sent, started]).toEqual([["claim t"], []]);
    claimed("t");
    await end("t");
    expect(started).toEqual(["t"]);
    expect(targets).toEqual(["target"]);
  });

  test("an assigned task runs under its delegation token", () => {
    const { intake, tokens, claimed } = newIntake();
    const withToken = { ...task("t"), delegation_token: { token_id: "d" } };
    for (const one of [withToken, task("u")]) {
      intake.receiveTask(one);
      claimed(one.task_id);
    }
    expect(tokens[0]).toEqual({ token_id: "d" });
    expect(tokens[1] ?? null).toBeNull();
  });

  test("an assigned task does not run when another device claimed it first", () => {
    const { intake, started } = newIntake();
    intake.receiveTask(task("t"));
    intake.onMessage({ type: "error", code: "task.not_pending", message: "", task_id: "t" });
    intake.onMessage({ type: "claimed", task_id: "t", lease_until: 0 });
    expect(started).toEqual([]);
  });

  test("D26: a task on which another process with the same key works does not run, and the log says so once", () => {
    const { intake, started, logged } = newIntake();
    for (const id of ["t", "u"]) {
      intake.receiveTask(task(id));
      intake.onMessage({ type: "error", code: "task.other_process", message: "", task_id: id });
      intake.onMessage({ type: "claimed", task_id: id, lease_until: 0 });
    }
    expect(started).toEqual([]);
    expect(logged).toEqual(["error agent.runs_twice", "debug agent.runs_twice"]);
  });

  test("a task assigned to another agent is ignored", () => {
    const { intake, sent } = newIntake();
    intake.receiveTask(task("t", { assigned_to: "other" }));
    expect(sent).toEqual([]);
  });

  test("an assigned task is claimed once, and again after a lost connection", () => {
    const { intake, sent, started, claimed } = newIntake();
    intake.receiveTask(task("t"));
    intake.receiveTask(task("t"));
    claimed("t");
    intake.receiveTask(task("t"));
    claimed("t");
    expect(sent).toEqual(["claim t", "claim t"]);
    expect(started).toEqual(["t"]);
  });

  test("a task runs at once without a socket to claim it on", () => {
    const { intake, started } = newIntake({ ok: false, code: "socket.not_ready" });
    intake.receiveTask(task("t"));
    expect(started).toEqual(["t"]);
  });

  test("a task waits while the socket is backlogged", async () => {
    const { clock, intake, started } = newIntake({ ok: false, code: "socket.backlogged" });
    intake.receiveTask(task("t"));
    await clock.advance(5_000);
    expect(started).toEqual([]);
    expect(clock.pending()).toHaveLength(1);
  });

  test("a task whose claim is never answered is dropped, and accepted when it is offered again", async () => {
    const { clock, intake, sent } = newIntake();
    intake.receiveTask(task("t"));
    await clock.advance(10_000);
    intake.receiveTask(task("t"));
    expect(sent).toEqual(["claim t", "claim t"]);
  });

  test("a task that this agent cannot run is refused, so that another agent gets it", async () => {
    const { claimed, end, intake, sent } = newIntake();
    intake.receiveTask(task("t"));
    claimed("t");
    await end("t", { ok: false, error: "no" });
    expect(sent).toEqual(["claim t", "refuse t"]);
  });

  test("a task is stopped when its submitter cancels it, running or not", () => {
    const { cancelled, claimed, intake, started } = newIntake();
    intake.receiveTask(task("t"));
    intake.receiveTask(task("u"));
    claimed("t");
    intake.onMessage({ type: "task_cancelled", task_id: "t" });
    intake.onMessage({ type: "task_cancelled", task_id: "u" });
    claimed("u");
    expect(started).toEqual(["t"]);
    expect(cancelled).toEqual(["t", "u"]);
  });
});

describe("B2: a claimed task with a requested cancel", () => {
  const asked = (id: string) => ({ type: "cancel_requested", task_id: id }) as const;

  test("B2: a claimed task with a requested cancel is stopped and then released", async () => {
    const { claimed, end, intake, sent, withdrawn } = newIntake();
    intake.receiveTask(task("t"));
    claimed("t");
    intake.onMessage(asked("t"));
    expect([withdrawn, sent]).toEqual([["t"], ["claim t"]]);
    await end("t", { ok: false, code: "work.withdrawn", error: "withdrawn" });
    expect(sent).toEqual(["claim t", "release t"]);
  });

  test("B2: a task with a requested cancel is released at once by an agent that does not run it", () => {
    const { intake, sent } = newIntake();
    intake.onMessage(asked("t"));
    expect(sent).toEqual(["release t"]);
  });

  test("B2: a task with a signed receipt is not released", async () => {
    const { claimed, intake, sent, signed } = newIntake();
    intake.receiveTask(task("t"));
    claimed("t");
    signed.add("t");
    intake.onMessage(asked("t"));
    expect(sent).toEqual(["claim t"]);
  });

  test("B2: a task is released as soon as the socket accepts messages again", async () => {
    const full = { ok: false, code: "socket.backlogged" } as const;
    const answers: SendResult[] = [full, full, { ok: true }];
    const { clock, intake, sent } = newIntake(() => answers.shift() ?? { ok: true });
    intake.onMessage(asked("t"));
    await clock.advance(5_000);
    expect(sent).toEqual(["release t"]);
  });

  test("A18: a task is refused as soon as the socket accepts messages again", async () => {
    const full = { ok: false, code: "socket.backlogged" } as const;
    const answers: SendResult[] = [{ ok: true }, full, full];
    const { claimed, clock, end, intake, sent } = newIntake(() => answers.shift() ?? { ok: true });
    intake.receiveTask(task("t"));
    claimed("t");
    await end("t", { ok: false, error: "no" });
    await clock.advance(5_000);
    expect(sent).toEqual(["claim t", "refuse t"]);
  });

  test("B2: a running task reports progress at least every 20 seconds", async () => {
    const { claimed, clock, intake, sent } = newIntake();
    intake.receiveTask(task("t"));
    claimed("t");
    for (let seen = 1; seen <= 4; seen++) {
      await clock.advance(19_000);
      expect(sent.length).toBeGreaterThan(seen);
    }
  });
});

test("B7: the agent announces its offered capabilities on each connection, before anything else", () => {
  const { intake, messages } = newIntake();
  intake.onMessage({ type: "ready", agent_id: me, device_id: null, pending: 0 });
  expect(messages[0]).toEqual({ type: "capabilities", capabilities: ["shout"] });
});

describe("many tasks", () => {
  test("at most eight tasks run at a time", async () => {
    const { claimed, end, intake, sent } = newIntake();
    for (let i = 0; i < 10; i++) intake.receiveTask(task(`t${i}`));
    expect(sent).toHaveLength(8);
    claimed("t0");
    await end("t0");
    expect(sent.at(-1)).toBe("claim t8");
    expect(sent).toHaveLength(9);
  });

  test("running tasks keep their leases", async () => {
    const { claimed, clock, end, intake, sent } = newIntake();
    intake.receiveTask(task("t"));
    claimed("t");
    await clock.advance(40_000);
    expect(sent).toEqual(["claim t", "progress t", "progress t"]);
    intake.onMessage({ type: "ready", agent_id: me, device_id: null, pending: 0 });
    expect(sent.slice(3)).toEqual(["capabilities ", "progress t"]);
    await end("t");
    await clock.advance(60_000);
    expect(sent).toHaveLength(5);
  });

  test("a stopping agent begins no further tasks", () => {
    const { claimed, intake, sent, started } = newIntake();
    intake.receiveTask(task("t"));
    intake.stop();
    claimed("t");
    intake.receiveTask(task("u"));
    expect([sent, started]).toEqual([["claim t"], []]);
  });
});
