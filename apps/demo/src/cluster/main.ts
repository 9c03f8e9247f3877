import { runToCompletion } from "../run-to-completion.ts";
import { runCluster } from "./run-cluster.ts";

const TIME_LIMIT_MS = 90_000;

// An interrupted demo may still have pending timers or requests.
process.exit(await runToCompletion(TIME_LIMIT_MS, runCluster));
