import { LedgerSchema } from "@agent/ledger";
import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { looseObject, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const StoredLedger = v.object({
  goal_id: v.string(),
  content_hash: v.string(),
  stored_at: describeAs(
    wholeNumber,
    "The time at which the ledger was stored, in ms since the Unix epoch.",
  ),
});

export const ledger = {
  storeLedger: defineOperation({
    method: "POST",
    path: "/agent/:agentId/ledger",
    summary: "Store an agent's signed ledger of a goal, or an extension of the stored one.",
    section: "Ledger",
    auth: "bearer",
    ownerOnly: true,
    scope: "ledger:write",
    tier: "write",
    body: LedgerSchema,
    rawBody: true,
    ok: { 200: StoredLedger, 201: StoredLedger },
    refusals: [
      "ledger.malformed",
      "ledger.spec",
      "ledger.wrong_agent",
      "ledger.content_hash_mismatch",
      "ledger.unordered",
      "ledger.unsigned",
      "ledger.key_missing",
      "ledger.signature_invalid",
      "ledger.contradicted",
      "ledger.not_extended",
    ],
  }),
  getLedger: defineOperation({
    method: "GET",
    path: "/agent/:agentId/ledger/:goalId",
    summary: "Get the stored signed ledger of a goal, or else one built from the relay's records.",
    section: "Ledger",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    rawAnswer: true,
    ok: { 200: looseObject },
    refusals: ["ledger.not_found", "ledger.not_participant"],
  }),
  getManifest: defineOperation({
    method: "GET",
    path: "/api/v1/execution/:agentId/:goalId",
    summary: "Get the relay's own records of a goal in the form of an unsigned ledger.",
    section: "Ledger",
    auth: "bearer",
    scope: "task:read",
    tier: "read",
    rawAnswer: true,
    ok: { 200: LedgerSchema },
    refusals: ["ledger.not_found", "ledger.not_participant"],
  }),
} as const;
