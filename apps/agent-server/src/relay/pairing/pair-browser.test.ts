import { bootstrapAgent, createRelayClient } from "@agent/client";
import { bytesToHex, generateKeyPair } from "@agent/crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFastRuntime } from "../../testing/agents/fast-runtime.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { pairBrowser } from "./pair-browser.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

type Answer = (send: () => Promise<Response>) => Promise<Response>;

/** Pairs a browser that claims the code at once; the requests of the agent are sent by `answer`. */
async function pair(answer: (path: string) => Answer | undefined) {
  const { secretKey } = generateKeyPair();
  const known = await bootstrapAgent({ baseUrl: relay.url, secretKey });
  if (!known.ok) throw new Error(known.code);
  const client = createRelayClient({
    baseUrl: relay.url,
    identity: known.identity,
    fetch(input, init) {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const send = () => fetch(input, init);
      return answer(pathname)?.(send) ?? send();
    },
  });
  const lines: string[] = [];
  const public_key = bytesToHex(generateKeyPair().publicKey);
  const paired = await pairBrowser(
    {
      client,
      relayUrl: relay.url,
      runtime: createFastRuntime(),
      terminal: {
        isScreen: false,
        ask: async () => true,
        report(line) {
          lines.push(line);
          const code = /#pair=(\w+)/.exec(line)?.[1];
          if (code === undefined) return;
          const body = { pairing_code: code, device_name: "b", public_key };
          void createRelayClient({ baseUrl: relay.url }).claimPairing({ body });
        },
      },
    },
    { withdrawals: false },
  );
  const params = { agentId: known.identity.agentId };
  const listed = await relay.operator.listDevices({ params });
  const device = listed.ok && listed.body.devices.find((each) => each.public_key === public_key);
  return { paired, lines, device };
}

/** Answers the first `count` requests to a path in another way. */
function first(count: number, path: RegExp, answer: Answer) {
  let left = count;
  return (pathname: string) => (path.test(pathname) && left-- > 0 ? answer : undefined);
}

const page = async () => new Response("<h1>Please wait</h1>", { status: 502 });

async function loseAnswer(send: () => Promise<Response>): Promise<Response> {
  await send();
  throw new TypeError("the connection was cut");
}

test("a pairing waits for its claim through the pages of a proxy", async () => {
  const { paired, lines } = await pair(first(3, /^\/pairing\/(?!initiate)[^/]+$/, page));
  expect(paired).toEqual({ ok: true });
  expect(lines).toContainEqual(expect.stringMatching(/^paired as device /));
});

test("an approved pairing whose answer is lost names its device", async () => {
  const { paired, lines, device } = await pair(first(1, /\/approve$/, loseAnswer));
  expect(paired).toEqual({ ok: true });
  expect(device).toMatchObject({ revoked: false });
  const id = device === false ? undefined : device?.device_id;
  expect(lines).toContain(`paired as device ${id}`);
});

test("an approval that a proxy answers in place of the relay is sent again", async () => {
  const { paired, device } = await pair(first(2, /\/approve$/, page));
  expect(paired).toEqual({ ok: true });
  expect(device).toMatchObject({ revoked: false });
});
