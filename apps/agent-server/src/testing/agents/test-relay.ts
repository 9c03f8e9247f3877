import { createRelayClient, type RelayClient } from "@agent/client";
import { createLog, openRelay, readConfig, serve } from "@agent/relay";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";

export const MASTER_TOKEN = "master-token-of-the-test";

export interface TestRelay {
  readonly url: string;
  readonly port: number;
  /** Makes requests as the operator. */
  readonly operator: RelayClient;
  readonly stop: () => Promise<void>;
}

const runtime = createSystemRuntime(silentLog);

/** Starts a real relay in this process, in memory and without rate limits. */
export async function startTestRelay(
  port = 0,
  env: Record<string, string> = {},
  now = runtime.now,
): Promise<TestRelay> {
  const read = readConfig({
    AGENT_API_TOKEN: MASTER_TOKEN,
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
    AGENT_RATE_LIMIT_SCALE: "0",
    AGENT_HOST: "127.0.0.1",
    ...env,
  });
  if (!read.ok) throw new Error(read.faults.map(({ message }) => message).join("; "));
  const { config } = read;
  const ignore = () => {};
  const log = createLog({
    level: "error",
    write: { stdout: ignore, stderr: ignore },
    now: runtime.now,
  });
  const relay = await openRelay(config, { ...runtime, now }, log);
  if (!relay.ok) throw new Error(relay.detail);
  const serving = await serve(relay, { ...runtime, now }, { host: "127.0.0.1", port });
  const url = `http://127.0.0.1:${serving.port}`;
  return {
    url,
    port: serving.port,
    operator: createRelayClient({ baseUrl: url, identity: { masterToken: MASTER_TOKEN } }),
    stop: () => serving.stop(100),
  };
}
