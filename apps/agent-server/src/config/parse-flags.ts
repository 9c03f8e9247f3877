import { findUsageFault, type ParsedOptions, parseOptions } from "@agent/command-line";
import { formatCommandUsage, SHARED_OPTIONS } from "./usage/command-usage.ts";

/** Every option of the program; the usage states which form accepts it. */
export const flagOptions = {
  config: { type: "string" },
  tools: { type: "string", multiple: true },
  transport: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  direct: { type: "boolean" },
  "self-test": { type: "boolean" },
  "paid-by-operator": { type: "boolean" },
  "allow-anonymous": { type: "boolean" },
  "check-config": { type: "boolean" },
  "allow-withdrawals": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** An order about the agent's devices: to pair a browser, or to end a device. */
export type PairingOrder =
  | { readonly command: "pair"; readonly withdrawals: boolean }
  | { readonly command: "unpair"; readonly deviceId: string };

export interface Flags {
  /** The folder that `init` writes into; absent: the command is another one. */
  readonly init?: string;
  /** Whether to show the changed tools of the wrapped servers and confirm them. */
  readonly confirmTools: boolean;
  /** The task whose rejection the owner contests, and the reason. */
  readonly contest?: { readonly taskId: string; readonly reason: string };
  /** Whether to replace the agent's key, and the reason that the relay shows. */
  readonly rotateKey?: { readonly reason: string | undefined };
  /** The browser to pair, or the device to end. */
  readonly pairing?: PairingOrder;
  readonly config?: string;
  readonly tools?: readonly string[];
  readonly transport?: string;
  readonly host?: string;
  readonly port?: string;
  readonly direct: boolean;
  readonly selfTest: boolean;
  readonly paidByOperator: boolean;
  readonly allowAnonymous: boolean;
  readonly checkConfig: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Parses the arguments after the program's name. After a fault the flags are those of a call without
 * arguments, and must not be used.
 */
export function parseFlags(args: readonly string[]): {
  readonly flags: Flags;
  readonly faults: readonly string[];
} {
  const parsed = parseOptions(args, flagOptions);
  if (!parsed.ok) return { flags: buildFlags({}, []), faults: [parsed.message] };
  const { values, positionals, names } = parsed;
  const flags = buildFlags(values, positionals);
  const given = { args: positionals, options: names };
  const fault = findUsageFault(formatCommandUsage(), given, SHARED_OPTIONS);
  return { flags, faults: fault === undefined ? [] : [fault] };
}

type FlagValues = Extract<ParsedOptions<typeof flagOptions>, { readonly ok: true }>["values"];

function buildFlags(values: FlagValues, [command, ...args]: readonly string[]): Flags {
  const { config, tools, transport, host, port } = values;
  return {
    ...buildOrder(command, args, values["allow-withdrawals"] === true),
    confirmTools: command === "confirm-tools",
    ...(config !== undefined && { config }),
    ...(tools !== undefined && { tools }),
    ...(transport !== undefined && { transport }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    direct: values.direct === true,
    selfTest: values["self-test"] === true,
    paidByOperator: values["paid-by-operator"] === true,
    allowAnonymous: values["allow-anonymous"] === true,
    checkConfig: values["check-config"] === true,
    help: values.help === true,
    version: values.version === true,
  };
}

/** Returns what a command is about; the usage has already required its arguments. */
function buildOrder(
  command: string | undefined,
  [first, second = ""]: readonly string[],
  withdrawals: boolean,
): Pick<Flags, "init" | "contest" | "rotateKey" | "pairing"> {
  switch (command) {
    case "init":
      return { init: first ?? "." };
    case "contest":
      return { contest: { taskId: first ?? "", reason: second } };
    case "rotate-key":
      return { rotateKey: { reason: first } };
    case "pair":
      return { pairing: { command, withdrawals } };
    case "unpair":
      return { pairing: { command, deviceId: first ?? "" } };
    case undefined:
    default:
      return {};
  }
}

/** Returns the name of the command that is run instead of an agent; `init` reads no configuration. */
export function getCommand({ confirmTools, contest, rotateKey, pairing }: Flags) {
  if (confirmTools) return "confirm-tools";
  if (contest !== undefined) return "contest";
  return rotateKey === undefined ? pairing?.command : "rotate-key";
}
