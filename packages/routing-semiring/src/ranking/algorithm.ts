/** The members of a record that the version of its rules depends on. */
interface VersionedRecord {
  readonly algorithm: string;
  readonly price_cap?: number | null | undefined;
  readonly excerpt?: object | undefined;
}

/**
 * Returns the version of the present rules; equal inputs and versions give equal choices. An excerpt has a
 * version of its own, so that it does not pass as the record of all candidates.
 */
export function getAlgorithm(isExcerpt: boolean): string {
  return `agent-routing@${isExcerpt ? 5 : 4}`;
}

/**
 * Returns the rules of a recorded decision: the present ones, or earlier ones, which compared prices with the
 * mean of all candidates. Undefined for rules that this version does not know.
 */
export function findRules(record: VersionedRecord): "present" | "earlier" | undefined {
  const { algorithm, excerpt } = record;
  if (algorithm === getAlgorithm(excerpt !== undefined)) return "present";
  return algorithm === getEarlierAlgorithm(record) ? "earlier" : undefined;
}

function getEarlierAlgorithm({ price_cap, excerpt }: VersionedRecord): string {
  if (excerpt !== undefined) return "agent-routing@3";
  return `agent-routing@${(price_cap ?? null) === null ? 1 : 2}`;
}
