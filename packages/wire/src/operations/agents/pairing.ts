import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { agentId, extensibleEnum, publicKey, shortText, wholeNumber } from "../../engine/fields.ts";
import { defineOperation, scopes } from "../../engine/operation.ts";

/** The state of a pairing; one that is not resolved in time is deleted. */
const PairingStatus = extensibleEnum(["pending", "claimed", "approved", "denied"]);

export const Pairing = v.object({
  pairing_id: v.string(),
  agent_id: v.string(),
  status: describeAs(PairingStatus, "The state of the session."),
  device_name: describeAs(
    v.nullable(v.string()),
    "The name of the device that claimed the code; null until then.",
  ),
  public_key: describeAs(
    v.nullable(v.string()),
    "The Ed25519 public key that claimed the code, as 64 hex digits; null until then.",
  ),
  fingerprint: describeAs(
    v.nullable(v.string()),
    "The first 16 hex digits of the SHA-256 of the claimed key's bytes; null until then.",
  ),
  device_id: describeAs(v.nullable(v.string()), "The id of the approved device; null until then."),
  expires_at: wholeNumber,
});
export type Pairing = v.InferInput<typeof Pairing>;

const pairingCode = v.pipe(
  v.string(),
  v.maxLength(32, "must be at most 32 characters"),
  v.transform((text) => text.toUpperCase().replaceAll(/[\s-]/g, "")),
);

export const pairing = {
  initiatePairing: defineOperation({
    method: "POST",
    path: "/pairing/initiate",
    summary: "Start a pairing session, whose code lets a new device offer its key.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    tier: "auth",
    body: v.object({
      agent_id: describeAs(v.optional(agentId), "The id of the agent; the caller's if absent."),
    }),
    ok: {
      201: v.object({
        pairing_id: v.string(),
        pairing_code: describeAs(v.string(), "The code that the new device sends."),
        expires_at: wholeNumber,
      }),
    },
    refusals: ["request.invalid", "auth.not_owner", "agent.not_found", "agent.revoked"],
  }),
  claimPairing: defineOperation({
    method: "POST",
    path: "/pairing/claim",
    summary: "Claim a pairing code with a device's key; repeating it returns the current status.",
    section: "Pairing",
    auth: "public",
    tier: "auth",
    body: v.object({
      pairing_code: describeAs(pairingCode, "The code; case, spaces and hyphens do not matter."),
      device_name: shortText,
      public_key: publicKey,
    }),
    ok: {
      200: v.object({
        pairing_id: v.string(),
        agent_id: v.string(),
        status: describeAs(PairingStatus, "The state of the session."),
        device_id: describeAs(v.optional(v.string()), "The id of the device, once it is approved."),
      }),
    },
    refusals: [
      "pairing.not_found",
      "pairing.code_used",
      "pairing.expired",
      "pairing.too_many_tries",
      "agent.key_unacceptable",
      "agent.key_in_use",
    ],
  }),
  getPairing: defineOperation({
    method: "GET",
    path: "/pairing/:pairingId",
    summary: "Get a pairing session of the calling agent, with the key that claimed it.",
    section: "Pairing",
    auth: "bearer",
    audited: "never",
    scope: "pair",
    tier: "read",
    ok: { 200: Pairing },
    refusals: ["pairing.not_found", "pairing.not_owner", "pairing.expired"],
  }),
  approvePairing: defineOperation({
    method: "POST",
    path: "/pairing/:pairingId/approve",
    summary: "Approve a claimed pairing session; its key becomes a device of the agent.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    singleUse: true,
    tier: "auth",
    body: v.object({
      scopes: describeAs(
        v.optional(v.array(v.picklist(scopes))),
        "The scopes that tokens of the device may contain; if absent, all but `account:write`, `pair`, `agent:write` and `approvals:vote`.",
      ),
    }),
    ok: { 200: v.object({ device_id: v.string(), agent_id: v.string() }) },
    refusals: [
      "pairing.not_found",
      "pairing.not_owner",
      "pairing.not_claimed",
      "pairing.resolved",
      "pairing.expired",
      "agent.key_unacceptable",
      "agent.key_in_use",
      "pairing.scope_not_held",
      "agent.revoked",
      "device.too_many",
    ],
  }),
  denyPairing: defineOperation({
    method: "POST",
    path: "/pairing/:pairingId/deny",
    summary: "Deny a pairing session; no device is added.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    tier: "auth",
    ok: {
      200: v.object({
        pairing_id: v.string(),
        status: describeAs(v.literal("denied"), "Always `denied`."),
      }),
    },
    refusals: ["pairing.not_found", "pairing.not_owner", "pairing.resolved", "pairing.expired"],
  }),
} as const;
