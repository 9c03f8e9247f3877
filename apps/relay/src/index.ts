export { readConfig } from "./config/read-config.ts";
export type { Config } from "./config/config.ts";
export { createLog, type Log } from "./observability/log.ts";
export { openRelay, type OpenRelay, type StartRefusal } from "./open-relay.ts";
export type { Runtime } from "./runtime.ts";
export { serve, type RunningServer } from "./serve.ts";
