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
export function formatStatementCsv(statement: Statement): string {
  const { from, to, opening_balance, closing_balance, transactions } = statement;
  const rows = [
    columns,
    [formatTime(from), "", "opening_balance", "", formatDecimal(opening_balance), "", ""],
    ...transactions.map((row) => [
      formatTime(row.created_at),
      row.transaction_id,
      row.type,
      formatDecimal(row.amount),
      formatDecimal(row.balance_after),
      quoteText(row.reference_id),
      quoteText(row.description),
    ]),
    [formatTime(to), "", "closing_balance", "", formatDecimal(closing_balance), "", ""],
  ];
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}

const formatTime = (ms: number) => new Date(ms).toISOString();

/** The shortest text of a small amount has an exponent. */
const formatDecimal = (amount: number) => amount.toFixed(6).replace(/\.?0+$/, "");

/**
 * What others wrote, always quoted. A spreadsheet runs a cell that begins with one of these signs as
 * a formula, so they get an apostrophe in front.
 */
function quoteText(text: string | null): string {
  if (text === null) return "";
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${inert.replaceAll('"', '""')}"`;
}
