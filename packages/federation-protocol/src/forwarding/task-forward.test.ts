import { asMicro } from "@agent/budget";
import { signJson } from "@agent/crypto";
import { MAX_TASK_DEPTH } from "@agent/routing-semiring";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { alpha, beta, buildForward, gamma, NOW, TERMS, worker } from "../../test/messages.ts";
import { TaskForwardSchema } from "../messages/task.ts";
import { verifySignedMessage, verifySignedMessageAsync } from "../signing/signed-message.ts";
import { type ForwardContext, checkForward } from "./task-forward.ts";

const context: ForwardContext = {
  from: alpha.id,
  self: beta.id,
  now: NOW,
  idOwner: null,
  worker: { publicKeys: [worker.publicKey], price: asMicro(1_000_000) },
  hops: 1,
  feeRate: 0.05,
  clearing: { balance: asMicro(0), limit: asMicro(1_000_000_000) },
};

const read = (body: unknown) => verifySignedMessage(TaskForwardSchema, body, alpha.publicKey);
const verify = (raw: unknown, publicKey = alpha.publicKey) =>
  verifySignedMessageAsync({ message: v.parse(TaskForwardSchema, raw), raw }, publicKey);

describe("bodies of forwards", () => {
  it("the body of a forward verifies under its sender's key, unknown members included", async () => {
    const body = signJson({ ...buildForward(), trace: "x" }, alpha.secretKey);
    expect(read(body)).toMatchObject({ ok: true });
    expect(await verify(body)).toEqual({ ok: true });
  });

  it.each<[string, object]>([
    ["changed", { target_agent: gamma.id }],
    ["added to", { trace: "x" }],
  ])("the body of a forward is refused when it was %s after signing (F2)", async (_, change) => {
    const refused = { ok: false, code: "federation.signature_invalid" };
    const body = { ...buildForward(), ...change };
    expect(read(body)).toEqual(refused);
    expect(await verify(body)).toEqual(refused);
    expect(await verify(buildForward(), "no key")).toEqual(refused);
    expect(verifySignedMessage(TaskForwardSchema, buildForward(), "no key")).toEqual(refused);
  });

  it.each([
    [{ amount: -1, currency: "USD" }],
    [{ amount: Number.NaN, currency: "USD" }],
    [{ amount: Infinity, currency: "USD" }],
    [{ amount: "1", currency: "USD" }],
    [{ amount: 0.0000001, currency: "USD" }],
    [{ amount: 1, currency: "EUR" }],
    [undefined],
  ])("the body of a forward is malformed with the budget %o (F14)", (budget) => {
    expect(read({ ...buildForward(), budget })).toMatchObject({
      ok: false,
      code: "federation.malformed",
    });
  });

  it("the body of a forward is malformed with an id that is not a UUID, because money would be held under it", () => {
    const body = buildForward({ taskId: "task:1" });
    expect(read(body)).toMatchObject({ ok: false, code: "federation.malformed" });
  });

  it("the body of a forward is malformed as the body of another message (F5)", () => {
    expect(read(signJson({ relay_id: alpha.id, timestamp: NOW }, alpha.secretKey)).ok).toBe(false);
  });
});

describe("forwarded tasks", () => {
  it("a forwarded task is accepted for the amount that the receiver will be paid", () => {
    expect(checkForward(buildForward(), context)).toEqual({ ok: true, amount: 950_000 });
  });

  it.each<[string, Partial<Parameters<typeof buildForward>[0]>, Partial<ForwardContext>, string]>([
    ["in another relay's name", { self: gamma.id }, {}, "federation.wrong_sender"],
    ["with a known id (F13)", {}, { idOwner: "sender" }, "forward.duplicate"],
    ["with the id of another party's task", {}, { idOwner: "other" }, "forward.id_taken"],
    [
      "with a known id and an old time (F4)",
      {},
      { idOwner: "sender", now: NOW + 300_001 },
      "forward.duplicate",
    ],
    [
      "if it was signed over 5 minutes ago",
      {},
      { now: NOW + 300_001 },
      "federation.timestamp_expired",
    ],
    [
      "if it has passed this relay",
      { path: [`relay:${beta.id}`, `relay:${alpha.id}`] },
      {},
      "forward.looped",
    ],
    ["if it has expired", { expiresAt: NOW }, {}, "forward.expired"],
    [
      "for an agent that is unknown or hidden (F14)",
      {},
      { worker: null },
      "forward.agent_not_found",
    ],
    ["for another key of the agent", { publicKey: gamma.publicKey }, {}, "forward.key_mismatch"],
    [
      "B1: for a capability that the agent does not list",
      {},
      { worker: { publicKeys: [worker.publicKey], price: null } },
      "forward.not_offered",
    ],
    ["for less than the price (F14)", { amount: asMicro(949_999) }, {}, "forward.underpaid"],
    ["without payment for a paid agent (F14)", { amount: asMicro(0) }, {}, "forward.underpaid"],
    ["if its task is too deep", { depth: MAX_TASK_DEPTH + 1 }, {}, "task.too_deep"],
    [
      "beyond the credit limit",
      {},
      { clearing: { balance: asMicro(0), limit: asMicro(949_999) } },
      "clearing.limit_exceeded",
    ],
    [
      "from a peer that owes too much already",
      {},
      { clearing: { balance: asMicro(-100_000), limit: asMicro(1_000_000) } },
      "clearing.limit_exceeded",
    ],
  ])("a forwarded task is refused %s", (_, order, change, code) => {
    expect(checkForward(buildForward(order), { ...context, ...change })).toEqual({
      ok: false,
      code,
    });
  });

  it("a forwarded task may pay one fee less for each counted hop, of which at most three count", () => {
    const isEnough = (amount: number, hops: number) =>
      checkForward(buildForward({ amount: asMicro(amount) }), { ...context, hops }).ok;
    expect([isEnough(902_500, 2), isEnough(902_499, 2)]).toEqual([true, false]);
    expect([isEnough(857_375, 3), isEnough(857_374, 3)]).toEqual([true, false]);
    expect(isEnough(857_374, 16)).toBe(false);
  });

  it("a forwarded task needs no credit if it is free", () => {
    const free = { publicKeys: null, price: asMicro(0) };
    const clearing = { balance: asMicro(-5), limit: asMicro(0) };
    const checked = checkForward(buildForward({ amount: asMicro(0) }), {
      ...context,
      worker: free,
      clearing,
    });
    expect(checked).toEqual({ ok: true, amount: 0 });
  });

  it("a forwarded task needs no credit if the peer has paid in advance", () => {
    const clearing = { balance: TERMS.net, limit: asMicro(0) };
    expect(checkForward(buildForward(), { ...context, clearing }).ok).toBe(true);
  });

  it("a forwarded task is accepted without the members that only this implementation sends", () => {
    const { public_key: _, expires_at: __, timestamp: ___, to: ____, ...bare } = buildForward();
    expect(checkForward({ ...bare, routing_choice: null }, context).ok).toBe(true);
  });
});
