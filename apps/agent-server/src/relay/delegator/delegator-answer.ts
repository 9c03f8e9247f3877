import type { CallRefusal, RelayClient } from "@agent/client";
import type { Runtime } from "../../runtime.ts";
import type { JsonObject, ToolContext } from "../../tools/definition.ts";
import { shortenText } from "./shorten-text.ts";

/** Work that the owner orders from another agent. */
export interface WorkOrder {
  readonly prompt: string;
  readonly required_capabilities?: readonly string[] | undefined;
  /** The executor; absent: the relay chooses one by the required capabilities. */
  readonly agent_id?: string | undefined;
  /** The maximum charge in US dollars. */
  readonly max_budget: number;
  /** Whether the owner inspects the result before it is paid; the executor must offer it. */
  readonly inspect?: boolean | undefined;
}

export type DelegatorAnswer =
  | { readonly ok: true; readonly answer: JsonObject }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly taskId?: string | undefined;
    };

const MAX_SENTENCE = 1_000;

export type OrderContext = Pick<ToolContext, "signal" | "progress" | "requestKey">;

/** The parts that every action of a delegator needs. */
export interface DelegatorContext {
  readonly client: RelayClient;
  readonly ownId: string;
  /** The seed of the agent's key, which signs verdicts. */
  readonly secretKey: Uint8Array;
  readonly relayUrl: string;
  /** The longest time that `delegateTask` waits for a result. */
  readonly timeoutMs: number;
  readonly runtime: Runtime;
}

/** Keeps the code and the sentence of a refused call, and the faults of its fields. */
export function toDelegatorRefusal(
  { code, message, issues = [] }: CallRefusal,
  taskId?: string,
): Extract<DelegatorAnswer, { ok: false }> {
  const faults = issues.map(({ path, message: fault }) => `${path}: ${fault}`).join("; ");
  const sentence = faults === "" ? message : `${message}: ${faults}`;
  // The relay wrote the sentence, and another party may have written a part of it.
  return { ok: false, code, message: shortenText(sentence, MAX_SENTENCE), taskId };
}
