import type { Runtime } from "../../runtime.ts";

/**
 * Returns the sender's request id if it is well-formed, otherwise a new one that is unique to this server.
 */
export type GetRequestId = (given: string | undefined) => string;

export function createRequestIdSource({ randomBytes }: Pick<Runtime, "randomBytes">): GetRequestId {
  const prefix = Buffer.from(randomBytes(6)).toString("hex");
  let count = 0;
  return (given) => {
    if (given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given)) return given;
    count += 1;
    return `${prefix}${count.toString(16).padStart(12, "0")}`;
  };
}
