import { parseArgs } from "node:util";

const flagOptions = {
  config: { type: "string" },
  tools: { type: "string", multiple: true },
  transport: { type: "string" },
  host: { type: "string" },
  port: { type: "string" },
  direct: { type: "boolean" },
  "self-test": { type: "boolean" },
  "allow-anonymous": { type: "boolean" },
  "check-config": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

export interface Flags {
  /** The folder that `init` writes into; absent: the command is another one. */
  readonly init?: string;
  /** Whether to show the changed tools of the wrapped servers and confirm them. */
  readonly confirmTools: boolean;
  /** The task of which the owner contests the rejection, and why. */
  readonly contest?: { readonly taskId: string; readonly reason: string };
  readonly config?: string;
  readonly tools?: readonly string[];
  readonly transport?: string;
  readonly host?: string;
  readonly port?: string;
  readonly direct: boolean;
  readonly selfTest: boolean;
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
  const isKnown = command === undefined || command === "init" || confirmTools;
  const isContest = command === "contest";
  if (!isContest && (!isKnown || rest.length > 0 || (confirmTools && positionals.length > 1))) {
    faults.push('arguments: must be flags, "init" with its folder, or "confirm-tools"');
  }
  if (command === "init" && Object.keys(values).length > 0) faults.push("init: must have no flags");
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
      confirmTools,
      ...textFlag("config"),
      ...textFlag("transport"),
      ...textFlag("host"),
      ...textFlag("port"),
      ...(tools !== undefined && { tools }),
      direct: values.direct === true,
      selfTest: values["self-test"] === true,
      allowAnonymous: values["allow-anonymous"] === true,
      checkConfig: values["check-config"] === true,
      help: values.help === true,
      version: values.version === true,
    },
  };
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
