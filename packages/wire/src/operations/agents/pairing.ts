import * as v from "valibot";
import { agentId, extensibleEnum, publicKey, shortText } from "../../engine/fields.ts";
import { defineOperation, scopes } from "../../engine/operation.ts";

/** Where a pairing stands; one that nobody resolved in time is gone. */
const PairingStatus = extensibleEnum(["pending", "claimed", "approved", "denied"]);

export const Pairing = v.object({
  pairing_id: v.string(),
  agent_id: v.string(),
  status: PairingStatus,
  /** What claimed the code; null before. */
  device_name: v.nullable(v.string()),
  public_key: v.nullable(v.string()),
  /** The first 16 hex digits of the SHA-256 of the claimed key's bytes. */
  fingerprint: v.nullable(v.string()),
  /** Of the device that was approved. */
  device_id: v.nullable(v.string()),
  expires_at: v.number(),
});
export type Pairing = v.InferInput<typeof Pairing>;

const pairingCode = v.pipe(
  v.string(),
  v.maxLength(32, "has to be at most 32 characters"),
  v.transform((text) => text.toUpperCase().replaceAll(/[\s-]/g, "")),
);

export const pairing = {
  initiatePairing: defineOperation({
    method: "POST",
    path: "/pairing/initiate",
    summary: "Open a pairing session: whoever has its code may offer a key for a new device.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    tier: "auth",
    body: v.object({ agent_id: v.optional(agentId) }),
    ok: {
      201: v.object({
        pairing_id: v.string(),
        pairing_code: v.string(),
        expires_at: v.number(),
      }),
    },
    refusals: ["request.invalid", "auth.not_owner", "agent.not_found", "agent.revoked"],
  }),
  claimPairing: defineOperation({
    method: "POST",
    path: "/pairing/claim",
    summary: "Offer a device's key under a pairing code; repeated, it tells what became of it.",
    section: "Pairing",
    auth: "public",
    tier: "auth",
    body: v.object({
      pairing_code: pairingCode,
      device_name: shortText,
      public_key: publicKey,
    }),
    ok: {
      200: v.object({
        pairing_id: v.string(),
        agent_id: v.string(),
        status: PairingStatus,
        device_id: v.optional(v.string()),
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
    summary: "A pairing session of the calling agent, with the key that claimed it.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    tier: "read",
    ok: { 200: Pairing },
    refusals: ["pairing.not_found", "pairing.not_owner", "pairing.expired"],
  }),
  approvePairing: defineOperation({
    method: "POST",
    path: "/pairing/:pairingId/approve",
    summary: "Make the key that claimed a session a device of the agent.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    singleUse: true,
    tier: "auth",
    body: v.object({ scopes: v.optional(v.array(v.picklist(scopes))) }),
    ok: { 200: v.object({ device_id: v.string(), agent_id: v.string() }) },
    refusals: [
      "pairing.not_found",
      "pairing.not_owner",
      "pairing.not_claimed",
      "pairing.resolved",
      "pairing.expired",
      "agent.key_in_use",
      "agent.revoked",
    ],
  }),
  denyPairing: defineOperation({
    method: "POST",
    path: "/pairing/:pairingId/deny",
    summary: "End a pairing session without a device.",
    section: "Pairing",
    auth: "bearer",
    scope: "pair",
    tier: "auth",
    ok: { 200: v.object({ pairing_id: v.string(), status: v.literal("denied") }) },
    refusals: ["pairing.not_found", "pairing.not_owner", "pairing.resolved", "pairing.expired"],
  }),
} as const;
