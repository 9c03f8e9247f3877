import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import { count, looseObject, money, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

const Checks = v.array(
  v.object({
    check: describeAs(v.string(), "The name of the check."),
    ok: describeAs(v.boolean(), "Whether the check passed."),
    detail: describeAs(v.string(), "The finding, in plain text."),
  }),
);
/**
 * POSIX seconds of the latest restore of the relay's database from a backup; 0 if there was none. Relays of
 * older versions omit it.
 */
const incarnation = v.optional(wholeNumber);

/** The result of one accounting check. */
const BooksCheck = v.object({
  code: describeAs(
    v.optional(v.string()),
    "The fault that the rule finds, such as `sum_not_zero`; relays of older versions omit it.",
  ),
  name: describeAs(v.string(), "The rule, such as `the balances of all accounts sum to 0`."),
  ok: describeAs(v.boolean(), "Whether the rule holds."),
  count: describeAs(v.optional(wholeNumber), "The number of rows that break the rule."),
  ids: describeAs(
    v.optional(v.array(v.string())),
    "The ids of the first 20 rows that break the rule, such as accounts or tasks.",
  ),
  detail: describeAs(v.string(), "The finding, in plain text."),
});

const BooksTotals = v.object({
  deposits: describeAs(money, "The deposits less the reversed card payments, in USD."),
  withdrawals: describeAs(money, "The withdrawals that the operator has paid, in USD."),
  balances: describeAs(money, "The balances of all agents, in USD; holds are not in them."),
  holds: describeAs(
    money,
    "The money held for tasks, inspections, withdrawals and other relays, in USD.",
  ),
  fees: describeAs(money, "The earnings of the relay, in USD."),
  peers: describeAs(
    money,
    "The amount in USD that this relay owes its peers, less what they owe it.",
  ),
  card_reversals: describeAs(
    v.optional(money),
    "The card payments that were refunded or disputed, in USD; already subtracted from `deposits`.",
  ),
});

const Alive = v.object({ status: describeAs(v.literal("ok"), "Always `ok`.") });

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
    ok: {
      200: v.object({
        status: describeAs(v.literal("ready"), "Always `ready`."),
        checks: describeAs(Checks, "The checks, all of which passed."),
      }),
    },
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
        succession: describeAs(
          v.optional(v.array(looseObject)),
          "The succession records of the relay's key, oldest first.",
        ),
        log: describeAs(
          v.optional(
            v.object({
              relay_id: v.string(),
              origin: describeAs(
                v.nullable(v.string()),
                "The origin of the log, the name of its key; null while the log is off.",
              ),
              vkey: describeAs(
                v.nullable(v.string()),
                "The key of the log in the form of C2SP signed notes; null while the log is off.",
              ),
              prefix: describeAs(
                v.nullable(v.string()),
                "The URL under which the log is served; null while it is off, or without `base_url`.",
              ),
              witness_vkey: describeAs(
                v.nullable(v.string()),
                "The key by which the relay cosigns other logs, in the same form; null while it does not.",
              ),
              witness_prefix: describeAs(
                v.nullable(v.string()),
                "The URL under which it cosigns other logs; null while it does not, or without `base_url`.",
              ),
              suite: v.string(),
              signature: v.string(),
            }),
          ),
          "The keys and addresses of the relay's log and witness, signed by the relay.",
        ),
        name: describeAs(v.string(), "The name of the relay."),
        base_url: describeAs(
          v.nullable(v.string()),
          "The public address of the relay; null if it is not configured.",
        ),
        fee_rate: describeAs(v.number(), "The relay's fee as a share of the payment, from 0 to 1."),
        disputes: describeAs(
          v.optional(
            v.object({
              answer_ms: describeAs(
                wholeNumber,
                "The executor's time to contest a rejection, in ms.",
              ),
              decision_ms: describeAs(
                wholeNumber,
                "The arbiter's time to decide, and then the operator's, in ms.",
              ),
              fee_rate: describeAs(
                v.number(),
                "The arbitration fee as a share of the disputed amount, from 0 to 1; at least `fee_min`.",
              ),
              fee_min: money,
              window_min_ms: describeAs(
                wholeNumber,
                "The shortest time to inspect a result that the relay accepts, in ms.",
              ),
              opened: describeAs(count, "The number of disputes that reached the operator."),
              decided: describeAs(count, "The number of disputes that the operator decided."),
              undecided: describeAs(
                count,
                "The number of disputes that the operator did not decide in time.",
              ),
            }),
          ),
          "The terms of inspections before payment, and how the operator decides; older relays omit it.",
        ),
        features: v.array(v.string()),
        incarnation,
        version: describeAs(v.string(), "The version of the relay."),
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
        consistent: describeAs(v.boolean(), "Whether every check passed."),
        checks: describeAs(v.array(BooksCheck), "The rules of the books, each with its result."),
        totals: describeAs(BooksTotals, "Sums over all accounts."),
      }),
    },
    refusals: [],
  }),
} as const;
