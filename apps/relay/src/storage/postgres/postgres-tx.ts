import { DatabaseError, type Client, type QueryResult } from "pg";
import type { Query } from "../queries/compiled-query.ts";
import { StorageUnavailable, type ChangeKind, type Tx } from "../storage.ts";
import type { AgentChanges } from "../writing/agent-changes.ts";
import {
  isConflict,
  isConnectionLost,
  isStaleStatement,
  toStorageError,
} from "./postgres-error.ts";
import type { NotedChanges } from "./noted-changes.ts";
import {
  getAgentParameter,
  mayHaveWritten,
  renewStatements,
  toQueryConfig,
} from "./prepared-statement.ts";

/**
 * The transaction of one job on the writing connection, closed when the job ends. A statement that fails
 * aborts the transaction on the server, unless each has a savepoint of its own.
 */
export class PostgresTx implements Tx {
  readonly #client: Client;
  readonly #changes: AgentChanges;
  readonly #noted: NotedChanges;
  readonly #hasSavepoints: boolean;
  readonly #reportStalled: () => void;
  #inFlight = 0;
  #latest: Promise<unknown> = Promise.resolve();
  #ended = false;
  #isLost = false;
  #isAborted = false;
  #conflict: unknown;
  #hasWritten = false;

  constructor(
    client: Client,
    {
      changes,
      noted,
      withSavepoints,
      onStalled,
    }: {
      readonly changes: AgentChanges;
      readonly noted: NotedChanges;
      readonly withSavepoints: boolean;
      readonly onStalled: () => void;
    },
  ) {
    this.#client = client;
    this.#changes = changes;
    this.#noted = noted;
    this.#hasSavepoints = withSavepoints;
    this.#reportStalled = onStalled;
    this.#watch();
  }

  get state() {
    return {
      isLost: this.#isLost,
      isAborted: this.#isAborted,
      conflict: this.#conflict,
      hasWritten: this.#hasWritten,
    };
  }

  async get<P, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined> {
    return (await this.#execute(query, params)).rows[0] as Row | undefined;
  }

  async all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    return (await this.#execute(query, params)).rows as Row[];
  }

  async run<P>(query: Query<P, never>, params: P): Promise<number> {
    return (await this.#execute(query, params)).rowCount ?? 0;
  }

  noteChange(kind: ChangeKind, ...words: readonly string[]): void {
    this.#noted.add(kind, words);
  }

  /** Refuses later statements and waits for those that the job did not await. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#latest.catch(() => {});
  }

  async #execute<P, Row>(query: Query<P, Row>, params: P): Promise<QueryResult> {
    if (this.#ended) throw new Error("this transaction is over");
    if (this.#isLost) throw new StorageUnavailable("the transaction was rolled back");
    const config = toQueryConfig(query, params);
    const agentParameter = getAgentParameter(query);
    if (agentParameter !== undefined) {
      const agentId = this.#changes.note(agentParameter, params);
      this.#noted.add("agents", agentId === undefined ? [] : [agentId]);
    }
    this.#inFlight += 1;
    // Statements with savepoints run one after another, because each returns to the latest savepoint.
    const answer = this.#hasSavepoints
      ? this.#latest.catch(() => {}).then(() => this.#executeInSavepoint(config))
      : this.#client.query(config);
    this.#latest = answer;
    try {
      const result = await answer;
      this.#hasWritten ||= mayHaveWritten(query, result.rowCount);
      return result;
    } catch (error) {
      this.#isLost ||= isConnectionLost(error);
      if (isStaleStatement(error)) renewStatements(config);
      if (isConflict(error)) this.#conflict = error;
      this.#isAborted ||= !this.#hasSavepoints && error instanceof DatabaseError;
      throw toStorageError(error);
    } finally {
      this.#inFlight -= 1;
      this.#watch();
    }
  }

  async #executeInSavepoint(config: ReturnType<typeof toQueryConfig>): Promise<QueryResult> {
    await this.#client.query("SAVEPOINT statement");
    try {
      return await this.#client.query(config);
    } catch (error) {
      if (!isConnectionLost(error)) await this.#client.query("ROLLBACK TO SAVEPOINT statement");
      throw error;
    } finally {
      if (this.#client.getTransactionStatus() === "T") {
        await this.#client.query("RELEASE SAVEPOINT statement");
      }
    }
  }

  /** A job that awaits only its tx begins its next statement before the next turn of the event loop. */
  #watch(): void {
    if (this.#inFlight > 0) return;
    setImmediate(() => {
      if (this.#inFlight === 0 && !this.#ended) this.#reportStalled();
    });
  }
}
