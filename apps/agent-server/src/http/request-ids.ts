import type { Runtime } from "../runtime.ts";

/** The id of a request: the sender's own where it is one, else one that this server never gives again. */
export type RequestIdOf = (given: string | undefined) => string;

export function createRequestIds({ randomBytes }: Pick<Runtime, "randomBytes">): RequestIdOf {
  const start = Buffer.from(randomBytes(6)).toString("hex");
  let requests = 0;
  return (given) => {
    if (given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given)) return given;
    requests += 1;
    return `${start}${requests.toString(16).padStart(12, "0")}`;
  };
}
