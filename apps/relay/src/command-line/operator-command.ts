import type { CallRefusal, RelayClient } from "@agent/client";
import type { Block } from "./format-blocks.ts";

/** The options of the operator's commands: a flag, or one with a value. */
export const operatorOptions = {
  relay: { type: "string" },
  "token-file": { type: "string" },
  json: { type: "boolean" },
  limit: { type: "string" },
  cursor: { type: "string" },
  state: { type: "string" },
  agent: { type: "string" },
  submitter: { type: "string" },
  failed: { type: "boolean" },
  search: { type: "string" },
  from: { type: "string" },
  to: { type: "string" },
  sort: { type: "string" },
  all: { type: "boolean" },
  "older-than": { type: "string" },
  reference: { type: "string" },
  "payout-reference": { type: "string" },
  description: { type: "string" },
  reason: { type: "string" },
  after: { type: "string" },
  follow: { type: "boolean" },
  step: { type: "string" },
  text: { type: "boolean" },
  csv: { type: "boolean" },
  actor: { type: "string" },
  action: { type: "string" },
  view: { type: "boolean" },
  restored: { type: "boolean" },
  sent: { type: "boolean" },
  received: { type: "boolean" },
} as const;

export type OptionName = keyof typeof operatorOptions;

export type OperatorOptions = {
  readonly [N in OptionName]?: (typeof operatorOptions)[N]["type"] extends "boolean"
    ? boolean
    : string;
};

/** The options that every command takes. */
export const SHARED_OPTIONS: readonly OptionName[] = ["relay", "token-file", "json"];

/** One call of a command. */
export interface CommandCall {
  readonly client: RelayClient;
  /** The address of the relay. */
  readonly baseUrl: string;
  readonly args: readonly string[];
  readonly options: OperatorOptions;
  /** In ms. */
  readonly now: () => number;
  /** Resolves after a time, or when the command is interrupted. */
  readonly wait: (ms: number) => Promise<void>;
  readonly isInterrupted: () => boolean;
  /** Prints before the command ends; only of one that follows events. */
  readonly print: (output: CommandOutput) => void;
}

/** The answer of an operation, and what a person is shown of it. */
export interface CommandOutput {
  readonly ok: true;
  /** Printed by `--json`. */
  readonly body: unknown;
  readonly blocks: readonly Block[];
  /** Printed unchanged, whatever the options are; for exports. */
  readonly raw?: string;
  /** False makes the command end with 1 although the relay answered. */
  readonly isGood?: boolean;
}

/** The arguments do not fit the command. */
export interface UsageFault {
  readonly ok: false;
  readonly usage: string;
}

export type CommandResult = CommandOutput | CallRefusal | UsageFault;

/** A command of the operator over the operations of a running relay. */
export interface OperatorCommand {
  /**
   * All its forms with their arguments and options, as `parseUsage` reads them. Whatever they do not state is
   * refused, except the shared options.
   */
  readonly usage: string;
  readonly purpose: string;
  readonly run: (call: CommandCall) => Promise<CommandResult>;
}

/** States what a command needs. */
export function usageFault(usage: string): UsageFault {
  return { ok: false, usage };
}
