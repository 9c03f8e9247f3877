import { runToCompletion } from "../run-to-completion.ts";
import { runLiar } from "./run-liar.ts";
import { runNetwork } from "./run-network.ts";

const TIME_LIMIT_MS = 90_000;

const demo = process.argv.includes("--liar") ? runLiar : runNetwork;

// An interrupted demo may still have pending timers or requests.
process.exit(await runToCompletion(TIME_LIMIT_MS, demo));
