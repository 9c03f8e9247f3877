import * as v from "valibot";
import { count, looseObject, money, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Checks = v.array(v.object({ check: v.string(), ok: v.boolean(), detail: v.string() }));
/**
 * POSIX seconds of the latest restore of the relay's database from a backup; 0 without one. Relays of
 * older versions omit it.
 */
const incarnation = v.optional(wholeNumber);
const Alive = v.object({ status: v.literal("ok") });

export const system = {
  health: defineOperation({
    method: "GET",
    path: "/health",
    summary: "Check that the relay responds.",
    section: "System",
    auth: "public",
    tier: "public",
    ok: { 200: v.object({ ...Alive.entries, incarnation }) },
    refusals: [],
  }),
  live: defineOperation({
    method: "GET",
    path: "/health/live",
    summary: "Check that the process runs; an orchestrator restarts it otherwise.",
    section: "System",
    auth: "public",
    tier: null,
    ok: { 200: Alive },
    refusals: [],
  }),
  ready: defineOperation({
    method: "GET",
    path: "/health/ready",
    summary:
      "Check that database, schema and background jobs work and that the relay is not draining.",
    section: "System",
    auth: "public",
    tier: null,
    ok: { 200: v.object({ status: v.literal("ready"), checks: Checks }) },
    refusals: ["server.draining", "server.unavailable", "server.not_ready"],
  }),
  metrics: defineOperation({
    method: "GET",
    path: "/metrics",
    summary: "Get the relay's metrics in the Prometheus text format.",
    section: "Operator",
    auth: "master",
    tier: "read",
    media: ["text/plain; version=0.0.4; charset=utf-8"],
    ok: { 200: v.string() },
    refusals: [],
  }),
  docs: defineOperation({
    method: "GET",
    path: "/docs",
    summary: "Show this contract as a self-contained HTML page.",
    section: "System",
    auth: "public",
    tier: "public",
    media: ["text/html; charset=utf-8"],
    ok: { 200: v.string() },
    refusals: [],
  }),
  relayInfo: defineOperation({
    method: "GET",
    path: "/.well-known/agent-relay.json",
    summary: "Get the relay's identity and the key that signs its tokens and settlement records.",
    section: "System",
    auth: "public",
    tier: "public",
    ok: {
      200: v.object({
        relay_id: v.string(),
        did: v.string(),
        public_key: v.string(),
        /** The succession records of the relay's key, oldest first. */
        succession: v.optional(v.array(looseObject)),
        /** The keys and addresses of the relay's log and witness, signed by the relay. */
        log: v.optional(
          v.object({
            relay_id: v.string(),
            origin: v.nullable(v.string()),
            vkey: v.nullable(v.string()),
            prefix: v.nullable(v.string()),
            witness_vkey: v.nullable(v.string()),
            witness_prefix: v.nullable(v.string()),
            suite: v.string(),
            signature: v.string(),
          }),
        ),
        name: v.string(),
        base_url: v.nullable(v.string()),
        fee_rate: v.number(),
        /** The terms of inspections before payment, and how the operator decides; older relays omit it. */
        disputes: v.optional(
          v.object({
            answer_ms: wholeNumber,
            decision_ms: wholeNumber,
            fee_rate: v.number(),
            fee_min: money,
            window_min_ms: wholeNumber,
            /** Disputes that reached the operator, that it decided, and in which its time passed. */
            opened: count,
            decided: count,
            undecided: count,
          }),
        ),
        features: v.array(v.string()),
        incarnation,
        version: v.string(),
      }),
    },
    refusals: [],
  }),
  openApi: defineOperation({
    method: "GET",
    path: "/openapi.json",
    summary: "Get this document.",
    section: "System",
    auth: "public",
    tier: "public",
    headers: { "If-None-Match": "The `ETag` of an earlier answer; 304 means that it is current." },
    rawAnswer: true,
    ok: { 200: looseObject, 304: v.undefined() },
    refusals: [],
  }),
  reconcile: defineOperation({
    method: "GET",
    path: "/api/v1/admin/reconciliation",
    summary: "Check that no money was created or lost and that records, holds and postings agree.",
    section: "Operator",
    auth: "master",
    tier: "expensive",
    ok: {
      200: v.object({
        consistent: v.boolean(),
        checks: v.array(
          v.object({
            name: v.string(),
            ok: v.boolean(),
            count: v.optional(wholeNumber),
            ids: v.optional(v.array(v.string())),
            detail: v.string(),
          }),
        ),
        totals: v.object({
          deposits: money,
          withdrawals: money,
          balances: money,
          holds: money,
          fees: money,
          peers: money,
          /** Card payments that were refunded or disputed; already subtracted from the deposits. */
          card_reversals: v.optional(money),
        }),
      }),
    },
    refusals: [],
  }),
} as const;
