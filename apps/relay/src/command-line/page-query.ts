import type { CommandCall } from "./operator-command.ts";
import type { Block } from "./format-blocks.ts";

/** The query of a list from the options of its command. */
export function readPageQuery({ options: { limit, cursor } }: Pick<CommandCall, "options">) {
  return { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
}

/** Tells how to get the next page. */
export function describeNextPage(next: string | null): readonly Block[] {
  return next === null ? [] : [{ text: `more: --cursor ${next}`, tone: "quiet" }];
}

/** Leaves out the members that were not given. */
export function omitMissing<T extends object>(
  given: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
