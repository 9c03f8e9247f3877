import type { CallRefusal } from "@agent/client";
import { createManualClock } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { createSystemRuntime } from "../../runtime.ts";
import { buildTestLedger, buildTestReceipt } from "../../testing/tools/test-receipt.ts";
import { createOutbox } from "./outbox.ts";
import type { SendReceiptResult } from "./receipt-sender.ts";
import type { PendingReceipt } from "./receipt-store.ts";

function refusal(status: number, code: string, retryAfterSeconds?: number): CallRefusal {
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { ok: false, code, status, message: code, ...wait };
}

const accepted: SendReceiptResult = { ok: true, status: "completed" };
const lost = refusal(0, "network.unreachable");

function refuseOnAbort(signal: AbortSignal): Promise<CallRefusal> {
  return new Promise((resolve) => {
    const refuse = () => resolve(refusal(0, "network.aborted"));
    if (signal.aborted) refuse();
    else signal.addEventListener("abort", refuse);
  });
}

function memoryStore() {
  const stored = new Map<string, PendingReceipt>();
  const store = {
    load: async () => [...stored.values()],
    save: async (pendingReceipt: PendingReceipt): Promise<void> =>
      void stored.set(pendingReceipt.receipt.task_id, pendingReceipt),
    delete: async (taskId: string) => void stored.delete(taskId),
  };
  return { stored, store };
}

/** Gives these answers in order, and repeats the last one. */
function outboxWith(...answers: SendReceiptResult[]) {
  return outboxOf({ receipt: answers });
}

interface Answers {
  /** The answer of the relay when it is asked whether the task has ended; absent: it has not. */
  readonly isTooLate?: () => boolean;
  readonly receipt: readonly SendReceiptResult[];
  readonly ledger?: readonly SendReceiptResult[];
}

/** Gives the answers of each document in order, and repeats its last one; none to `unanswered`. */
function outboxOf(answers: Answers, unanswered?: "receipt" | "ledger") {
  const { stored, store } = memoryStore();
  const clock = createManualClock();
  const start = clock.now();
  const tries: number[] = [];
  const posted: string[] = [];
  let questions = 0;
  const events: string[] = [];
  const levels: string[] = [];
  function answer(document: "receipt" | "ledger"): SendReceiptResult {
    posted.push(document);
    const given = answers[document] ?? [];
    const count = posted.filter((one) => one === document).length;
    return given[Math.min(count, given.length) - 1] ?? accepted;
  }
  const outbox = createOutbox({
    sender: {
      post: async () => {
        tries.push(clock.now() - start);
        return unanswered === "receipt" ? new Promise(() => {}) : answer("receipt");
      },
      isTooLate: async () => {
        questions += 1;
        return answers.isTooLate?.() ?? false;
      },
      postLedger: async (_, { signal }) =>
        unanswered === "ledger" ? refuseOnAbort(signal) : answer("ledger"),
    },
    store,
    runtime: {
      ...createSystemRuntime((level, event) => {
        events.push(event);
        levels.push(`${level} ${event}`);
      }),
      now: clock.now,
      schedule: clock.schedule,
      // The maximum of each jitter, so that the waits are the longest possible.
      randomBytes: (count) => new Uint8Array(count).fill(255),
    },
  });
  /** Delivers a receipt and waits for the end of the first attempt. */
  const deliver = async (taskId: string) => {
    void outbox.deliver({ receipt: buildTestReceipt(taskId) }, "target");
    await clock.advance(0);
  };
  const deliverWithLedger = async (taskId: string) => {
    const work = { receipt: buildTestReceipt(taskId), ledger: buildTestLedger(taskId) };
    void outbox.deliver(work, "target");
    await clock.advance(0);
  };
  return {
    clock,
    deliver,
    deliverWithLedger,
    events,
    levels,
    posted,
    questions: () => questions,
    stored,
    outbox,
    store,
    tries,
  };
}

describe("a receipt is posted", () => {
  test("a receipt is posted with growing waits until the relay accepts it", async () => {
    const { clock, deliver, events, outbox, tries } = outboxWith(
      lost,
      refusal(500, "x"),
      lost,
      accepted,
    );
    await deliver("t");
    await clock.advance(10_000);
    expect(tries).toEqual([0, 499, 1_498, 3_497]);
    expect(events.at(-1)).toBe("receipt.delivered");
    expect(outbox.size).toBe(0);
  });

  test.each([429, 503])(
    "a receipt is not posted before the Retry-After of a %i has passed",
    async (status) => {
      const { clock, deliver, tries } = outboxWith(refusal(status, "later", 30), accepted);
      await deliver("t");
      await clock.advance(29_999);
      expect(tries).toHaveLength(1);
      await clock.advance(600);
      expect(tries).toHaveLength(2);
    },
  );

  test("attempts to post a receipt are at most a minute apart", async () => {
    const { clock, deliver, outbox, tries } = outboxWith(lost);
    await deliver("t");
    await clock.advance(24 * 60 * 60_000);
    const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(Math.max(...waits)).toBe(59_999);
    expect(outbox.size).toBe(1);
  });

  test("one task has one attempt at a time", async () => {
    const { deliver, outbox, tries } = outboxWith(accepted);
    void outbox.deliver({ receipt: buildTestReceipt("t") }, "target");
    await deliver("t");
    await deliver("u");
    expect(tries).toHaveLength(2);
  });
});

test("H26: receipts that a relay does not take for a day are one line of the log", async () => {
  const { clock, deliver, levels } = outboxWith(refusal(403, "response.malformed"));
  await deliver("t");
  await deliver("u");
  await clock.advance(24 * 60 * 60_000);
  expect(levels.filter((line) => !line.startsWith("debug"))).toEqual(["warn receipt.retry"]);
});

describe("a refusal", () => {
  test.each([
    [400, "receipt.malformed"],
    [403, "receipt.signature_invalid"],
    [403, "auth.not_owner"],
    [404, "task.not_found"],
    [409, "task.already_finished"],
    [413, "request.too_large"],
  ])("a refusal with %i %s is final", async (status, code) => {
    const { clock, deliver, events, tries } = outboxWith(refusal(status, code));
    await deliver("t");
    await clock.advance(600_000);
    expect(tries).toHaveLength(1);
    expect(events).toEqual(["receipt.refused"]);
  });

  test.each([
    [401, "auth.expired_token"],
    [403, "auth.device_not_authorized"],
    [408, "request.timeout"],
    [429, "rate.exceeded"],
    [503, "server.draining"],
  ])("a refusal with %i %s is retried", async (status, code) => {
    const { clock, deliver, tries } = outboxWith(refusal(status, code), accepted);
    await deliver("t");
    await clock.advance(600_000);
    expect(tries).toHaveLength(2);
  });
});

describe("E24: a receipt that is refused without a known reason", () => {
  const DAY_MS = 24 * 60 * 60_000;
  const refusals = [
    refusal(500, "receipt.invented_later"),
    refusal(422, "receipt.invented_later"),
    refusal(500, "server.failed"),
  ];

  test.each(refusals)(
    "E24: a receipt refused with $status $code is given up once its task has ended",
    async (refused) => {
      let isTooLate = false;
      const { clock, deliver, levels, outbox, stored, tries } = outboxOf({
        receipt: [refused],
        isTooLate: () => isTooLate,
      });
      await deliver("t");
      await clock.advance(7 * DAY_MS);
      expect([outbox.size, stored.size]).toEqual([1, 1]);
      isTooLate = true;
      await clock.advance(60_000);
      expect([outbox.size, stored.size]).toEqual([0, 0]);
      const count = tries.length;
      await clock.advance(DAY_MS);
      expect(tries).toHaveLength(count);
      expect(levels.filter((line) => !line.startsWith("debug"))).toEqual([
        "warn receipt.retry",
        "error receipt.given_up",
      ]);
    },
  );

  test("E24: a receipt is not given up for a passing fault, although its task has ended", async () => {
    const fault = refusal(502, "response.malformed");
    const answers = [...Array.from({ length: 9 }, () => fault), accepted];
    const { clock, deliver, events, questions } = outboxOf({
      receipt: answers,
      isTooLate: () => true,
    });
    await deliver("t");
    await clock.advance(DAY_MS);
    expect(events.at(-1)).toBe("receipt.delivered");
    expect(questions()).toBe(0);
  });

  test.each([
    lost,
    refusal(401, "auth.expired_token"),
    refusal(408, "request.timeout"),
    refusal(429, "rate.exceeded"),
    refusal(503, "server.draining"),
  ])(
    "E24: a receipt is kept, without asking for its task, after $status $code",
    async (refused) => {
      const { clock, deliver, outbox, questions } = outboxOf({
        receipt: [refused],
        isTooLate: () => true,
      });
      await deliver("t");
      await clock.advance(DAY_MS);
      expect(outbox.size).toBe(1);
      expect(questions()).toBe(0);
    },
  );
});

describe("a stopping agent", () => {
  test("a stopping agent continues to post only for its grace period", async () => {
    const { clock, deliver, outbox, tries } = outboxWith(lost);
    await deliver("t");
    const stopped = outbox.stop(1_000);
    await clock.advance(1_000);
    await stopped;
    await clock.advance(60_000);
    expect(tries).toEqual([0, 499]);
  });

  test("a stopping agent does not wait beyond its grace period for a relay that does not answer a receipt", async () => {
    const { clock, deliver, outbox, stored } = outboxOf({ receipt: [] }, "receipt");
    await deliver("t");
    let hasStopped = false;
    void outbox.stop(1_000).then(() => (hasStopped = true));
    await clock.advance(1_000);
    expect(hasStopped).toBe(true);
    expect([...stored.keys()]).toEqual(["t"]);
  });

  test("a stopping agent does not wait for a ledger whose receipt is decided", async () => {
    const busy = [refusal(429, "rate.exceeded", 30)];
    const { clock, deliverWithLedger, outbox, stored } = outboxOf({
      receipt: [accepted],
      ledger: busy,
    });
    await deliverWithLedger("t");
    let hasStopped = false;
    void outbox.stop(1_000).then(() => (hasStopped = true));
    await clock.advance(0);
    expect(hasStopped).toBe(true);
    expect(stored.get("t")).toHaveProperty("ledger");
  });

  test("a stopping agent posts a receipt although its relay does not answer the ledger before it", async () => {
    const { clock, deliverWithLedger, events, outbox, stored } = outboxOf(
      { receipt: [accepted] },
      "ledger",
    );
    await deliverWithLedger("t");
    let hasStopped = false;
    void outbox.stop(1_000).then(() => (hasStopped = true));
    await clock.advance(499);
    expect(events).toEqual([]);
    await clock.advance(1);
    expect(hasStopped).toBe(true);
    expect(events).toContain("receipt.delivered");
    expect(stored.get("t")).toHaveProperty("ledger");
  });
});

describe("storage of a receipt", () => {
  test("a receipt is stored until the relay accepts it", async () => {
    const { clock, deliver, stored, outbox } = outboxWith(lost, accepted);
    await deliver("t");
    expect([...stored.keys()]).toEqual(["t"]);
    expect(outbox.findReceipt("t")).toMatchObject({ task_id: "t" });
    await clock.advance(10_000);
    expect(stored.size).toBe(0);
    expect(outbox.findReceipt("t")).toBeUndefined();
  });

  test("a receipt is deleted once the relay refuses it for good", async () => {
    const { deliver, stored } = outboxWith(refusal(409, "task.already_finished"));
    await deliver("t");
    expect(stored.size).toBe(0);
  });

  test("a receipt that a stopping agent could not deliver is sent by the next run", async () => {
    const before = outboxWith(lost);
    await before.deliver("t");
    const stopped = before.outbox.stop(0);
    await before.clock.advance(0);
    await stopped;
    const after = outboxWith(accepted);
    after.outbox.resume(await before.store.load());
    expect(after.outbox.findReceipt("t")).toMatchObject({ task_id: "t" });
    await after.clock.advance(0);
    expect(after.tries).toEqual([0]);
    expect(after.events).toEqual(["receipt.delivered"]);
  });

  test("a receipt is delivered even if the disk accepts no writes", async () => {
    const { deliver, events, outbox, store } = outboxWith(accepted);
    store.save = () => Promise.reject(new Error("ENOSPC"));
    await deliver("t");
    expect(events.toSorted()).toEqual(["receipt.delivered", "receipt.not_kept"]);
    expect(outbox.size).toBe(0);
  });
});

describe("when the relay is reachable again", () => {
  test("a receipt that waits for an unreachable relay is sent once it is reachable", async () => {
    const { clock, deliver, outbox, tries } = outboxWith(lost, lost, lost, accepted);
    await deliver("t");
    await clock.advance(2_000);
    expect(tries).toHaveLength(3);
    outbox.flush();
    await clock.advance(0);
    expect(tries).toEqual([0, 499, 1_498, 2_000]);
    expect(outbox.size).toBe(0);
  });

  test("E21: a receipt is sent at once although a proxy stated an hour of maintenance", async () => {
    const page = refusal(503, "response.malformed", 3_600);
    const { clock, deliver, outbox, tries } = outboxWith(page, accepted);
    await deliver("t");
    await clock.advance(1_000);
    outbox.flush();
    await clock.advance(0);
    expect(tries).toEqual([0, 1_000]);
  });

  test("a receipt that waits for a Retry-After keeps waiting", async () => {
    const { clock, deliver, outbox, tries } = outboxWith(refusal(429, "rate.exceeded", 30));
    await deliver("t");
    outbox.flush();
    await clock.advance(29_000);
    expect(tries).toHaveLength(1);
  });
});

describe("a ledger", () => {
  test("a ledger is posted before its receipt, and both leave the store", async () => {
    const { deliverWithLedger, events, posted, stored } = outboxOf({ receipt: [accepted] });
    await deliverWithLedger("t");
    expect(posted).toEqual(["ledger", "receipt"]);
    expect(events).toEqual(["ledger.delivered", "receipt.delivered"]);
    expect(stored.size).toBe(0);
  });

  test("a ledger waits for the disk, because an agent that is killed before would sign another one", async () => {
    const { clock, deliver, deliverWithLedger, posted, store } = outboxOf({ receipt: [accepted] });
    const disk = Promise.withResolvers<void>();
    store.save = () => disk.promise;
    await deliverWithLedger("t");
    expect(posted).toEqual([]);
    await deliver("u");
    expect(posted).toEqual(["receipt"]);
    disk.resolve();
    await clock.advance(0);
    expect(posted).toEqual(["receipt", "ledger", "receipt"]);
  });

  test("a ledger that the disk does not keep is left out, and its receipt is posted", async () => {
    const { deliverWithLedger, events, posted, store } = outboxOf({ receipt: [accepted] });
    store.save = () => Promise.reject(new Error("ENOSPC"));
    await deliverWithLedger("t");
    expect(posted).toEqual(["receipt"]);
    expect(events).toEqual(["receipt.not_kept", "ledger.left_out", "receipt.delivered"]);
  });

  test("a ledger that the relay refuses for good does not hold up its receipt", async () => {
    const ledger = [refusal(409, "ledger.not_extended")];
    const { deliverWithLedger, events, outbox } = outboxOf({ receipt: [accepted], ledger });
    await deliverWithLedger("t");
    expect(events).toEqual(["ledger.refused", "receipt.delivered"]);
    expect(outbox.size).toBe(0);
  });

  test("a receipt does not wait for a ledger that is accepted later, and is not posted again", async () => {
    const ledger = [refusal(429, "rate.limited", 30), accepted];
    const { clock, deliverWithLedger, outbox, posted, stored } = outboxOf({
      receipt: [accepted],
      ledger,
    });
    await deliverWithLedger("t");
    expect(posted).toEqual(["ledger", "receipt"]);
    expect(stored.size).toBe(1);
    await clock.advance(31_000);
    expect(posted).toEqual(["ledger", "receipt", "ledger"]);
    expect([outbox.size, stored.size]).toEqual([0, 0]);
  });

  test("E16: a ledger that its relay never accepts is given up an hour after its receipt", async () => {
    const ledger = [refusal(500, "server.failed")];
    const { clock, deliverWithLedger, events, outbox, posted, stored } = outboxOf({
      receipt: [accepted],
      ledger,
    });
    await deliverWithLedger("t");
    await clock.advance(50 * 60_000);
    expect([outbox.size, stored.size]).toEqual([1, 1]);
    await clock.advance(20 * 60_000);
    expect([outbox.size, stored.size]).toEqual([0, 0]);
    expect(events.at(-1)).toBe("ledger.given_up");
    expect(posted.filter((one) => one === "receipt")).toHaveLength(1);
  });

  test("E16: a ledger waits with its receipt for as long as the relay is away", async () => {
    const { clock, deliverWithLedger, events, outbox } = outboxOf({
      receipt: [lost],
      ledger: [lost],
    });
    await deliverWithLedger("t");
    await clock.advance(24 * 60 * 60_000);
    expect(outbox.size).toBe(1);
    expect(events).not.toContain("ledger.given_up");
  });

  test("E16: while 1,000 deliveries are under way, their receipts are kept and no further ledgers", async () => {
    const busy = [refusal(429, "rate.exceeded", 60)];
    const { clock, events, outbox, stored } = outboxOf({ receipt: [lost], ledger: busy });
    const { receipt, ledger } = { receipt: buildTestReceipt("t"), ledger: buildTestLedger("t") };
    for (let i = 0; i <= 1_000; i++) {
      void outbox.deliver({ receipt: { ...receipt, task_id: `t${i}` }, ledger }, "target");
    }
    await clock.advance(0);
    expect(events.filter((event) => event === "ledger.left_out")).toHaveLength(1);
    expect(stored.get("t999")).toHaveProperty("ledger");
    expect(stored.get("t1000")).not.toHaveProperty("ledger");
  });

  test("a ledger of the last run is posted again with its receipt", async () => {
    const { clock, outbox, posted } = outboxOf({ receipt: [accepted] });
    const receipt = buildTestReceipt("t");
    outbox.resume([{ receipt, ledger: buildTestLedger("t"), targetAgentId: "target" }]);
    await clock.advance(0);
    expect(posted).toEqual(["ledger", "receipt"]);
  });
});
