import { basename, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReceiptVerdict } from "@agent/receipts";
import type { Balance } from "./figures/balances.ts";
import type { DemoCheck } from "./checks/demo-check.ts";
import type { PaidDelegation } from "./participants/delegate-report.ts";
import { formatChange, formatDollars, formatPercent } from "./figures/money.ts";
import { findFailedCheck, type OfflineVerdicts } from "./checks/verify-offline.ts";
import type { DecidedDispute } from "./participants/dispute-summary.ts";
import type { Participants, Worker } from "./participants/participants.ts";
import type { TermReport } from "./figures/terms.ts";

const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** Formats the participants. */
export function formatParticipants(participants: Participants): string[] {
  const { relay, relayUrl, editor, research, linguist, professor } = participants;
  const describeWorker = ({ name, agentId, capability, price }: Worker) => [
    name,
    shortenId(agentId),
    `sells ${capability} for $${formatDollars(price)}`,
  ];
  return [
    ...formatColumns([
      ["relay", shortenId(relay.relay_id), `fee ${formatPercent(relay.fee_rate)}, at ${relayUrl}`],
      ["editor", shortenId(editor.agentId), `requests ${research.capability}`],
      ...[research, linguist, professor].map(describeWorker),
    ]),
    "",
  ];
}

/** Formats the result of the work. */
export function formatWork(
  textPath: string,
  { receipt }: PaidDelegation,
  elapsedMs: number,
): string[] {
  const { words, terms, top } = JSON.parse(receipt.result) as TermReport;
  const frequent = top.slice(0, 6).map(([term, count]) => `${term} ${count}`);
  return [
    `${basename(textPath)} has ${words} words of ${terms} terms, counted in ${elapsedMs} ms:`,
    `  ${frequent.join(", ")}`,
    "",
  ];
}

/** Formats the relay's routing decisions. */
export function formatRouting({ outer, inner }: PaidDelegation): string[] {
  const scores = [outer, inner].map(({ payer, worker, task: { routing_choice: choice } }) => [
    payer.name,
    worker.name,
    String(choice?.alternatives_considered),
    ...[choice?.composite_score, ...Object.values(choice?.sub_scores ?? {})].map(
      (score) => score?.toFixed(2) ?? "none",
    ),
  ]);
  const names = Object.keys(outer.task.routing_choice?.sub_scores ?? {});
  return [...formatColumns([["payer", "chosen", "others", "score", ...names], ...scores], 2), ""];
}

/** Formats the payments and the balances, in USD. */
export function formatMoney(
  { outer, inner }: PaidDelegation,
  before: readonly Balance[],
  after: readonly Balance[],
): string[] {
  const jobs = [outer, inner].map(({ payer, worker, task, settlement }) => [
    payer.name,
    worker.name,
    ...[
      worker.price,
      task.amount_locked,
      settlement.amount_settled,
      settlement.fee,
      settlement.net,
    ].map(formatDollars),
  ]);
  const accounts = before.map(({ name, balance }, index) => {
    const now = after[index]?.balance ?? Number.NaN;
    return [name, formatDollars(balance), formatDollars(now), formatChange(balance, now)];
  });
  return [
    ...formatColumns([["payer", "worker", "price", "hold", "settled", "fee", "net"], ...jobs], 2),
    "",
    ...formatColumns([["account", "before", "after", "change"], ...accounts], 1),
    "",
  ];
}

/** Formats the statements about a disputed result, and its final value. */
export function formatDispute({ inspection, sellerBalance }: DecidedDispute): string[] {
  const { verdicts, decision, due, outcome } = inspection;
  const said = [...verdicts, decision ?? {}].map((statement) => {
    const { verdict = "decided", reason = "" } = statement as { verdict?: string; reason?: string };
    return [verdict, reason];
  });
  return [
    `A summary for $${formatDollars(due)} was inspected before it was paid:`,
    ...formatColumns(said),
    `  paid ${formatPercent(outcome?.share ?? 0)}; the seller has $${formatDollars(sellerBalance)}`,
    "",
  ];
}

/** Formats the verification of the receipt after all processes have ended. */
export function formatProof(
  path: string,
  { outer, inner }: PaidDelegation,
  { asSigned, tampered }: OfflineVerdicts,
): string[] {
  const nested = asSigned.nested.map((verdict) => [
    `${inner.worker.name}'s, nested in it`,
    formatVerdict(verdict),
  ]);
  return [
    `All processes have ended. Verified from ${relative(repositoryRoot, path)} alone:`,
    ...formatColumns([
      [`${outer.worker.name}'s receipt`, formatVerdict(asSigned)],
      ...nested,
      [
        `with ${tampered.after} instead of ${tampered.before} in the result`,
        formatVerdict(tampered.verdict),
      ],
    ]),
    "",
  ];
}

function formatVerdict(verdict: ReceiptVerdict): string {
  if (!verdict.valid) return `refused at the ${findFailedCheck(verdict)} (${verdict.code})`;
  const passed = verdict.checks.filter(({ ok }) => ok).length;
  return `valid, ${passed} of ${verdict.checks.length} checks passed`;
}

export function formatChecks(checks: readonly DemoCheck[]): string[] {
  return checks.map(({ claim, passed }) => `  ${passed ? "ok" : "NO"}  ${claim}`);
}

/** Pads each column to the width of its widest cell; cells are right-aligned from column `numbers` on. */
export function formatColumns(rows: readonly (readonly string[])[], numbers = Infinity): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  return rows.map((row) => {
    const cells = row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return index < numbers ? cell.padEnd(width) : cell.padStart(width);
    });
    return `  ${cells.join("  ")}`.trimEnd();
  });
}

/** Shortens an id to its end, because a version 7 UUID begins with its time. */
export function shortenId(id: string): string {
  return `...${id.slice(-8)}`;
}
