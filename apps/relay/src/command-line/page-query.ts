import type { Table } from "./format-blocks.ts";
import type { CommandCall, CommandOutput } from "./operator-command.ts";

/** The options of a command that lists pages. */
export const PAGE_USAGE = "[--limit N] [--cursor C]";

/** Reads the query of a list from the options of its command. */
export function readPageQuery({ options: { limit, cursor } }: Pick<CommandCall, "options">) {
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
}

/** Builds the output of a list: its table, and the option that continues it. */
export function buildListOutput(
  body: { readonly next_cursor: string | null },
  table: Table,
): CommandOutput {
  return { ok: true, body, blocks: [table, ...listMore(body.next_cursor)] };
}

/** The line that names the option of the next page, if there is one. */
export function listMore(next: string | null | undefined) {
  return next ? [{ text: `more: --cursor ${next}`, tone: "quiet" } as const] : [];
}

/** Leaves out the members that were not given. */
export function omitMissing<T extends object>(
  given: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
