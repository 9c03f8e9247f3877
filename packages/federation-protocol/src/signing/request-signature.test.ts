import { describe, expect, it } from "vitest";
import { alpha, beta, NOW } from "../../test/messages.ts";
import {
  parseRequestClaim,
  type RequestClaim,
  type SignedRequest,
  signRequest,
  verifyRequest,
  verifyRequestAsync,
} from "./request-signature.ts";

const body = { task_id: "t", amount: 1, note: "é" };
const request: SignedRequest = {
  method: "POST",
  path: "/federation/v1/discover",
  to: beta.id,
  body,
};
const signer = { relayId: alpha.id, secretKey: alpha.secretKey, now: NOW };

function claimOf(headers: Record<string, string | undefined>, now = NOW) {
  return parseRequestClaim((name) => headers[name], now);
}

function signedClaim(signed: SignedRequest = request): RequestClaim {
  const read = claimOf(signRequest(signed, signer));
  if (!read.ok) throw new Error(read.code);
  return read.claim;
}

describe("requests between relays", () => {
  it("a request between relays carries its sender, a base64url signature and an ISO 8601 time", () => {
    const headers = signRequest(request, signer);
    expect(headers["X-Relay-Signature"]).toMatch(/^[A-Za-z0-9_-]{86}$/);
    expect(headers).toMatchObject({
      "X-Relay-Id": alpha.id,
      "X-Relay-Timestamp": "2025-10-09T08:53:20.000Z",
    });
  });

  it.each<[string, unknown]>([
    ["the members in another order", { note: "é", amount: 1, task_id: "t" }],
    [
      "another spelling of the same values",
      JSON.parse('{"amount":1.0,"task_id":"\\u0074","note":"\\u00e9"}'),
    ],
  ])("the signature of a request with %s verifies (F6)", async (_, sent) => {
    const verified = { ok: true, bound: true };
    expect(verifyRequest({ ...request, body: sent }, signedClaim(), alpha.publicKey)).toEqual(
      verified,
    );
    expect(
      await verifyRequestAsync({ ...request, body: sent }, signedClaim(), alpha.publicKey),
    ).toEqual(verified);
  });

  it.each<[string, Partial<SignedRequest>, string]>([
    ["another body", { body: { ...body, amount: 2 } }, alpha.publicKey],
    ["one member more", { body: { ...body, extra: null } }, alpha.publicKey],
    ["no body", { body: undefined }, alpha.publicKey],
    ["a body that has no canonical form", { body: { text: "\ud800" } }, alpha.publicKey],
    ["another key", {}, beta.publicKey],
    ["no key at all", {}, "not hex"],
  ])("the signature of a request with %s is refused (F2)", async (_, change, key) => {
    const refused = { ok: false, code: "federation.signature_invalid" };
    expect(verifyRequest({ ...request, ...change }, signedClaim(), key)).toEqual(refused);
    expect(await verifyRequestAsync({ ...request, ...change }, signedClaim(), key)).toEqual(
      refused,
    );
  });

  it.each([
    ["X-Relay-Id", undefined],
    ["X-Relay-Id", "alpha"],
    ["X-Relay-Signature", undefined],
    ["X-Relay-Signature", "a".repeat(86)],
    ["X-Relay-Signature", `${"A".repeat(86)}==`],
  ])("a request with the header %s %s is refused", (name, value) => {
    expect(claimOf({ ...signRequest(request, signer), [name]: value })).toMatchObject({
      ok: false,
      code: "federation.signature_invalid",
    });
  });

  it.each([
    [-300_001, false],
    [-300_000, true],
    [300_000, true],
    [300_001, false],
  ])(
    "a request by a clock that is %s ms from the sender's is accepted: %s (F3)",
    (distance, fresh) => {
      const read = claimOf(signRequest(request, signer), NOW + distance);
      expect(read.ok ? null : read.code).toBe(fresh ? null : "federation.timestamp_expired");
    },
  );

  it.each([
    undefined,
    "",
    "yesterday",
    String(NOW),
    "2025-10-09",
    "2025-99-09T08:53:20Z",
    "Thu, 09 Oct 2025 08:53:20 GMT",
  ])("a request with the time %s is refused (F3)", (timestamp) => {
    const headers = { ...signRequest(request, signer), "X-Relay-Timestamp": timestamp };
    expect(claimOf(headers)).toEqual({ ok: false, code: "federation.timestamp_expired" });
  });
});

describe("requests without a body", () => {
  const question: SignedRequest = {
    method: "GET",
    path: "/federation/v1/settlements?task_id=t",
    to: beta.id,
  };

  it("a request without a body signs its method, path, receiver and time", () => {
    expect(verifyRequest(question, signedClaim(question), alpha.publicKey)).toEqual({
      ok: true,
      bound: true,
    });
  });

  it.each<[string, Partial<SignedRequest>]>([
    ["another path", { path: "/federation/v1/settlements?task_id=u" }],
    ["another method", { method: "DELETE" }],
    ["another relay", { to: alpha.id }],
  ])("a request without a body is not valid for %s", (_, change) => {
    expect(
      verifyRequest({ ...question, ...change }, signedClaim(question), alpha.publicKey).ok,
    ).toBe(false);
  });

  it("a request without a body is not valid with another time", () => {
    const claim = { ...signedClaim(question), timestamp: "2025-10-09T08:53:21.000Z" };
    expect(verifyRequest(question, claim, alpha.publicKey).ok).toBe(false);
  });

  it("a request without a body may sign a constant, which does not cover the request", async () => {
    const claim = signedClaim({ ...question, body: {} });
    const verified = { ok: true, bound: false };
    expect(verifyRequest(question, claim, alpha.publicKey)).toEqual(verified);
    expect(await verifyRequestAsync(question, claim, alpha.publicKey)).toEqual(verified);
  });

  it("the constant that a request without a body may sign is no signature of a body (F2)", async () => {
    const claim = signedClaim({ ...question, body: {} });
    expect(verifyRequest(request, claim, alpha.publicKey).ok).toBe(false);
    expect((await verifyRequestAsync(request, claim, alpha.publicKey)).ok).toBe(false);
  });
});
