import { commandForms } from "./command-usage.ts";
import { secretVariables, settingSources } from "../config-settings.ts";

/** Fits the longest name, that of a variable. */
const NAME_WIDTH = 30;

const commands = commandForms
  .filter(({ call }) => call !== "")
  .map(({ call, summary }) => [call, summary] as const);

const flags = [
  ["--config FILE", "settings as JSON with comments; the variables below override it"],
  ["--tools MODULE", "a module that exports tools (default export or `tools`); repeatable"],
  ["--direct", "run tools directly on the prompt, without any model"],
  ["--transport KIND", "http (default) or stdio"],
  ["--host ADDRESS", "address to listen on (127.0.0.1)"],
  ["--port PORT", "port to listen on (3100), 0 for any free one"],
  ["--allow-anonymous", "require no token on a loopback address: every caller is the owner"],
  ["--self-test", "submit a task to itself through the relay, then exit with 0, 1 or 2"],
  [
    "--paid-by-operator",
    "with --self-test: AGENT_API_TOKEN deposits the price if the account lacks it",
  ],
  ["--allow-withdrawals", "with `pair`: the browser may withdraw from the agent's account"],
  ["--check-config", "check the configuration, show the offered tools, and exit"],
  ["--help, --version", "print and exit"],
] as const;

/** Formats the text of `agent-server --help`; the variables come from the table that reads them. */
export function formatHelp(): string {
  const formatRows = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([name, summary]) => `  ${name.padEnd(NAME_WIDTH)} ${summary}`).join("\n");
  const variables = [...settingSources, ...secretVariables].map(
    ({ variable, summary }) => [variable, summary] as const,
  );
  return `agent-server: turns a set of tools into an agent that takes tasks from others

Usage: agent-server [--config FILE] [--tools MODULE]... [options]
       agent-server <command> [options]

Commands:
${formatRows(commands)}

Options:
${formatRows(flags)}

Environment (overrides the file and the flags):
${formatRows(variables)}
`;
}
