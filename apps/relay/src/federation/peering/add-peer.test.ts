import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { federated } from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer } from "../../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../../test/network/listening-peer.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay(federated);
  await createFakePeer(t).completeHandshake();
});
afterEach(() => t.close());

describe("the endpoint of a peer", () => {
  const add = (endpoint_url: string) =>
    t.asOperator("POST", "/api/v1/admin/federation/peers", { endpoint_url });

  test.each([
    ["with a link-local address", "http://169.254.169.254", "peer.unreachable"],
    ["with credentials in it", "http://user:pass@127.0.0.1:1", "request.invalid"],
    ["of another scheme", "ftp://127.0.0.1", "request.invalid"],
    ["that is not an address", "peer", "request.invalid"],
  ])("FE22: an endpoint %s is not asked", async (_, url, code) => {
    const reply = await add(url);
    expect(reply.body).toMatchObject({ code });
  });

  test.each<[string, Parameters<typeof startListeningPeer>[0]]>([
    [
      "that redirects",
      (_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1" }).end(),
    ],
    ["with an answer that is too large", () => ({ flood: "x".repeat(3_000_000) })],
    ["with an answer that breaks off", () => undefined],
    ["with an answer that is not an identity", () => ({ agent_id: 1 })],
  ])("FE22: an endpoint %s is no peer", async (_, reply) => {
    const listening = await startListeningPeer(reply);
    await expectHarmless(t, "peer.unreachable", () => add(listening.url));
    await listening.close();
  });

  test("FE22: an endpoint on a private address is not called by a relay with a public one", async () => {
    const open = await startTestRelay({ ...federated, AGENT_BASE_URL: "https://relay.example" });
    const listening = await startListeningPeer(() => ({}));
    await createFakePeer(open, listening.url).propose();
    expect(listening.requests).toEqual([]);
    await Promise.all([open.close(), listening.close()]);
  });
});
