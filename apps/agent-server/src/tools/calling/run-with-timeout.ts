import { createContext, Script } from "node:vm";

const idle = (): void => {};
const sandbox = { work: idle };
const context = createContext(sandbox);
const script = new Script("work()");

/**
 * Runs synchronous work that may not end, and aborts it after `ms`, returning undefined. Costs
 * about 0.1 ms.
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
    // The error is an instance of the other context's Error.
    const { code } = Object(cause) as { code?: unknown };
    if (code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw cause;
  } finally {
    sandbox.work = idle;
  }
}
