import type { OperatorOptions } from "../../src/command-line/operator-command.ts";
import { operatorCommands } from "../../src/command-line/operator-commands.ts";
import { runOperatorCommand } from "../../src/command-line/run-operator-command.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";

/** A relay on a socket, and the clock for the command. */
interface Asked {
  readonly url: string;
  readonly now: () => number;
}

interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs one of the operator's commands against a relay, with the operator's token. */
export async function runCommand(
  { url, now }: Asked,
  [name = "", ...args]: readonly string[],
  options: OperatorOptions = {},
): Promise<CommandEnd> {
  const command = operatorCommands[name];
  if (command === undefined) throw new Error(`no command ${name}`);
  let [out, errors] = ["", ""];
  const code = await runOperatorCommand(
    command,
    { args, options },
    {
      env: { AGENT_RELAY_URL: url, AGENT_API_TOKEN: OPERATOR_TOKEN },
      display: { width: undefined, hasColor: false },
      writeOut: (text) => void (out += text),
      writeError: (text) => void (errors += text),
      now,
      wait: async () => {},
      isInterrupted: () => true,
    },
  );
  return { code, out, errors };
}
