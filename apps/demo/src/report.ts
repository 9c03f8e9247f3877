import { basename, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ReceiptVerdict } from "@agent/receipts";
import type { Balance } from "./balances.ts";
import type { Check } from "./check.ts";
import type { Hired } from "./hire.ts";
import { change, dollars, percent } from "./money.ts";
import { refusedAt, type OfflineVerdicts } from "./offline.ts";
import type { Stage, Worker } from "./stage.ts";
import type { TermReport } from "./terms.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Who takes part. */
export function castLines(stage: Stage): string[] {
  const { relay, relayUrl, editor, research, linguist, professor } = stage;
  const sells = ({ name, agentId, capability, price }: Worker) => [
    name,
    shortId(agentId),
    `sells ${capability} for $${dollars(price)}`,
  ];
  return [
    ...columns([
      [
        "relay",
        shortId(relay.relay_id),
        `keeps ${percent(relay.fee_rate)} of a price, at ${relayUrl}`,
      ],
      ["editor", shortId(editor.agentId), `wants a ${research.capability}`],
      ...[research, linguist, professor].map(sells),
    ]),
    "",
  ];
}

/** What was done. */
export function workLines(textPath: string, { receipt }: Hired, elapsedMs: number): string[] {
  const { words, terms, top } = JSON.parse(receipt.result) as TermReport;
  const frequent = top.slice(0, 6).map(([term, count]) => `${term} ${count}`);
  return [
    `${basename(textPath)} has ${words} words of ${terms} terms, counted in ${elapsedMs} ms:`,
    `  ${frequent.join(", ")}`,
    "",
  ];
}

/** How the relay chose who works. */
export function routingLines({ outer, inner }: Hired): string[] {
  const scores = [outer, inner].map(({ payer, worker, task: { routing_choice: choice } }) => [
    payer.name,
    worker.name,
    String(choice?.alternatives_considered),
    ...[choice?.composite_score, ...Object.values(choice?.sub_scores ?? {})].map(
      (score) => score?.toFixed(2) ?? "none",
    ),
  ]);
  const names = Object.keys(outer.task.routing_choice?.sub_scores ?? {});
  return [...columns([["hires", "chosen", "others", "score", ...names], ...scores], 2), ""];
}

/** Where the money went, in USD. */
export function moneyLines(
  { outer, inner }: Hired,
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
    ].map(dollars),
  ]);
  const accounts = before.map(({ name, balance }, index) => {
    const now = after[index]?.balance ?? Number.NaN;
    return [name, dollars(balance), dollars(now), change(balance, now)];
  });
  return [
    ...columns([["pays", "works", "price", "hold", "settled", "fee", "earned"], ...jobs], 2),
    "",
    ...columns([["account", "before", "after", "change"], ...accounts], 1),
    "",
  ];
}

/** What the receipt alone says, after everybody has gone. */
export function proofLines(
  path: string,
  { outer, inner }: Hired,
  { asSigned, tampered }: OfflineVerdicts,
): string[] {
  const nested = asSigned.nested.map((verdict) => [
    `${inner.worker.name}'s, nested in it`,
    judgement(verdict),
  ]);
  return [
    `All processes have ended. By ${relative(root, path)} alone:`,
    ...columns([
      [`${outer.worker.name}'s receipt`, judgement(asSigned)],
      ...nested,
      [`its result with ${tampered.after} for a ${tampered.before}`, judgement(tampered.verdict)],
    ]),
    "",
  ];
}

function judgement(verdict: ReceiptVerdict): string {
  if (!verdict.valid) return `refused at the ${refusedAt(verdict)} (${verdict.code})`;
  const passed = verdict.checks.filter(({ ok }) => ok).length;
  return `valid, ${passed} of ${verdict.checks.length} checks passed`;
}

export function checkLines(checks: readonly Check[]): string[] {
  return checks.map(({ claim, held }) => `  ${held ? "ok" : "NO"}  ${claim}`);
}

/** Pads each column to its widest cell; from column `numbers` on to the left, as figures are. */
export function columns(rows: readonly (readonly string[])[], numbers = Infinity): string[] {
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

/** The start of a UUID of version 7 is its time, so the end tells agents apart. */
export function shortId(id: string): string {
  return `...${id.slice(-8)}`;
}
