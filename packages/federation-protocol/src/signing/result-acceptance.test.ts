import { signJson } from "@agent/crypto";
import { describe, expect, it } from "vitest";
import { alpha, beta, NOW, TASK } from "../../test/messages.ts";
import { createResultAcceptance, parseResultAcceptance } from "./result-acceptance.ts";

const about = { taskId: TASK, receiptHash: "ab".repeat(32), relayId: alpha.id };
const accepted = createResultAcceptance(about, { secretKey: alpha.secretKey, now: NOW });
const expected = { ...about, publicKey: alpha.publicKey };
const { signature: _, ...body } = accepted;

describe("A9: signed acceptances", () => {
  it("a signed acceptance names task, receipt, relay and time, and verifies under the relay's key", () => {
    expect(body).toEqual({
      status: "accepted",
      task_id: TASK,
      receipt_hash: "ab".repeat(32),
      relay_id: alpha.id,
      timestamp: NOW,
      suite: "agent-jcs-ed25519-b64-v1",
    });
    expect(parseResultAcceptance(accepted, expected)).toEqual(accepted);
  });

  it("a signed acceptance is parsed from an answer that also carries a settlement", () => {
    expect(parseResultAcceptance({ ...accepted, settlement: {} }, expected)).toEqual(accepted);
  });

  it.each<[string, unknown]>([
    ["of the version before", { status: "accepted" }],
    ["that is pending", signJson({ ...body, status: "pending" }, alpha.secretKey)],
    ["of another time than was signed", { ...accepted, timestamp: NOW + 1 }],
    ["of another task", signJson({ ...body, task_id: "other" }, alpha.secretKey)],
    ["of another receipt", signJson({ ...body, receipt_hash: "cd".repeat(32) }, alpha.secretKey)],
    ["of another relay", signJson({ ...body, relay_id: beta.id }, alpha.secretKey)],
    ["of another suite", signJson({ ...body, suite: "other" }, alpha.secretKey)],
    ["under another key", signJson(body, beta.secretKey)],
    ["that is no object", "accepted"],
  ])("a signed acceptance is not parsed from an answer %s", (_name, answer) => {
    expect(parseResultAcceptance(answer, expected)).toBeNull();
  });
});
