import type { TestAgent } from "@agent/testkit";
import type { Operation } from "@agent/wire";
import { openEditedRelay } from "../edited-relay.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";
import type { OperationName, Operations } from "../../src/operations.ts";

/** What an operation's row declares: a status of success, or the code of a refusal. */
export type OutcomeOf<O extends Operation> = `${keyof O["ok"] & number}` | O["refusals"][number];

/** Brings one outcome about; it is the reply to the last request. */
export type Case = (t: TestRelay) => Promise<Reply>;

/** A case for every declared outcome; one that is missing does not compile. */
export type Contract<N extends OperationName> = {
  readonly [K in N]: { readonly [O in OutcomeOf<Operations[K]>]: Case };
};

/** A case on a relay with a configuration of its own. */
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

/** A case in a state that no operation leads to, or none within reason. */
export function withEditedDatabase(
  sqlFor: (agent: TestAgent) => string,
  run: (t: TestRelay, agent: TestAgent) => Promise<Reply>,
  env: Record<string, string> = {},
): Case {
  return async () => {
    const state = await openEditedRelay(sqlFor, env);
    try {
      return await run(state.t, state.agent);
    } finally {
      await state.close();
    }
  };
}
