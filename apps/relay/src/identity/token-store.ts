import { compile, inBatches, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

/** The facts by which a verified token stays in force. */
export interface VerifiedToken {
  readonly agent_id: string;
  readonly device_id: string;
  /** The key that signed it. */
  readonly public_key: string;
  readonly jti: string;
}

const tokenInForce = inBatches(
  compile<{ agent_id: string; device_id: string; public_key: string; jti: string }>()(
    sql<{ device_id: string }>`
      select devices.device_id from devices
      join agents on agents.agent_id = devices.agent_id
      where devices.device_id = ${param("device_id")} and devices.agent_id = ${param("agent_id")}
        and devices.public_key = ${param("public_key")}
        and devices.revoked_at is null and agents.revoked_at is null
        and not exists (select 1 from spent_tokens
          where spent_tokens.agent_id = ${param("agent_id")} and spent_tokens.jti = ${param("jti")}
            and spent_tokens.kind = 'revoked')`,
  ),
);

/** Returns whether the key, the device, the agent and the token itself are still those of the verification. */
export async function isTokenInForce(read: Reader, token: VerifiedToken): Promise<boolean> {
  return (await read.get(tokenInForce, token)) !== undefined;
}
