import { describe, expect, it } from "vitest";
import {
  alpha,
  beta,
  gamma,
  buildReceipt,
  buildResult,
  buildOutboundTask,
  worker,
} from "../../test/messages.ts";
import { TaskResultSchema } from "../messages/task.ts";
import { parseMessage } from "../parse-message.ts";
import { type ResultContext, verifyResult, verifyResultAsync } from "./task-result.ts";

const context: ResultContext = {
  task: buildOutboundTask(),
  self: alpha.id,
  peer: { relayId: beta.id, publicKey: beta.publicKey },
};

/** As a relay does it: the schema first, then the verification of what it has read. */
async function verifyAsync(body: unknown) {
  const read = parseMessage(TaskResultSchema, body);
  return read.ok ? verifyResultAsync(read.message, context) : read;
}

describe("verifyResult accepts a result", () => {
  it("a result is accepted when the pinned worker signed the receipt and the peer attests it", async () => {
    const verified = verifyResult(buildResult(), context);
    expect(verified).toMatchObject({ ok: true, receipt: { result: "3" } });
    expect(await verifyAsync(buildResult())).toEqual(verified);
  });

  it("a result that names either of the two relays as its origin is accepted", () => {
    expect(verifyResult({ ...buildResult(), origin_relay: beta.id }, context).ok).toBe(true);
  });

  it("a result whose worker failed or declined is accepted", () => {
    expect(verifyResult(buildResult(buildReceipt({ status: "failed" })), context).ok).toBe(true);
  });
});

describe("verifyResult refuses a result (F15)", () => {
  const forged = buildReceipt({}, gamma);
  it.each<[string, unknown, string]>([
    [
      "with a key of its own",
      { ...buildResult(forged), public_key: gamma.publicKey },
      "result.key_mismatch",
    ],
    ["under a key of its own", buildResult(forged), "result.receipt_invalid"],
    [
      "of another task",
      buildResult(buildReceipt({ task_id: "t", relay_task_id: "t" })),
      "result.receipt_invalid",
    ],
    [
      "that is bound to no task",
      buildResult(buildReceipt({ relay_task_id: undefined })),
      "result.receipt_invalid",
    ],
    [
      "of another agent",
      buildResult(buildReceipt({ agent_id: gamma.id })),
      "result.receipt_invalid",
    ],
    [
      "that was changed",
      { ...buildResult(), receipt: { ...buildReceipt(), result: "4" } },
      "result.receipt_invalid",
    ],
    [
      "without an attestation",
      { ...buildResult(), attestation: undefined },
      "federation.malformed",
    ],
    [
      "with an empty attestation",
      { ...buildResult(), attestation: {} },
      "result.attestation_invalid",
    ],
    ["attested by another relay", buildResult(buildReceipt(), gamma), "result.attestation_invalid"],
    [
      "attested for another receipt",
      { ...buildResult(), attestation: buildResult(buildReceipt({ result: "4" })).attestation },
      "result.attestation_invalid",
    ],
    ["for another relay", { ...buildResult(), origin_relay: gamma.id }, "federation.wrong_sender"],
    ["that names another task", { ...buildResult(), task_id: "t" }, "result.task_not_found"],
    ["that is null", null, "federation.malformed"],
  ])("a result whose receipt or attestation is wrong is refused: %s", async (_, body, code) => {
    expect(verifyResult(body, context)).toMatchObject({ ok: false, code });
    expect(await verifyAsync(body)).toMatchObject({ ok: false, code });
  });

  it("a result with an attestation of another task is refused", () => {
    const task = { ...context.task, taskId: "t" };
    const receipt = buildReceipt({ task_id: "t", relay_task_id: "t" });
    const body = { ...buildResult(receipt), task_id: "t" };
    expect(verifyResult(body, { ...context, task })).toMatchObject({
      code: "result.attestation_invalid",
      detail: "attestation.task_mismatch",
    });
  });

  it("a result under the worker's new key at the peer is refused, because the pinned one stays", () => {
    const task = { ...context.task, publicKey: gamma.publicKey };
    expect(verifyResult(buildResult(), { ...context, task }).ok).toBe(false);
    expect(worker.publicKey).not.toBe(gamma.publicKey);
  });
});
