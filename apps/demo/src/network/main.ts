import { runToCompletion } from "../run-to-completion.ts";
import { runNetwork } from "./run-network.ts";

const TIME_LIMIT_MS = 90_000;

// What was interrupted may still wait for something.
process.exit(await runToCompletion(TIME_LIMIT_MS, runNetwork));
