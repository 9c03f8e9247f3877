import type { Database, Statement } from "better-sqlite3";
import { AgentChanges, findAgentParameter } from "../writing/agent-changes.ts";
import type { Query } from "./compiled-query.ts";
import { rankText } from "./text-rank.ts";

interface Prepared {
  readonly statement: Statement<unknown[]>;
  readonly isWriting: boolean;
  readonly agentParameter: string | null | undefined;
}

/**
 * Runs queries on one connection. Each is prepared at its first use. Values are given as arguments, because
 * binding them from an array costs a fifth more.
 */
export class Statements {
  readonly #db: Database;
  readonly #prepared = new WeakMap<object, Prepared>();

  /** The agents whose rows were changed on this connection. */
  readonly changes = new AgentChanges();

  #writes = 0;

  constructor(db: Database) {
    this.#db = db;
    db.function("text_rank", { varargs: true, deterministic: true }, rankText);
  }

  get<P, Row>(query: Query<P, Row>, params: P): Row | undefined {
    const { statement, isWriting } = this.#prepareFor(query, params);
    const row = statement.get(...query.values(params)) as Row | undefined;
    if (isWriting && row !== undefined) this.#writes += 1;
    return row;
  }

  all<P, Row>(query: Query<P, Row>, params: P): Row[] {
    const { statement, isWriting } = this.#prepareFor(query, params);
    const rows = statement.all(...query.values(params)) as Row[];
    if (isWriting && rows.length > 0) this.#writes += 1;
    return rows;
  }

  run<P>(query: Query<P, never>, params: P): number {
    const { changes } = this.#prepareFor(query, params).statement.run(...query.values(params));
    if (changes > 0) this.#writes += 1;
    return changes;
  }

  /** Binds the values of a noted statement now, and returns a function that runs it. */
  bind<P>(query: Query<P, never>, params: P): () => void {
    const values = query.values(params);
    const { statement } = this.#prepare(query);
    return () => void statement.run(...values);
  }

  /** Notes which agents a statement changes that is decided in memory. */
  note<P>(query: Query<P, never>, params: P): void {
    const { agentParameter } = this.#prepare(query);
    if (agentParameter !== undefined) this.changes.note(agentParameter, params);
  }

  /** Grows with each statement that has written a row. One that found none to write leaves nothing to undo. */
  get writes(): number {
    return this.#writes;
  }

  /** Prepares a statement that is about to run, and notes which agents it changes. */
  #prepareFor<P, Row>(query: Query<P, Row>, params: P): Prepared {
    const prepared = this.#prepare(query);
    const { agentParameter } = prepared;
    if (agentParameter !== undefined) this.changes.note(agentParameter, params);
    return prepared;
  }

  #prepare<P, Row>(query: Query<P, Row>): Prepared {
    let prepared = this.#prepared.get(query);
    if (prepared === undefined) {
      const statement: Statement<unknown[]> = this.#db.prepare(query.text);
      const agentParameter = findAgentParameter(query);
      prepared = { statement, isWriting: !statement.readonly, agentParameter };
      this.#prepared.set(query, prepared);
    }
    return prepared;
  }
}
