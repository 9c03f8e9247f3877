import { asMicro } from "@agent/budget";
import { hashReceipt } from "@agent/receipts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  alpha,
  beta,
  gamma,
  buildDescription,
  NOW,
  buildReceipt,
  buildOutboundTask,
  buildInboundTask,
  worker,
} from "../test/messages.ts";
import { type RefusalVector, type RequestVector, formatVectors } from "../test/vectors.ts";
import { buildProposalAnswer } from "./peering/responder.ts";
import { verifyHeartbeat } from "./peering/heartbeat.ts";
import { SettlementForwardSchema } from "./messages/settlement.ts";
import { TaskForwardSchema } from "./messages/task.ts";
import { countPassedHops } from "./forwarding/passed-hops.ts";
import { verifyRemoval } from "./peering/removal.ts";
import { parseRequestClaim, verifyRequest } from "./signing/request-signature.ts";
import { checkSettlement } from "./settlement/settlement-forward.ts";
import { verifySignedMessage } from "./signing/signed-message.ts";
import { isTextSigned } from "./signing/signed-text.ts";
import { checkForward } from "./forwarding/task-forward.ts";
import { verifyResult } from "./forwarding/task-result.ts";

const file = readFileSync(new URL("../../../vectors/federation.json", import.meta.url), "utf8");
const { requests, refused } = JSON.parse(file) as {
  readonly requests: readonly RequestVector[];
  readonly refused: readonly RefusalVector[];
};
const keys = new Map([alpha, beta, gamma].map(({ id, publicKey }) => [id, publicKey]));

it("vectors/federation.json equals the generated vectors (pnpm --filter @agent/federation-protocol vectors)", () => {
  expect(file).toBe(formatVectors());
});

describe("A request of the vectors", () => {
  it.each(requests)("$name: has headers that verify under the sender's key alone", (vector) => {
    const read = parseRequestClaim((name) => vector.headers[name], NOW);
    if (!read.ok) throw new Error(read.code);
    const { from, signed_text } = vector;
    expect(read.claim.relayId).toBe(from);
    const holds = [...keys].filter(([, key]) => verifyRequest(vector, read.claim, key).ok);
    expect(holds.map(([id]) => id)).toEqual([from]);
    expect(isTextSigned(signed_text, read.claim.signature, keys.get(from) ?? "")).toBe(true);
  });

  it.each(requests.filter(({ inner }) => inner))(
    "$name: has an inner signature over the text",
    (vector) => {
      const { member = "", text = "" } = vector.inner ?? {};
      const signature = member
        .split(".")
        .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], vector);
      const signer = member.startsWith("answer") ? vector.to : vector.from;
      expect(isTextSigned(text, String(signature), keys.get(signer) ?? "")).toBe(true);
    },
  );
});

const notice = { from: alpha.id, publicKey: alpha.publicKey, lastTimestamp: 0, now: NOW };
const clearing = { balance: asMicro(0), limit: asMicro(1_000_000_000) };
const settles = buildInboundTask({
  state: "returning",
  receiptStatus: "completed",
  receiptHash: hashReceipt(buildReceipt()),
});

/** The receiving relay's check of a message, by path. */
const checks: Readonly<Record<string, (body: unknown) => { ok: boolean; code?: string }>> = {
  "peer/propose": (body) =>
    buildProposalAnswer(body, {
      self: buildDescription(beta),
      policy: { blocked: [], allowed: null, maxPeers: 50 },
      getAdmissionInput: () => ({ known: null, livePeers: 0 }),
      nonce: new Uint8Array(32),
      secretKey: beta.secretKey,
      now: NOW,
    }),
  "peer/heartbeat": (body) => verifyHeartbeat(body, notice),
  "peer/remove": (body) => verifyRemoval(body, notice),
  "task/forward": (body) => {
    const read = verifySignedMessage(TaskForwardSchema, body, alpha.publicKey);
    if (!read.ok) return read;
    return checkForward(read.message, {
      from: alpha.id,
      self: beta.id,
      now: NOW,
      idOwner: null,
      worker: { publicKeys: [worker.publicKey], price: asMicro(1_000_000) },
      // Beta has pinned gamma's key and knows no other relay.
      hops: countPassedHops(body, read.message, {
        from: alpha.id,
        findKey: (relayId) => (relayId === gamma.id ? gamma.publicKey : undefined),
        federationHops: 3,
      }),
      feeRate: 0.05,
      clearing,
    });
  },
  "task/result": (body) =>
    verifyResult(body, {
      task: buildOutboundTask(),
      self: alpha.id,
      peer: { relayId: beta.id, publicKey: beta.publicKey },
    }),
  "settlement/forward": (body) => {
    const read = verifySignedMessage(SettlementForwardSchema, body, alpha.publicKey);
    if (!read.ok) return read;
    const task = read.message.task_id === settles.taskId ? settles : null;
    return checkSettlement(task, read.message, {
      from: alpha.id,
      now: NOW,
      feeRate: 0.05,
      clearing,
    });
  },
};
const getCheck = (path: string) => checks[path.replace("/federation/v1/", "")];

describe("A body of the vectors", () => {
  it.each(requests.filter(({ path }) => getCheck(path)))(
    "a valid body is accepted: $name",
    ({ path, body }) => {
      expect(getCheck(path)?.(body)).toMatchObject({ ok: true });
    },
  );

  it.each(refused)("the body for $name is refused with $code", ({ path, body, code }) => {
    expect(getCheck(path)?.(body)).toMatchObject({ ok: false, code });
  });
});

it("docs/federation.md shows the vectors", () => {
  const page = readFileSync(new URL("../../../docs/federation.md", import.meta.url), "utf8");
  const shown = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, block = ""]): unknown =>
    JSON.parse(block),
  );
  expect(shown.length).toBeGreaterThan(10);
  const steps = JSON.parse(
    readFileSync(new URL("../../../vectors/own/relay-succession.json", import.meta.url), "utf8"),
  ) as { readonly cases: readonly { readonly records: unknown }[] };
  const known = [
    ...requests.flatMap(({ headers, body, answer }): unknown[] => [headers, body, answer]),
    ...steps.cases.flatMap(({ records }) => records),
  ];
  for (const example of shown) expect(known).toContainEqual(example);
});
