import type { ExecutionReceipt } from "@agent/receipts";
import type { Attempts } from "../execution/attempts/attempts.ts";
import type { DelegateTask } from "../execution/delegation/delegation.ts";
import type { FindIssuerKey } from "../execution/delegation/delegation-scope.ts";
import type { DeliverWork } from "../execution/work.ts";
import type { Contester } from "../tools/built-in/agent-contest.ts";
import type { Delegator } from "./delegator/delegator.ts";
import type { Approver } from "../policy/approvals.ts";
import type { CredentialSource } from "../tools/built-in/agent-credentials.ts";

/** The features that a relay adds to an agent; absent when it works without one. */
export interface RelayFeatures {
  /** The device id that the relay gave to the agent's key; undefined until the agent has joined. */
  deviceId(): string | undefined;
  readonly delegateTask: DelegateTask;
  /** The actions of an owner who delegates; absent unless the owner has enabled them. */
  readonly delegator?: Delegator | undefined;
  /** The owner's way to contest rejected work; absent unless the listing offers inspections. */
  readonly contester?: Contester | undefined;
  /** Finds the keys of issuers of delegation tokens. */
  readonly findIssuerKey: FindIssuerKey;
  /** Remembers the hash of each receipt before it leaves the agent. */
  readonly recordSigned?: (receiptHash: string) => Promise<void>;
  readonly deliverWork: DeliverWork;
  /**
   * Finds the receipt of a finished relay task, of this run or the last, that is not delivered yet.
   */
  readonly findUndelivered: (relayTaskId: string) => ExecutionReceipt | undefined;
  /** Counts the attempts at tasks of the relay; absent: they are not counted. */
  readonly attempts?: Attempts;
  /** Asks whether the relay still needs a task whose call was closed; absent: it does not. */
  readonly isWanted?: (relayTaskId: string) => Promise<boolean>;
  /** Informs the relay that work on a task was stopped because its call was cancelled. */
  readonly releaseClaim?: (relayTaskId: string) => Promise<void>;
  readonly credentials?: CredentialSource;
  /** Decides in the owner's place about calls that need an approval. */
  readonly approver?: Approver;
  /** The value of the newest gradient credential, 0 to 1. */
  readonly gradient?: () => number | null;
}
