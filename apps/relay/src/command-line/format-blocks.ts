import { makeSafe } from "@agent/command-line";

/** A text of a table; its tone is a colour on a terminal. */
export type Cell = string | { readonly text: string; readonly tone: Tone };
export type Tone = "good" | "bad" | "quiet" | "strong";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Cut when the table is wider than the terminal. */
  readonly isFlexible?: true;
  /** An id; if there is no room for all of it, its last 8 characters are shown. */
  readonly isId?: true;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Shown instead of a table without rows. */
  readonly empty: string;
}

/** A line of words, or a table. */
export type Block = Cell | Table;

/** The reader's side: the width of a terminal, or no limit for a pipe. */
export interface Display {
  readonly width: number | undefined;
  readonly hasColor: boolean;
}

const COLORS: Readonly<Record<Tone, number>> = { good: 32, bad: 31, quiet: 2, strong: 1 };
const GAP = "  ";
const SHORT_ID = 8;
const MIN_FLEXIBLE = 8;

/** Formats blocks as lines for people. Texts of others cannot reach the terminal's controls. */
export function formatBlocks(blocks: readonly Block[], display: Display): string {
  return blocks
    .flatMap((block) => (isTable(block) ? formatTable(block, display) : [paint(block, display)]))
    .join("\n");
}

function isTable(block: Block): block is Table {
  return typeof block === "object" && "rows" in block;
}

function formatTable({ columns, rows, empty }: Table, display: Display): string[] {
  if (rows.length === 0) return [empty];
  const texts = rows.map((row) => row.map((cell) => makeSafe(textOf(cell))));
  const natural = columns.map(({ title }, at) =>
    Math.max(title.length, ...texts.map((row) => lengthOf(row[at] ?? ""))),
  );
  const widths = fitWidths(columns, natural, display.width);
  const header = columns.map((column, at) => alignText(column.title, widths[at] ?? 0, column));
  const body = rows.map((row, line) =>
    columns.map((column, at) => {
      const text = cutText(texts[line]?.[at] ?? "", widths[at] ?? 0, column);
      return paintText(alignText(text, widths[at] ?? 0, column), toneOf(row[at]), display);
    }),
  );
  const titles = paintText(header.join(GAP).trimEnd(), "quiet", display);
  return [titles, ...body.map((cells) => cells.join(GAP).trimEnd())];
}

/** Gives each column its width; ids become short first, then flexible columns are cut, the widest first. */
function fitWidths(
  columns: readonly Column[],
  natural: readonly number[],
  limit: number | undefined,
): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
  if (limit === undefined) return widths;
  for (const [at, { isId }] of columns.entries()) {
    if (isId === true && total() > limit) widths[at] = Math.min(widths[at] ?? 0, SHORT_ID + 1);
  }
  while (total() > limit) {
    const cuttable = [...columns.keys()].filter(
      (at) => columns[at]?.isFlexible === true && (widths[at] ?? 0) > MIN_FLEXIBLE,
    );
    const widest = cuttable.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    if (widest === undefined) break;
    widths[widest] = Math.max(MIN_FLEXIBLE, (widths[widest] ?? 0) - (total() - limit));
  }
  return widths;
}

function cutText(text: string, width: number, { isId }: Column): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  if (isId === true) return `…${characters.slice(1 - width).join("")}`;
  return `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

function alignText(text: string, width: number, { align }: Column): string {
  const padding = " ".repeat(Math.max(0, width - lengthOf(text)));
  return align === "right" ? padding + text : text + padding;
}

const lengthOf = (text: string) => Array.from(text).length;

const textOf = (cell: Cell) => (typeof cell === "string" ? cell : cell.text);
const toneOf = (cell: Cell | undefined) => (typeof cell === "object" ? cell.tone : undefined);

function paint(cell: Cell, display: Display): string {
  return paintText(makeSafe(textOf(cell)), toneOf(cell), display);
}

function paintText(text: string, tone: Tone | undefined, { hasColor }: Display): string {
  return tone === undefined || !hasColor ? text : `\u001b[${COLORS[tone]}m${text}\u001b[0m`;
}
