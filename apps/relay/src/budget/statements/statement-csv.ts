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

/** Formats a statement by RFC 4180 with a header row; the balances at both ends are separate rows. */
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

/** Formats without an exponent, which JavaScript uses for small numbers. */
const formatDecimal = (amount: number) => amount.toFixed(6).replace(/\.?0+$/, "");

/**
 * Quotes text written by others. A spreadsheet runs a cell that begins with one of these signs as
 * a formula, the full-width ones too, so they are prefixed with an apostrophe.
 */
function quoteText(text: string | null): string {
  if (text === null) return "";
  const inert = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return `"${inert.replaceAll('"', '""')}"`;
}
