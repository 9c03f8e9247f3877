import { parseArgs } from "node:util";

const flagOptions = {
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
 * Parses the arguments after the command's name; each invalid one is a fault, and the others still
 * apply.
 */
export function parseFlags(args: readonly string[]): { flags: Flags; faults: string[] } {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: flagOptions,
    strict: false,
    allowPositionals: true,
  });
  const [command, folder = ".", ...rest] = positionals;
  const init = command === "init" ? { init: folder } : {};
  const confirmTools = command === "confirm-tools";
  const faults: string[] = [];
  const contest = parseContest(positionals, faults);
  const rotateKey = command === "rotate-key" ? { rotateKey: { reason: positionals[1] } } : {};
  const withdrawals = values["allow-withdrawals"] === true;
  const pairing = parsePairing(positionals, withdrawals, faults);
  const isKnown = [undefined, "init", "confirm-tools", "rotate-key"].includes(command);
  const hasOwnRule = command === "contest" || pairing !== undefined || command === "unpair";
  if (!hasOwnRule && (!isKnown || rest.length > 0 || (confirmTools && positionals.length > 1))) {
    faults.push(
      isKnown || command === "pair"
        ? 'arguments: must be flags, "init" with its folder, "pair", "confirm-tools", or "rotate-key" with a reason'
        : `arguments: "${command}" is none of init, pair, unpair, confirm-tools, contest and rotate-key`,
    );
  }
  if (command === "init" && Object.keys(values).length > 0) faults.push("init: must have no flags");
  faults.push(...listMisplacedFlags(command, values));
  for (const [name, value] of Object.entries(values)) {
    const expected = isFlag(name) ? flagOptions[name].type : undefined;
    const given = Array.isArray(value) ? value : [value];
    if (expected === undefined) faults.push(`--${name}: is not a known flag`);
    else if (given.some((one) => typeof one !== expected)) {
      faults.push(
        `--${name}: ${expected === "string" ? "must have a value" : "must not have a value"}`,
      );
    }
  }
  const textFlag = (name: "config" | "transport" | "host" | "port") => {
    const value = values[name];
    return typeof value === "string" ? { [name]: value } : {};
  };
  const tools = values.tools?.filter((path) => typeof path === "string");
  return {
    faults,
    flags: {
      ...init,
      ...(contest !== undefined && { contest }),
      ...rotateKey,
      ...(pairing !== undefined && { pairing }),
      confirmTools,
      ...textFlag("config"),
      ...textFlag("transport"),
      ...textFlag("host"),
      ...textFlag("port"),
      ...(tools !== undefined && { tools }),
      direct: values.direct === true,
      selfTest: values["self-test"] === true,
      paidByOperator: values["paid-by-operator"] === true,
      allowAnonymous: values["allow-anonymous"] === true,
      checkConfig: values["check-config"] === true,
      help: values.help === true,
      version: values.version === true,
    },
  };
}

/** A command would run although the caller asked only for a check, or for a test of the agent. */
function listMisplacedFlags(command: string | undefined, values: object): string[] {
  if (command === undefined || command === "init") return [];
  return ["check-config", "self-test"]
    .filter((name) => Object.hasOwn(values, name))
    .map((name) => `--${name}: is not possible with the command ${command}`);
}

/** Returns the name of the command that is run instead of an agent; `init` reads no configuration. */
export function getCommand({ confirmTools, contest, rotateKey, pairing }: Flags) {
  if (confirmTools) return "confirm-tools";
  if (contest !== undefined) return "contest";
  return rotateKey === undefined ? pairing?.command : "rotate-key";
}

function isFlag(name: string): name is keyof typeof flagOptions {
  return Object.hasOwn(flagOptions, name);
}

function parseContest(
  [command, taskId, reason, ...rest]: readonly string[],
  faults: string[],
): Flags["contest"] {
  if (command !== "contest") return undefined;
  if (taskId !== undefined && reason !== undefined && rest.length === 0) return { taskId, reason };
  faults.push("contest: must have the id of a task and a reason");
  return undefined;
}

function parsePairing(
  [command, deviceId, ...rest]: readonly string[],
  withdrawals: boolean,
  faults: string[],
): PairingOrder | undefined {
  if (withdrawals && command !== "pair") faults.push("--allow-withdrawals: must follow `pair`");
  if (command === "pair" && deviceId === undefined) return { command, withdrawals };
  if (command !== "unpair") return undefined;
  if (deviceId !== undefined && rest.length === 0) return { command, deviceId };
  faults.push("unpair: must have the id of a device");
  return undefined;
}
