import { type RungName, RUNGS } from "./rungs.ts";
import type { Check } from "./verdict.ts";

/** A check of one of the packages below, under a name of its own. */
export interface NamedCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** Which rung each check of a kind is a part of. */
export type Places = Readonly<Record<string, RungName>>;

/** The rungs that a kind's checks add up to. */
export function placeChecks(checks: readonly NamedCheck[], places: Places): Check[] {
  return mergeChecks(
    checks.map((check) => {
      const name = places[check.name];
      if (name === undefined) throw new Error(`the check ${check.name} has no rung`);
      return { ...check, name };
    }),
  );
}

/** One check a rung, in the ladder's order: it holds when all do, else the first failure names it. */
export function mergeChecks(checks: readonly Check[]): Check[] {
  const rungs = new Map<RungName, Check>();
  for (const check of checks) {
    if (rungs.get(check.name)?.ok !== false) rungs.set(check.name, check);
  }
  return RUNGS.flatMap(({ name }) => rungs.get(name) ?? []);
}
