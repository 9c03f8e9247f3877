import type { TestAgent } from "@agent/testkit";
import type { Operation } from "@agent/wire";
import {
  openEditedRelay,
  openRelayOnEditedFile,
  type EditedRelay,
} from "../stored/edited-relay.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";
import type { OperationName, Operations } from "../../src/operations.ts";

/** A declared outcome of an operation: the status of a success, or the code of a refusal. */
export type OutcomeOf<O extends Operation> = `${keyof O["ok"] & number}` | O["refusals"][number];

/** Produces one outcome, and returns the reply to the last request. */
export type Case = (t: TestRelay) => Promise<Reply>;

/** A case for every declared outcome; the type check fails if one is missing. */
export type Contract<N extends OperationName> = {
  readonly [K in N]: { readonly [O in OutcomeOf<Operations[K]>]: Case };
};

/** Runs a case on a separate relay with its own configuration. */
export function withEnv(env: Record<string, string>, run: Case): Case {
  return async () => {
    const t = await startTestRelay(env);
    try {
      return await run(t);
    } finally {
      await t.close();
    }
  };
}

/** Runs a case in a state that no operation, or only too many operations, could produce. */
export function withEditedDatabase(
  sqlFor: (agent: TestAgent) => string,
  run: (t: TestRelay, agent: TestAgent) => Promise<Reply>,
  env: Record<string, string> = {},
): Case {
  return runEdited(() => openEditedRelay(sqlFor, env), run);
}

/** Runs a case on a relay whose database file was changed while the relay was down. */
export function withEditedFile(
  edit: (path: string) => Promise<void>,
  run: (t: TestRelay, agent: TestAgent) => Promise<Reply>,
): Case {
  return runEdited(() => openRelayOnEditedFile(edit), run);
}

function runEdited(
  open: () => Promise<EditedRelay>,
  run: (t: TestRelay, agent: TestAgent) => Promise<Reply>,
): Case {
  return async () => {
    const state = await open();
    try {
      return await run(state.t, state.agent);
    } finally {
      await state.close();
    }
  };
}
