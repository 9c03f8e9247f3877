/** Spreadsheets execute a cell as a formula if it begins like this. */
const FORMULA = /^[=+\-@\t\r]/;

/** Formats rows as CSV in which no text of an agent can be a formula; numbers remain numbers. */
export function formatCsv(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(cell: string | number | null): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
