import { createRelayClient, type CallRefusal } from "@agent/client";
import {
  findUsageFault,
  formatFault,
  formatSafeJson,
  formatUsageRefusal,
  makeSafe,
} from "@agent/command-line";
import { formatBlocks, type Display } from "./format-blocks.ts";
import {
  operatorOptions,
  SHARED_OPTIONS,
  type CommandOutput,
  type OperatorCommand,
  type OperatorOptions,
} from "./operator-command.ts";
import { readOperatorToken } from "./read-operator-token.ts";

/** The exit codes: done, refused by the relay, wrongly called, or without a relay. */
export const EXIT = { done: 0, refused: 1, usage: 2, unreachable: 3 } as const;

/** The process around a command. */
export interface CommandEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly display: Display;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly isInterrupted: () => boolean;
}

interface CommandLine {
  readonly args: readonly string[];
  readonly options: OperatorOptions;
}

/** Runs a command against a relay and returns the exit code. */
export async function runOperatorCommand(
  command: OperatorCommand,
  { args, options }: CommandLine,
  environment: CommandEnvironment,
): Promise<number> {
  const { env, display, writeOut, now, wait, isInterrupted } = environment;
  const isJson = options.json === true;
  const misused = (message: string) => failUsage(environment, command, { message, isJson });
  const given = { args, options: Object.keys(options) };
  const fault = findUsageFault(command.usage, given, SHARED_OPTIONS);
  if (fault !== undefined) return misused(fault);
  const token = readOperatorToken(options["token-file"], env);
  if (!token.ok) return misused(token.message);
  const { baseUrl, source } = findRelayAddress(options.relay, env);
  if (!isWebAddress(baseUrl)) {
    return misused(`${source} must be an http or https address, not ${JSON.stringify(baseUrl)}`);
  }
  const client = createRelayClient({ baseUrl, identity: { masterToken: token.token } });
  const print = (output: CommandOutput) => {
    if (output.raw !== undefined) return writeOut(output.raw);
    if (isJson) return writeOut(`${formatSafeJson(output.body)}\n`);
    writeOut(`${formatBlocks(output.blocks, display)}\n`);
  };
  const result = await command.run({
    client,
    baseUrl,
    args,
    options,
    now,
    wait,
    isInterrupted,
    print,
  });
  if (result.ok) {
    if (result.body !== undefined) print(result);
    return result.isGood === false ? EXIT.refused : EXIT.done;
  }
  if ("usage" in result) return misused(result.usage);
  if (isJson) writeOut(formatFault(result));
  return failCall(environment, result, baseUrl);
}

/** The relay from the option, otherwise from the environment, otherwise the one on this machine. */
function findRelayAddress(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): { readonly baseUrl: string; readonly source: string } {
  const named = (given ?? env["AGENT_RELAY_URL"] ?? "").trim();
  const source = given === undefined ? "AGENT_RELAY_URL" : "--relay";
  if (named !== "") return { baseUrl: named, source };
  return { baseUrl: `http://127.0.0.1:${env["PORT"] ?? "3000"}`, source: "the address with PORT" };
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function failUsage(
  { writeOut, writeError }: CommandEnvironment,
  { usage }: OperatorCommand,
  { message, isJson }: { readonly message: string; readonly isJson: boolean },
): number {
  const { out, err } = formatUsageRefusal({ program: "agent-relay", message, usage, isJson });
  if (out !== "") writeOut(out);
  writeError(err);
  return EXIT.usage;
}

/** Prints the message, the code and, if known, the remedy. */
function failCall(
  { writeError }: CommandEnvironment,
  { code, message, issues, retryAfterSeconds, requestId }: CallRefusal,
  baseUrl: string,
): number {
  const isUnreachable = code.startsWith("network.");
  const remedy = isUnreachable
    ? `asked ${baseUrl}; name another relay by --relay URL or AGENT_RELAY_URL`
    : (REMEDIES[code] ??
      (retryAfterSeconds === undefined ? undefined : `try again in ${retryAfterSeconds} s`));
  const rules = issues?.map(({ path, message: rule }) => `${toArgumentName(path)} ${rule}`);
  const lines = [
    `agent-relay: ${makeSafe(rules?.join("; ") ?? message)} (${makeSafe(code)})`,
    ...(remedy === undefined ? [] : [makeSafe(remedy)]),
    ...(requestId === undefined ? [] : [`request ${makeSafe(requestId)}`]),
  ];
  writeError(`${lines.join("\n")}\n`);
  return isUnreachable ? EXIT.unreachable : EXIT.refused;
}

/** The option or the argument that became a member of the request: the operator typed that name. */
function toArgumentName(path: string): string {
  const option = path.replaceAll("_", "-");
  if (Object.hasOwn(operatorOptions, option)) return `--${option}`;
  return ARGUMENTS[path] ?? path;
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  status: "--state",
  q: "--search",
  agentId: "ID",
  amount: "AMOUNT",
  credit_limit: "AMOUNT",
  endpoint_url: "URL",
  share: "PERCENT",
};

export const UNAVAILABLE_REMEDY =
  "see request.failed in the log of the relay: the disk may be full, or the database server gone";

const REMEDIES: Readonly<Record<string, string>> = {
  "auth.missing": "set AGENT_API_TOKEN to the master token of this relay",
  "auth.unknown_token": "the token is not the master token of this relay",
  "auth.master_only": "the token is an agent's; this needs the master token",
  "server.frozen": "see why and how it ends by `agent-relay freeze`",
  "server.unavailable": UNAVAILABLE_REMEDY,
  "server.damaged": "stop the relay and restore a backup: `agent-relay restore FILE`",
  "federation.disabled": "federation is on once AGENT_FEDERATION_ENDPOINT_URL is set",
  "agent.not_found": "list the agents by `agent-relay agents`",
  "task.not_found": "give the whole id: `agent-relay tasks --json` lists them uncut",
  "peer.not_found": "list the relays by `agent-relay peers`",
  "withdrawal.not_found": "list the withdrawals by `agent-relay withdrawals`",
  "session.not_found": "list the sessions by `agent-relay sessions`",
};
