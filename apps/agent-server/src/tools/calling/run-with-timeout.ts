import { createContext, Script } from "node:vm";

const idle = (): void => {};
const sandbox = { work: idle };
const context = createContext(sandbox);
const script = new Script("work()");

/**
 * Runs synchronous work that may not come to an end, and breaks it off after `ms`; undefined: it was broken
 * off. Costs about a tenth of a millisecond.
 */
export function runWithTimeout<T>(work: () => T, ms: number): T | undefined {
  let answer: T | undefined;
  sandbox.work = () => {
    answer = work();
  };
  try {
    script.runInContext(context, { timeout: ms });
    return answer;
  } catch (cause) {
    // It is an Error of the other context.
    const { code } = Object(cause) as { code?: unknown };
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw cause;
  } finally {
    sandbox.work = idle;
  }
}
