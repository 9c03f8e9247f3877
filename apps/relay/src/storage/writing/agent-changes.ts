import type { Query } from "../queries/compiled-query.ts";

/**
 * The tables from which an agent's ranking is computed, with the column that names the agent; null if a row
 * concerns all agents. A change of one of their rows is published, whichever feature makes it.
 */
export const AGENT_COLUMNS: Readonly<Record<string, string | null>> = {
  agents: "agent_id",
  agent_capabilities: "agent_id",
  listings: "agent_id",
  agent_histories: "agent_id",
  trust_records: "remote_agent_id",
  trust_thresholds: null,
};

/** The agents with changed rows; "all" after a statement that does not name them. */
export type ChangedAgents = ReadonlySet<string> | "all";

export type ChangeListener = (changed: ChangedAgents) => void;

const WRITES =
  /\b(?<verb>insert(?:\s+or\s+\w+)?\s+into|replace\s+into|update|delete\s+from)\s+"?(?<table>\w+)"?/gi;

/**
 * Returns the parameter that names the agent of a statement's rows: null if no single parameter does, and
 * undefined if the statement writes to none of the tables.
 */
export function findAgentParameter({
  text,
  names,
}: Pick<Query<never, unknown>, "text" | "names">): string | null | undefined {
  const writes = [...text.matchAll(WRITES)].filter(({ groups }) =>
    Object.hasOwn(AGENT_COLUMNS, groups?.["table"] ?? ""),
  );
  const [write, second] = writes;
  if (write === undefined) return undefined;
  const column = AGENT_COLUMNS[write.groups?.["table"] ?? ""] ?? null;
  if (second !== undefined || column === null) return null;
  if (/^(?:insert|replace)/i.test(write.groups?.["verb"] ?? "")) {
    return names.includes(column) && /\bvalues\s*\(/i.test(text) ? column : null;
  }
  const found = new RegExp(`\\bwhere\\s+"?${column}"?\\s*=\\s*\\+\\?`, "i").exec(text);
  if (found === null || hasAlternative(text.slice(found.index))) return null;
  const place = text.slice(0, found.index).split("?").length - 1;
  return names[place] ?? null;
}

/** Returns whether a condition has an `or` outside parentheses, so that it selects further rows. */
function hasAlternative(condition: string): boolean {
  let outside = condition;
  for (let before = ""; before !== outside;) {
    before = outside;
    outside = before.replaceAll(/\([^()]*\)/g, "");
  }
  return /\bor\b/i.test(outside);
}

/** Collects the agents that statements change, and publishes them when the changes are durable. */
export class AgentChanges {
  readonly #listeners: ChangeListener[] = [];
  #changed = new Set<string>();
  #isAll = false;

  subscribe(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Notes and returns the agent that a statement changes; `parameter` is the result of
   * `findAgentParameter`. Undefined if the statement does not name it.
   */
  note(parameter: string | null, params: unknown): string | undefined {
    const values = params as Readonly<Record<string, unknown>>;
    const agentId = parameter === null ? null : values[parameter];
    if (typeof agentId === "string") {
      this.#changed.add(agentId);
      return agentId;
    }
    this.#isAll = true;
    return undefined;
  }

  /** Publishes what was noted, after its commit. What was rolled back may be among it. */
  publish(): void {
    if (this.#changed.size === 0 && !this.#isAll) return;
    const changed = this.#isAll ? "all" : this.#changed;
    this.#changed = new Set();
    this.#isAll = false;
    for (const listener of this.#listeners) listener(changed);
  }
}
