import { disputeCommands } from "./dispute-commands.ts";
import { moneyCommands } from "./money-commands.ts";
import type { OperatorCommand } from "./operator-command.ts";
import { peerCommands } from "./peer-commands.ts";
import { sessionCommands } from "./session-commands.ts";
import { stateCommands } from "./state-commands.ts";
import { workCommands } from "./work/work-commands.ts";

/** The commands over the operations of a running relay, in the order of the help. */
export const operatorCommands: Readonly<Record<string, OperatorCommand>> = {
  ...stateCommands,
  ...workCommands,
  ...disputeCommands,
  ...moneyCommands,
  ...peerCommands,
  ...sessionCommands,
};
