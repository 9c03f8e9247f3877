import type { Statement } from "@agent/wire";

const columns = [
  "created_at",
  "transaction_id",
  "type",
  "amount",
  "balance_after",
  "reference_id",
  "description",
] as const;

/** RFC 4180 with a header row; the balances at both ends are rows of their own. */
export function csvOf(statement: Statement): string {
  const { from, to, opening_balance, closing_balance, transactions } = statement;
  const rows = [
    columns,
    [isoTime(from), "", "opening_balance", "", decimal(opening_balance), "", ""],
    ...transactions.map((row) => [
      isoTime(row.created_at),
      row.transaction_id,
      row.type,
      decimal(row.amount),
      decimal(row.balance_after),
      textOf(row.reference_id),
      textOf(row.description),
    ]),
    [isoTime(to), "", "closing_balance", "", decimal(closing_balance), "", ""],
  ];
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}

const isoTime = (ms: number) => new Date(ms).toISOString();

/** The shortest text of a small amount has an exponent. */
const decimal = (amount: number) => amount.toFixed(6).replace(/\.?0+$/, "");

/**
 * What others wrote, always quoted. A spreadsheet runs a cell that begins with one of these signs as
 * a formula, so they get an apostrophe in front.
 */
function textOf(text: string | null): string {
  if (text === null) return "";
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${inert.replaceAll('"', '""')}"`;
}
