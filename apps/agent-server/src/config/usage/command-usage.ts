/** A command, or the agent itself, with the arguments and options that it accepts. */
interface CommandForm {
  /** The name and the arguments; empty for the agent itself. */
  readonly call: string;
  readonly options: string;
  readonly summary: string;
}

const AGENT_OPTIONS =
  "[--config FILE] [--tools MODULE] [--direct] [--transport KIND] [--host ADDRESS] [--port PORT] " +
  "[--allow-anonymous] [--self-test] [--paid-by-operator] [--check-config]";

/** Every form of a call. Its options are those that have an effect on it; all others are refused. */
export const commandForms: readonly CommandForm[] = [
  { call: "", options: AGENT_OPTIONS, summary: "run the agent" },
  {
    call: "init [FOLDER]",
    options: "",
    summary: "write a commented configuration and an example tools module",
  },
  {
    call: "contest TASK_ID REASON",
    options: "[--config FILE]",
    summary: "contest the rejection of this agent's result",
  },
  {
    call: "rotate-key [REASON]",
    options: "[--config FILE]",
    summary: "replace this agent's key; its id, money and trust stay",
  },
  {
    call: "pair",
    options: "[--config FILE] [--allow-withdrawals]",
    summary: "let a browser see this agent, and vote for it",
  },
  {
    call: "unpair DEVICE_ID",
    options: "[--config FILE]",
    summary: "revoke a paired device of this agent",
  },
  {
    call: "confirm-tools",
    options: "[--config FILE] [--tools MODULE]",
    summary: "show which tools of wrapped servers have changed, and confirm them",
  },
];

/** The options that every form accepts. */
export const SHARED_OPTIONS: readonly string[] = ["help", "version"];

/** Formats the forms as one usage, whose first word is the name of the program. */
export function formatCommandUsage(): string {
  return commandForms.map((form) => joinWords("agent-server", formatForm(form))).join(" | ");
}

/** Returns the usage of the command with which a call begins; undefined if it begins with none. */
export function findCommandUsage([name]: readonly string[]): string | undefined {
  const form = commandForms.find(({ call }) => call !== "" && call.split(" ")[0] === name);
  return form === undefined ? undefined : formatForm(form);
}

const formatForm = ({ call, options }: CommandForm) => joinWords(call, options);

const joinWords = (...words: readonly string[]) => words.filter((word) => word !== "").join(" ");
