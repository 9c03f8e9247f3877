import { runToEnd } from "../run-to-end.ts";
import { runNetwork } from "./run-network.ts";

const limitMs = 90_000;

// What was interrupted may still wait for something.
process.exit(await runToEnd(limitMs, runNetwork));
