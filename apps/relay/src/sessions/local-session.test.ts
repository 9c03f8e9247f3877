import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

let url: string;
beforeAll(async () => {
  url = await startRelay(minimalEnv).baseUrl;
}, 60_000);
afterAll(endRelays);

/** Opens a session as a client that requested this host; fetch would set the header itself. */
async function openAs(host: string): Promise<number | undefined> {
  const sent = request(`${url}/api/v1/console/session`, {
    method: "POST",
    headers: {
      host,
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      "content-type": "application/json",
    },
  });
  sent.end("{}");
  const [answer] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
  answer.resume();
  return answer.statusCode;
}

test.each(["127.0.0.1:3000", "localhost", "LOCALHOST:80", "[::1]:3000"])(
  "OP3: a console session opens over plain http on the relay's own machine for the host %s",
  async (host) => {
    expect(await openAs(host)).toBe(201);
  },
);

test.each(["relay.example", "127.0.0.1.evil.example", "localhost.evil.example:3000", "10.0.0.1"])(
  "OP3: a proxy on the relay's machine opens no session over plain http for the host %s",
  async (host) => {
    expect(await openAs(host)).toBe(403);
  },
);
